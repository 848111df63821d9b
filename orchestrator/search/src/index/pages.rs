//! Which pages are indexed, and with which title and text.

use html_scan::{PageText, page_text};
use snapshots::index::{CaptureKind, IndexError, IndexHit, ReplaySet};
use snapshots::{Page, matching};

use crate::engines;
use crate::segment::Document;

/// Documents with more bytes are not indexed.
const LARGEST: u64 = 32 << 20;
/// Number of characters of a page that are indexed.
const LONGEST: usize = 1 << 20;
/// Maximum length of a title in characters.
const TITLE: usize = 300;

/// Whose responses count as answers to a page's URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    /// Those of one archive, at exactly the URL.
    Of(u32),
    /// Those of the whole set.
    OfSet {
        /// Only at exactly the URL.
        exact: bool,
    },
}

/// The host of a page that may be indexed. Recorded result pages of search engines do not answer
/// other queries, so they are not indexed.
pub(super) fn host_of(url: &str) -> Option<String> {
    let parsed = url::Url::parse(url).ok()?;
    let host = matches!(parsed.scheme(), "http" | "https")
        .then(|| parsed.host_str().map(str::to_lowercase))??;
    engines::query_of(&host, url).is_none().then_some(host)
}

/// A page as it is indexed. `None` if there is no answer that is a page. The page list has priority
/// over the HTML, because it has what a browser showed.
pub(super) fn document(
    set: &ReplaySet,
    answers: Answers,
    host: String,
    page: Page,
) -> Result<Option<Document>, IndexError> {
    let Page { url, title, text, .. } = page;
    let title = title.filter(|title| !title.trim().is_empty());
    let listed = text.filter(|text| !text.trim().is_empty());
    let Some(hit) = answer(set, answers, &url, listed.is_some())? else { return Ok(None) };
    let read = match (&title, &listed) {
        // The recorded page is only read for what the list lacks.
        (Some(_), Some(_)) => PageText::default(),
        _ => match set.document(hit, LARGEST) {
            Ok(Some(document)) if html_scan::is_html(&document.media_type) => {
                page_text(&document.media_type, &document.bytes)
            }
            Ok(_) => PageText::default(),
            Err(error) => {
                tracing::warn!(url, %error, "a recorded page is not searched in");
                PageText::default()
            }
        },
    };
    let title = plain(&title.unwrap_or(read.title), TITLE);
    let text = plain(&listed.unwrap_or(read.body), LONGEST);
    Ok(Some(Document { url, host, title, text }))
}

/// The answer of replay for the URL: a page, or, if the page's text is known, also a redirect to
/// one.
fn answer(
    set: &ReplaySet,
    answers: Answers,
    url: &str,
    known: bool,
) -> Result<Option<IndexHit>, IndexError> {
    let url = url.split('#').next().unwrap_or_default();
    let request = matching::ReplayRequest::bare("GET", url);
    let key = matching::exact(&request);
    let mut hits = match answers {
        Answers::Of(member) => set.exact_in(member, &key)?,
        Answers::OfSet { .. } => set.exact(&key)?,
    };
    if hits.is_empty() && answers == (Answers::OfSet { exact: false }) {
        hits = set.normalised(&matching::normalised(&request).0)?;
    }
    for hit in hits {
        let capture = set.capture(hit)?;
        let status = if hit.status == 0 { capture.status } else { hit.status };
        let leads = known && matches!(status, 301 | 302 | 303 | 307 | 308);
        let has_body = match answers {
            Answers::Of(_) => capture.kind != CaptureKind::Dangling,
            Answers::OfSet { .. } => set.body_of(hit, &capture)?.is_some(),
        };
        if (status == 200 || leads) && has_body {
            return Ok(Some(hit));
        }
    }
    Ok(None)
}

/// The beginning of a text, without control characters.
fn plain(text: &str, longest: usize) -> String {
    text.chars().take(longest).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
