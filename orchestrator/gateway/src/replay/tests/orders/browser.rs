//! A client with cookies that follows links, submits forms and fetches data, from a live site or
//! from its recording.

use std::collections::BTreeMap;

use super::*;
use crate::Visit;
use crate::record::{AskedIn, Asker};

pub(super) const ORIGIN: &str = "https://site.test";

/// A request as a small site sees it.
pub(super) struct Ask<'a> {
    pub(super) method: &'a str,
    /// With its query.
    pub(super) path: &'a str,
    pub(super) body: &'a str,
    pub(super) cookies: &'a BTreeMap<String, String>,
}

/// What a small site answers.
pub(super) struct Told {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

/// A running small site.
pub(super) type Running = Box<dyn FnMut(&Ask<'_>) -> Told>;

pub(super) enum Server<'a> {
    Live { site: Running, recorded: Option<RecordedVisit<'a>> },
    Recorded { replay: &'a Replay, episode: Box<Episode> },
}

/// Where what a browser does is recorded, and the visit that it is.
pub(super) struct RecordedVisit<'a> {
    pub(super) world: &'a World,
    pub(super) visit: Option<Arc<Visit>>,
}

impl RecordedVisit<'_> {
    /// Records an exchange.
    fn keep(&self, head: &RequestHead, body: &str, told: &Told, asker: Asker) {
        self.world.millis.set(self.world.millis.get() + 1000);
        let response = Response {
            status: told.status,
            reason: String::new(),
            headers: told.headers.iter().map(|(name, value)| (*name, value.as_str())).collect(),
            body: Body::from(told.body.as_bytes().to_vec()),
        };
        let kind = head.header("content-type").unwrap_or_default();
        let mut exchange =
            self.world.exchange((head.method.as_str(), &head.url, kind, body), response);
        for (name, value) in head.headers.iter().filter(|(name, _)| *name != "content-type") {
            exchange.request.headers.push(name.as_str(), value.as_bytes());
        }
        if let Some(visit) = &self.visit {
            exchange.visit = Some(visit.name().to_owned());
            exchange.asked_again = asker == Asker::Recorder;
            let asked = AskedIn::new(visit, head, asker);
            let mut answered = http::Response::builder().status(told.status);
            for (name, value) in &told.headers {
                answered = answered.header(*name, value);
            }
            asked.sent();
            asked.answered(&answered.body(()).unwrap().into_parts().0);
            asked.note(&exchange, std::time::Duration::ZERO);
        }
        self.world.recording.append(&exchange).unwrap();
    }

    /// Asks again for what was seen.
    fn ask_again(&self, site: &mut Running) {
        for head in self.visit.iter().flat_map(|visit| visit.to_ask("site.test")) {
            let cookies = head.header("cookie").unwrap_or_default().split("; ");
            let cookies = cookies.filter_map(|pair| pair.split_once('='));
            let cookies =
                cookies.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let path = head.url.strip_prefix(ORIGIN).unwrap();
            let told = site(&Ask { method: "GET", path, body: "", cookies: &cookies });
            self.keep(&head, "", &told, Asker::Recorder);
        }
    }
}

pub(super) struct Browser<'a> {
    server: Server<'a>,
    cookies: BTreeMap<String, String>,
    /// The address of the page, its text, and the data that it shows.
    url: String,
    page: String,
    data: String,
    /// How many answers may be wrong, by the ledger.
    pub(super) doubts: u32,
}

