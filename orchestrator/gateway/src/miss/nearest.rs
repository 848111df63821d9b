//! Finds recorded requests that are similar to a missed one.

use serde::Serialize;
use snapshots::index::{CaptureKind, IndexError, RecordedRequest, ReplaySet, SOCKET};
use snapshots::matching::{self, Difference, ReplayRequest};
use url::Url;

use crate::NearestRequest;

/// How many are listed.
const NAMED: usize = 5;
/// How many index entries are searched on either side.
const REACH: usize = 12;
/// Captures of a host that are considered for a missed page.
const OF_A_HOST: usize = 1000;
/// Rank penalty for non-pages behind pages.
const ASIDE: f64 = 10.0;
/// File extensions of subresources.
const ASSETS: &[&str] = &[
    "avif", "css", "eot", "gif", "ico", "jpeg", "jpg", "js", "json", "map", "mjs", "mp3", "mp4",
    "otf", "png", "svg", "ttf", "wasm", "webm", "webp", "woff", "woff2", "xml",
];
/// How many candidates are compared in full.
const COMPARED: usize = 12;

/// A recorded request similar to a missed one, and the difference.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct NearCapture {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) differences: Vec<Difference>,
    /// Why it did not match although nothing differs.
    pub(crate) note: Option<String>,
    #[serde(skip)]
    closeness: f64,
}

impl NearCapture {
    pub(super) fn summary(&self) -> NearestRequest {
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let differences = self.differences.iter().map(|d| {
            format!("{}: {} (recorded: {})", d.what, side(&d.requested), side(&d.recorded))
        });
        let differs = differences.chain(self.note.clone()).collect::<Vec<_>>().join("; ");
        NearestRequest { method: self.method.clone(), url: self.url.clone(), differs }
    }
}

/// The nearest recorded requests, nearest first.
///
/// If a page was missed, pages of the host rank before its fonts and images, wherever they are on
/// the host.
pub(crate) fn nearest(
    set: &ReplaySet,
    request: &ReplayRequest<'_>,
    page: bool,
) -> Result<Vec<NearCapture>, IndexError> {
    let mut recorded = set.neighbours(request.method, request.url, REACH)?;
    if recorded.is_empty()
        && let Some(other) = other_spelling(request.url)
    {
        recorded = set.neighbours(request.method, &other, REACH)?;
    }
    let page = page && !is_asset(request.url);
    if page && let Some(host) = Url::parse(request.url).ok().as_ref().and_then(Url::host_str) {
        let more = set.of_host(host, OF_A_HOST)?;
        recorded.extend(
            more.into_iter().filter(|other| other.hit.status == 200 && !is_asset(&other.url)),
        );
    }
    recorded.sort_by(|a, b| {
        (&a.url, &a.method, a.hit.at_millis).cmp(&(&b.url, &b.method, b.hit.at_millis))
    });
    let request_url = Url::parse(request.url).ok();
    recorded.dedup_by_key(|other| other.hit);
    let closeness = |other: &RecordedRequest| {
        let aside = if page && is_asset(&other.url) { ASIDE } else { 0.0 };
        resemblance(request, request_url.as_ref(), other) - aside
    };
    let mut candidates: Vec<(f64, RecordedRequest)> =
        recorded.into_iter().map(|other| (closeness(&other), other)).collect();
    // Comparing reads records, so only the nearest are compared.
    candidates.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    candidates.truncate(COMPARED);
    let near =
        candidates.into_iter().map(|(closeness, other)| compared(set, request, closeness, other));
    let mut near = near.collect::<Result<Vec<_>, _>>()?;
    near.sort_by(|a, b| b.closeness.total_cmp(&a.closeness));
    near.dedup_by(|a, b| {
        (&a.url, &a.method, &a.differences) == (&b.url, &b.method, &b.differences)
    });
    near.truncate(NAMED);
    Ok(near)
}

/// Whether a URL has the extension of an image, font, script or the like.
fn is_asset(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ASSETS.contains(&ending.to_ascii_lowercase().as_str()))
}

/// Similarity of a URL before values are compared: by its path above all, then its method, then its
/// common prefix.
fn resemblance(
    request: &ReplayRequest<'_>,
    request_url: Option<&Url>,
    other: &RecordedRequest,
) -> f64 {
    let letters = request.url.bytes().zip(other.url.bytes()).take_while(|(a, b)| a == b).count();
    let alike = letters as f64 / request.url.len().max(other.url.len()).max(1) as f64;
    path_likeness(request_url, &other.url) * 2.0
        + f64::from(u8::from(other.method == request.method)) * 0.25
        + alike * 0.1
}

fn compared(
    set: &ReplaySet,
    request: &ReplayRequest<'_>,
    closeness: f64,
    other: RecordedRequest,
) -> Result<NearCapture, IndexError> {
    let RecordedRequest { hit, method, url } = other;
    let capture = set.capture(hit)?;
    // Zeros stand for no body, and then nothing has to be read.
    let parts = if capture.request_body == [0; 8] { None } else { set.request(hit, &capture)? };
    let recorded =
        parts.as_ref().map_or(ReplayRequest::bare(&method, &url), |parts| parts.request_at(&url));
    let differences = matching::differences(request, &recorded);
    let note = differences.is_empty().then(|| match (method.as_str(), capture.status) {
        (SOCKET, _) => "recorded as a WebSocket".to_owned(),
        _ if capture.kind == CaptureKind::Dangling => "its body is in another archive".to_owned(),
        (_, 206) => "only a part of it was recorded".to_owned(),
        (_, status) => format!("only an answer with status {status} was recorded"),
    });
    let closeness = closeness + 1.0 / (1.0 + differences.len() as f64);
    Ok(NearCapture { method, url, differences, note, closeness })
}

/// From 0 to 1: the share of path segments that are equal at the start and at the end.
fn path_likeness(requested: Option<&Url>, recorded: &str) -> f64 {
    let (Some(requested), Ok(recorded)) = (requested, Url::parse(recorded)) else { return 0.0 };
    if requested.path() == recorded.path() {
        return 1.0;
    }
    if requested.path().eq_ignore_ascii_case(recorded.path()) {
        return 0.95;
    }
    let segments =
        |url: &Url| -> Vec<String> { url.path().split('/').skip(1).map(str::to_owned).collect() };
    let (a, b) = (segments(requested), segments(&recorded));
    let same = |pairs: &mut dyn Iterator<Item = (&String, &String)>| {
        pairs.take_while(|(a, b)| a == b).count()
    };
    let front = same(&mut a.iter().zip(&b));
    let back = same(&mut a.iter().rev().zip(b.iter().rev()));
    let shared =
        (front + back).min(a.len().min(b.len())) as f64 / a.len().max(b.len()).max(1) as f64;
    // Names with a common prefix rank higher.
    let (first_a, first_b) =
        (a.get(front).map_or("", String::as_str), b.get(front).map_or("", String::as_str));
    let letters = first_a.chars().zip(first_b.chars()).take_while(|(a, b)| a == b).count();
    let begin = letters as f64 / first_a.len().max(first_b.len()).max(1) as f64;
    (shared + 0.2 * begin) * 0.75
}

/// The same URL under the host's other common name: with or without `www.`.
fn other_spelling(url: &str) -> Option<String> {
    let mut url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    let other = host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
    url.set_host(Some(&other)).ok()?;
    Some(url.into())
}
