//! Pairs requests with responses.
//!
//! `WARC-Concurrent-To` names the partner, in either direction and with either record first.
//! Without it, the two records are adjacent and have the same URI. Writers keep pairs close
//! together, so only a limited number of records waits for a partner.

use std::collections::{HashMap, VecDeque};

use super::effects::RequestSigns;
use crate::RecordRef;
use crate::matching::{Key, Rules};

/// The maximum number of records between the two of a pair.
const WINDOW: usize = 8 << 10;

/// How the partner of a record finds it.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// Key of its id.
    pub(super) id: Option<Key>,
    /// Keys of the ids in its `WARC-Concurrent-To`.
    pub(super) concurrent: Vec<Key>,
    /// Key of its URI.
    pub(super) url: Key,
    /// Its number among requests and responses.
    pub(super) number: u64,
}

/// A request record, reduced to what the index stores.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) link: Link,
    pub(super) at: RecordRef,
    pub(super) method: String,
    pub(super) exact: Key,
    pub(super) normalised: Key,
    pub(super) rules: Rules,
    pub(super) body: [u8; 8],
    /// What it says of its effect.
    pub(super) signs: RequestSigns,
    /// The key of the visit that it was made in, where that is known.
    pub(super) visit: Option<Key>,
    /// Whether the recorder asked, not the browser.
    pub(super) asked_again: bool,
}

/// A response that waits for its request.
#[derive(Debug)]
struct Waiting<T> {
    link: Link,
    response: T,
    request: Option<Request>,
}

/// Returns responses in their original order, each with its request if there is one.
#[derive(Debug)]
pub(super) struct Pairing<T> {
    waiting: VecDeque<Waiting<T>>,
    /// Position of the first of `waiting` among all responses.
    first: u64,
    responses: HashMap<Key, u64>,
    responses_concurrent: HashMap<Key, u64>,
    requests: HashMap<u64, Request>,
    requests_in_order: VecDeque<u64>,
    requests_by_id: HashMap<Key, u64>,
    requests_concurrent: HashMap<Key, u64>,
}

impl<T> Pairing<T> {
    pub(super) fn new() -> Self {
        Pairing {
            waiting: VecDeque::new(),
            first: 0,
            responses: HashMap::new(),
            responses_concurrent: HashMap::new(),
            requests: HashMap::new(),
            requests_in_order: VecDeque::new(),
            requests_by_id: HashMap::new(),
            requests_concurrent: HashMap::new(),
        }
    }

    pub(super) fn request(&mut self, request: Request) {
        let named = request.link.concurrent.iter().filter_map(|id| self.responses.get(id));
        let naming = request.link.id.iter().filter_map(|id| self.responses_concurrent.get(id));
        let positions: Vec<u64> = named.chain(naming).copied().collect();
        for position in positions {
            let found =
                position.checked_sub(self.first).and_then(|at| self.waiting.get_mut(at as usize));
            if let Some(waiting) = found
                && waiting.request.is_none()
                // An id alone is not enough: it may name a record of another URL.
                && waiting.link.url == request.link.url
            {
                waiting.request = Some(request);
                return;
            }
        }
        let number = request.link.number;
        self.requests_by_id.extend(request.link.id.map(|id| (id, number)));
        self.requests_concurrent.extend(request.link.concurrent.iter().map(|id| (*id, number)));
        self.requests_in_order.push_back(number);
        self.requests.insert(number, request);
        while self.requests_in_order.len() > WINDOW {
            if let Some(oldest) = self.requests_in_order.pop_front() {
                self.take_request(oldest);
            }
        }
    }

    pub(super) fn response(&mut self, link: Link, response: T) {
        let position = self.first + self.waiting.len() as u64;
        let named = link.concurrent.iter().filter_map(|id| self.requests_by_id.get(id));
        let naming = link.id.iter().filter_map(|id| self.requests_concurrent.get(id));
        let numbers: Vec<u64> = named.chain(naming).copied().collect();
        let number = numbers
            .into_iter()
            .find(|n| self.requests.get(n).is_some_and(|r| r.link.url == link.url));
        let request = number.and_then(|number| self.take_request(number));
        if request.is_none() {
            self.responses.extend(link.id.map(|id| (id, position)));
            self.responses_concurrent.extend(link.concurrent.iter().map(|id| (*id, position)));
        }
        self.waiting.push_back(Waiting { link, response, request });
    }