impl<'a> Browser<'a> {
    pub(super) fn new(server: Server<'a>) -> Browser<'a> {
        let (url, page, data) = Default::default();
        Browser { server, cookies: BTreeMap::new(), url, page, data, doubts: 0 }
    }

    /// What it shows, but for tokens.
    pub(super) fn text(&self) -> String {
        let words = self.page.split(' ').filter(|word| !word.starts_with("token="));
        format!("{} | {}", words.collect::<Vec<_>>().join(" "), self.data)
    }

    /// Whether the page, or the data, has all these words.
    pub(super) fn offers(&self, needs: &[&str]) -> bool {
        needs.iter().all(|word| self.page.contains(word) || self.data.contains(word))
    }

    /// The token in the form of the page.
    pub(super) fn token(&self) -> String {
        let words = self.page.split(' ').find_map(|word| word.strip_prefix("token="));
        words.unwrap_or_default().to_owned()
    }

    /// Ends its visit.
    pub(super) fn end(self) {
        if let Server::Live { mut site, recorded: Some(recorded) } = self.server {
            recorded.ask_again(&mut site);
        }
    }

    /// Enters an address.
    pub(super) fn enter(&mut self, path: &str) {
        self.url.clear();
        self.open("GET", path, "");
    }

    /// Follows a link.
    pub(super) fn follow(&mut self, path: &str) {
        self.open("GET", path, "");
    }

    /// Submits a form.
    pub(super) fn submit(&mut self, path: &str, body: &str) {
        self.open("POST", path, body);
    }

    /// Fetches data for the page.
    pub(super) fn fetch(&mut self, method: &str, path: &str, body: &str) {
        self.data = self.send(method, path, body, "empty").1;
    }

    fn open(&mut self, method: &str, path: &str, body: &str) {
        let (mut method, mut path, mut body) =
            (method.to_owned(), path.to_owned(), body.to_owned());
        for _ in 0..5 {
            let (next, text) = self.send(&method, &path, &body, "document");
            match next {
                Some(next) => (method, path, body) = ("GET".to_owned(), next, String::new()),
                None => {
                    (self.url, self.page) = (format!("{ORIGIN}{path}"), text);
                    self.data.clear();
                    return;
                }
            }
        }
        self.page = "a loop of redirects".to_owned();
    }

    /// Where the answer leads to, and its text.
    fn send(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
        destination: &str,
    ) -> (Option<String>, String) {
        let mut headers = vec![("sec-fetch-dest", destination), ("sec-fetch-site", "same-origin")];
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        if !cookies.is_empty() {
            headers.push(("cookie", &cookies));
        }
        if !self.url.is_empty() {
            headers.push(("referer", &self.url));
        }
        let kind = if body.starts_with('{') {
            "application/json"
        } else {
            "application/x-www-form-urlencoded"
        };
        if !body.is_empty() {
            headers.push(("content-type", kind));
        }
        let url = format!("{ORIGIN}{path}");
        let (status, told, text) = match &mut self.server {
            Server::Live { site, recorded } => {
                let head = super::head(method, &url, &headers);
                if let Some(recorded) = recorded
                    && head.may_change(body.as_bytes())
                {
                    recorded.ask_again(site);
                }
                let told = site(&Ask { method, path, body, cookies: &self.cookies });
                if let Some(recorded) = recorded {
                    recorded.keep(&head, body, &told, Asker::Browser);
                }
                (told.status, told.headers, told.body)
            }
            Server::Recorded { replay, episode } => {
                let body = Bytes::copy_from_slice(body.as_bytes());
                let got = read(replay.answer(&super::head(method, &url, &headers), &body, episode));
                let is_doubtful =
                    matches!(got.answer, Answer::OtherState { .. } | Answer::Miss { .. });
                self.doubts += u32::from(is_doubtful || got.answer.is_guess());
                let list = ["location", "set-cookie"].into_iter().flat_map(|name| {
                    let values = got.headers.get_all(name).iter();
                    values
                        .map(move |value| (name, value.to_str().unwrap().to_owned()))
                        .collect::<Vec<_>>()
                });
                (got.status, list.collect(), String::from_utf8_lossy(&got.body).into_owned())
            }
        };
        let mut next = None;
        for (name, value) in told {
            match name.to_ascii_lowercase().as_str() {
                "location" if (300..400).contains(&status) => next = Some(value),
                "set-cookie" => {
                    let (name, rest) = value.split_once('=').unwrap();
                    let value = rest.split(';').next().unwrap();
                    match value.is_empty() {
                        true => drop(self.cookies.remove(name)),
                        false => drop(self.cookies.insert(name.to_owned(), value.to_owned())),
                    }
                }
                _ => {}
            }
        }
        (next, text)
    }
}
