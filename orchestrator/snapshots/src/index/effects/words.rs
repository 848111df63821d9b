//! Methods and addresses that say what a request is for.

use url::Url;

/// The last names of an address that count.
const LAST: usize = 2;

const LOGS: [&str; 18] = [
    "analytics",
    "beacon",
    "beacons",
    "collect",
    "collector",
    "csp",
    "heartbeat",
    "impression",
    "impressions",
    "log",
    "logging",
    "logs",
    "metrics",
    "pageview",
    "ping",
    "rum",
    "telemetry",
    "tracking",
];
const SEARCHES: [&str; 14] = [
    "aggregate",
    "autocomplete",
    "count",
    "facets",
    "filter",
    "find",
    "lookup",
    "msearch",
    "query",
    "search",
    "suggest",
    "suggestions",
    "typeahead",
    "validate",
];
const LOG_INS: [&str; 18] = [
    "auth",
    "authenticate",
    "authorize",
    "callback",
    "login",
    "loginas",
    "logoff",
    "logon",
    "logout",
    "oauth",
    "oauth2",
    "session",
    "sessions",
    "signin",
    "signout",
    "signup",
    "sso",
    "verify",
];
/// Words that together name a log-in.
const LOG_IN_PAIRS: [[&str; 2]; 6] =
    [["log", "in"], ["log", "out"], ["sign", "in"], ["sign", "out"], ["log", "off"], ["sign", "up"]];

/// Whether a method is sent to change something. Those of a WebSocket's frames and of CONNECT are
/// no requests of their own.
pub(super) fn is_method_of_change(method: &str) -> bool {
    const READS: [&str; 10] = [
        "CONNECT",
        "GET",
        "HEAD",
        "OPTIONS",
        "PROPFIND",
        "QUERY",
        "REPORT",
        "SEARCH",
        "TRACE",
        super::super::SOCKET,
    ];
    !READS.contains(&method)
}

/// Whether a media type is one of reports to a server.
pub(super) fn is_report_type(content_type: &str) -> bool {
    let name = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["application/csp-report", "application/reports+json", "text/ping"].contains(&name.as_str())
}

/// Whether it is the address of a log or a counter. One of the last names is no other word.
pub(super) fn is_log(url: &str) -> bool {
    last_names(url).iter().any(|words| words.iter().any(|word| LOGS.contains(&word.as_str())))
}

/// Whether it is the address of a search: its last name says so.
pub(super) fn is_search(url: &str) -> bool {
    let names = last_names(url);
    names.last().is_some_and(|words| words.iter().any(|word| SEARCHES.contains(&word.as_str())))
}

/// Whether it is the address of the renewal of a token.
pub(super) fn is_renewal(url: &str) -> bool {
    let names = last_names(url);
    names.last().is_some_and(|words| words.iter().any(|word| word == "refresh" || word == "keepalive"))
}

/// Whether it is an address of log-ins.
pub(super) fn is_log_in(url: &str) -> bool {
    last_names(url).iter().any(|words| {
        words.iter().any(|word| LOG_INS.contains(&word.as_str()))
            || words.windows(2).any(|two| LOG_IN_PAIRS.iter().any(|pair| pair == two))
    })
}

/// The words of the last names of a path, and of its actions in the query (`?action=logout`).
fn last_names(url: &str) -> Vec<Vec<String>> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let path: Vec<&str> = url.path().split('/').filter(|name| !name.is_empty()).collect();
    let path = path[path.len().saturating_sub(LAST)..].iter().map(|name| (*name).to_owned());
    let is_action = |name: &str| ["action", "a", "do", "mode", "op", "cmd", "wc-ajax"].contains(&name);
    let actions = url.query_pairs().filter(|(name, _)| is_action(name)).map(|(_, value)| value.into_owned());
    path.chain(actions).map(|name| words(&name)).collect()
}

/// The words of a name in lower case: `addToCart`, `add-to-cart` and `add_to_cart` have three.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars().take(256) {
        if !letter.is_alphanumeric() || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