    /// The next response whose request is found or can no longer arrive. With `ended`, any
    /// remaining response.
    pub(super) fn next(&mut self, ended: bool) -> Option<(T, Option<Request>)> {
        let full = self.waiting.len() > WINDOW;
        if !(ended || full || self.waiting.front()?.request.is_some()) {
            return None;
        }
        let Waiting { link, response, request } = self.waiting.pop_front()?;
        self.first += 1;
        for id in link.id.iter() {
            self.responses.remove(id);
        }
        for id in &link.concurrent {
            self.responses_concurrent.remove(id);
        }
        // Writers that link no records put a request directly before or after its response.
        let request = request.or_else(|| {
            let sides = [link.number.checked_sub(1), link.number.checked_add(1)];
            let beside =
                |n: &u64| self.requests.get(n).is_some_and(|request| request.link.url == link.url);
            sides.into_iter().flatten().find(beside).and_then(|number| self.take_request(number))
        });
        Some((response, request))
    }

    fn take_request(&mut self, number: u64) -> Option<Request> {
        let request = self.requests.remove(&number)?;
        for id in request.link.id.iter() {
            self.requests_by_id.remove(id);
        }
        for id in &request.link.concurrent {
            self.requests_concurrent.remove(id);
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `q` is a request, `a` a response; then follow its id, the id in its `WARC-Concurrent-To`,
    /// and its URI, `-` for none.
    fn pairs(records: &[&str]) -> Vec<(u64, Option<u64>)> {
        let key = |text: &str| Key::of("test", &[text.as_bytes()]);
        let mut pairing = Pairing::new();
        let mut found = Vec::new();
        for (number, record) in records.iter().enumerate() {
            let words: Vec<&str> = record.split(' ').collect();
            let optional = |word: &str| (word != "-").then(|| key(word));
            let link = Link {
                id: optional(words[1]),
                concurrent: optional(words[2]).into_iter().collect(),
                url: key(words[3]),
                number: number as u64,
            };
            if words[0] == "q" {
                let at = RecordRef { segment: 0, offset: 0, length: 0 };
                let (exact, normalised) = (key(""), key(""));
                let rules = Rules::default();
                pairing.request(Request {
                    link,
                    at,
                    method: "GET".into(),
                    exact,
                    normalised,
                    rules,
                    body: [0; 8],
                    signs: RequestSigns::default(),
                    visit: None,
                    asked_again: false,
                });
            } else {
                pairing.response(link, number as u64);
            }
            while let Some((response, request)) = pairing.next(false) {
                found.push((response, request.map(|request| request.link.number)));
            }
        }
        while let Some((response, request)) = pairing.next(true) {
            found.push((response, request.map(|request| request.link.number)));
        }
        found
    }

    #[test]
    fn links_pair_in_either_direction_and_order() {
        for records in [
            ["a 1 - u", "a 2 - u", "q 3 2 u", "q 4 1 u"],
            ["a 1 4 u", "a 2 3 u", "q 3 - u", "q 4 - u"],
        ] {
            assert_eq!(pairs(&records), [(0, Some(3)), (1, Some(2))]);
        }
        for records in [
            ["q 3 2 u", "q 4 1 u", "a 1 - u", "a 2 - u"],
            ["q 3 - u", "q 4 - u", "a 1 4 u", "a 2 3 u"],
        ] {
            assert_eq!(pairs(&records), [(2, Some(1)), (3, Some(0))]);
        }
    }

    #[test]
    fn neighbours_pair_when_nothing_is_linked() {
        assert_eq!(
            pairs(&["a - - u", "q - - u", "a - - u", "q - - u"]),
            [(0, Some(1)), (2, Some(3))]
        );
        assert_eq!(
            pairs(&["q - - u", "a - - u", "q - - u", "a - - u"]),
            [(1, Some(0)), (3, Some(2))]
        );
        assert_eq!(pairs(&["q - - u", "a - - v"]), [(1, None)]);
        assert_eq!(pairs(&["q - - u", "a - - v", "a - - u"]), [(1, None), (2, None)]);
    }

    #[test]
    fn a_link_between_different_uris_is_not_believed() {
        assert_eq!(pairs(&["a 1 - u", "q 2 1 v"]), [(0, None)]);
    }

    #[test]
    fn an_archive_without_requests_flows_through() {
        let records = vec!["a - - u"; WINDOW * 2 + 3];
        let expect: Vec<_> = (0..records.len() as u64).map(|n| (n, None)).collect();
        assert_eq!(pairs(&records), expect);
    }
}
