//! Detects the pages of an archive without a page list: documents that a person visited, not
//! everything that is HTML.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;

use crate::http::decoder;
use crate::{Archive, Page, Record, RecordKind, Timestamp};

/// How many bytes of a page are searched for its title.
const SEARCHED: u64 = 256 << 10;
/// The maximum number of detected pages.
const MOST: usize = 100_000;

/// Collects evidence that distinguishes pages from other HTML. [`PageFinder::note`] must see every
/// record before [`PageFinder::consider`] sees the first.
#[derive(Debug, Default)]
pub(super) struct PageFinder {
    hasher: RandomState,
    /// URLs of requests whose `Sec-Fetch-Dest` is `document`.
    documents: HashSet<u64>,
    /// URLs that are the `Referer` of some request.
    referers: HashSet<u64>,
}

/// HTML that may be a page.
#[derive(Debug)]
pub(super) struct Candidate {
    page: Page,
    document: bool,
    referer: bool,
}

impl PageFinder {
    /// Adds a request.
    pub(super) fn note(&mut self, record: &mut Record) {
        if record.kind() != RecordKind::Request || !record.holds_http() {
            return;
        }
        let Some(url) = record.target_uri().map(|url| url.into_owned()) else { return };
        let Ok(head) = record.request_head() else { return };
        if head
            .headers
            .get_str("sec-fetch-dest")
            .is_some_and(|dest| dest.trim().eq_ignore_ascii_case("document"))
        {
            self.documents.insert(self.hash(&url));
        }
        if let Some(referer) = head.headers.get_str("referer") {
            self.referers.insert(self.hash(referer));
        }
    }

    /// Whether a response may be a page. `block` is its HTTP message.
    pub(super) fn consider(&self, url: &str, ts: Timestamp, block: impl Read) -> Option<Candidate> {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return None;
        }
        let mut start = Vec::new();
        block.take(SEARCHED).read_to_end(&mut start).ok()?;
        let (head, end) = crate::http::parse_response(&start).ok()?;
        let media = head.headers.get_str("content-type").unwrap_or_default().to_ascii_lowercase();
        if head.status != 200
            || !(media.starts_with("text/html") || media.starts_with("application/xhtml"))
        {
            return None;
        }
        let title =
            title(head.headers.get_str("content-encoding").unwrap_or_default(), &start[end..]);
        let page = Page { title, ..Page::new(url, ts) };
        let hash = self.hash(url);
        Some(Candidate {
            page,
            document: self.documents.contains(&hash),
            referer: self.referers.contains(&hash),
        })
    }

    fn hash(&self, url: &str) -> u64 {
        self.hasher.hash_one(url.split('#').next().unwrap_or(url))
    }
}

/// The pages of a recording that was made without a page list, among the records that are kept.
/// Damaged records are skipped.
pub(crate) fn find(archive: &Archive, is_kept: impl Fn(&Record) -> bool) -> Vec<Page> {
    let kept = || archive.records().flatten().filter(|(_, record)| is_kept(record));
    let mut finder = PageFinder::default();
    for (_, mut record) in kept() {
        finder.note(&mut record);
    }
    let responses = kept().filter(|(_, record)| record.kind() == RecordKind::Response);
    let candidates = responses.filter_map(|(_, mut record)| {
        let (url, ts) = (record.target_uri()?.into_owned(), record.date()?);
        finder.consider(&url, ts, &mut record.block)
    });
    choose(candidates.collect())
}

/// Selects the pages among candidates by the best available evidence: the browser's request
/// destination; or other requests with it as referer; or, without evidence for any, all candidates.
/// Of several captures of a page the first is used.
pub(super) fn choose(candidates: Vec<Candidate>) -> Vec<Page> {
    let documents = candidates.iter().any(|candidate| candidate.document);
    let referers = candidates.iter().any(|candidate| candidate.referer);
    let mut seen = HashSet::new();
    let evident = candidates.into_iter().filter(|candidate| match (documents, referers) {
        (true, _) => candidate.document,
        (false, true) => candidate.referer,
        (false, false) => true,
    });
    evident
        .map(|candidate| candidate.page)
        .filter(|page| seen.insert(page.url.clone()))
        .take(MOST)
        .collect()
}

fn title(coding: &str, body: &[u8]) -> Option<String> {
    let mut html = Vec::new();
    // A truncated or chunked body yields what it can.
    let _ = decoder(coding, body).ok()?.take(SEARCHED).read_to_end(&mut html);
    let html = String::from_utf8_lossy(&html);
    let text = html_scan::title(&html)?;
    Some(text.chars().take(300).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn titles() {
        let check = |html: &str, expect: Option<&str>| {
            assert_eq!(title("", html.as_bytes()).as_deref(), expect)
        };
        check("<HTML><Title lang=x>\n A &amp;\n B </TITLE>", Some("A & B"));
        check("<title></title>", None);
        check("<title>never closed", None);
        check("<svg><p>", None);
        check("<title>İ</title>", Some("İ"));
    }

    #[test]
    fn the_best_evidence_decides() {
        let candidate = |url: &str, document, referer| Candidate {
            page: Page::new(url, Timestamp::from_millis(0)),
            document,
            referer,
        };
        let urls = |candidates: Vec<Candidate>| -> Vec<String> {
            choose(candidates).into_iter().map(|page| page.url).collect()
        };
        assert_eq!(urls(vec![candidate("a", true, false), candidate("b", false, true)]), ["a"]);
        assert_eq!(urls(vec![candidate("a", false, false), candidate("b", false, true)]), ["b"]);
        assert_eq!(urls(vec![candidate("a", false, false), candidate("a", false, false)]), ["a"]);
    }
}
