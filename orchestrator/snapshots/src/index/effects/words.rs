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
/// Those of log-outs.
const LOG_OUTS: [&str; 3] = ["logoff", "logout", "signout"];
const LOG_OUT_PAIRS: [[&str; 2]; 4] =
    [["log", "out"], ["sign", "out"], ["log", "off"], ["sign", "off"]];
/// What says that a `GET` does something, such as a link that puts a thing into a cart.
const ACTIONS: [&str; 131] = [
    "accept",
    "acheter",
    "acquista",
    "activate",
    "add",
    "aggiungi",
    "agregar",
    "ajouter",
    "anadir",
    "apply",
    "approve",
    "assign",
    "ban",
    "bestellen",
    "block",
    "buy",
    "cancel",
    "checkout",
    "claim",
    "clear",
    "close",
    "commander",
    "complete",
    "comprar",
    "confirm",
    "copy",
    "create",
    "deactivate",
    "dec",
    "decline",
    "decrease",
    "decrement",
    "delete",
    "destroy",
    "disable",
    "dismiss",
    "download",
    "drop",
    "downvote",
    "duplicate",
    "elimina",
    "eliminar",
    "empty",
    "enable",
    "enregistrer",
    "entfernen",
    "execute",
    "export",
    "favorite",
    "favourite",
    "follow",
    "guardar",
    "hide",
    "hinzufugen",
    "impersonate",
    "inc",
    "increase",
    "increment",
    "install",
    "invite",
    "join",
    "kaufen",
    "launch",
    "leave",
    "leeren",
    "like",
    "lock",
    "logoff",
    "logout",
    "loschen",
    "mark",
    "merge",
    "move",
    "mute",
    "pause",
    "pay",
    "pin",
    "publish",
    "purchase",
    "redeem",
    "refund",
    "reject",
    "remove",
    "rename",
    "renew",
    "reopen",
    "reorder",
    "reset",
    "resolve",
    "restore",
    "resume",
    "retry",
    "revoke",
    "rimuovere",
    "rotate",
    "run",
    "salva",
    "save",
    "send",
    "set",
    "signout",
    "speichern",
    "star",
    "start",
    "steal",
    "stop",
    "submit",
    "subscribe",
    "supprimer",
    "svuota",
    "switch",
    "sync",
    "take",
    "toggle",
    "transfer",
    "trash",
    "unblock",
    "undo",
    "unfollow",
    "unlike",
    "unlock",
    "unpin",
    "unread",
    "unstar",
    "unsubscribe",
    "update",
    "upload",
    "upvote",
    "vaciar",
    "vider",
    "vote",
];
/// What pages are called that show what somebody has done on a site.
const STATES: [&str; 50] = [
    "account",
    "activity",
    "bag",
    "balance",
    "basket",
    "bookings",
    "bookmarks",
    "carrello",
    "carrito",
    "cart",
    "compte",
    "cuenta",
    "dashboard",
    "drafts",
    "favorites",
    "favourites",
    "followers",
    "following",
    "history",
    "inbox",
    "konto",
    "list",
    "lists",
    "me",
    "messages",
    "minicart",
    "notifications",
    "orders",
    "outbox",
    "panier",
    "profile",
    "purchases",
    "reservations",
    "reviews",
    "saved",
    "sent",
    "settings",
    "subscriptions",
    "tasks",
    "tickets",
    "todos",
    "trips",
    "trolley",
    "user",
    "votes",
    "wallet",
    "warenkorb",
    "watchlist",
    "wishlist",
    "wunschliste",
];
/// What else may be in the last name of such a page.
const NEUTRAL: [&str; 16] = [
    "all", "asp", "aspx", "de", "en", "htm", "html", "index", "jsp", "mein", "my", "overview",
    "page", "php", "show", "view",
];
/// Names in the query of an address that is good once.
const ONCE: [&str; 6] = ["code", "confirmation", "otp", "signature", "ticket", "token"];
/// What addresses are called that give a token for the next form.
const TOKENS: [&str; 4] = ["csrf", "nonce", "token", "xsrf"];
/// Words that together name a log-in.
const LOG_IN_PAIRS: [[&str; 2]; 6] = [
    ["log", "in"],
    ["log", "out"],
    ["sign", "in"],
    ["sign", "out"],
    ["log", "off"],
    ["sign", "up"],
];

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

/// Whether what has this media type is the same in every state of its site: a script, a style, a
/// picture, a font, a film, a sound.
pub fn is_static_type(content_type: &str) -> bool {
    let name = content_type.trim().to_ascii_lowercase();
    let starts = ["image/", "font/", "audio/", "video/", "text/css", "application/wasm"];
    starts.iter().any(|start| name.starts_with(start))
        || name.contains("javascript")
        || name.contains("font")
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
    names
        .last()
        .is_some_and(|words| words.iter().any(|word| word == "refresh" || word == "keepalive"))
}

/// Whether it is an address of log-ins.
pub fn is_log_in(url: &str) -> bool {
    last_names(url).iter().any(|words| names_log_in(words))
}

/// Whether a redirect leads to an address of log-ins. It may be relative.
pub(super) fn leads_to_log_in(location: &str) -> bool {
    let base = Url::parse("http://any.test/");
    base.and_then(|base| base.join(location)).is_ok_and(|url| is_log_in(url.as_str()))
}

/// Whether it is an address of log-outs.
pub fn is_log_out(url: &str) -> bool {
    last_names(url).last().is_some_and(|words| {
        words.iter().any(|word| LOG_OUTS.contains(&word.as_str()))
            || words.windows(2).any(|two| LOG_OUT_PAIRS.iter().any(|pair| pair == two))
    })
}

/// Whether a `GET` of this address can be made once only, as its query has a code or a ticket.
pub fn is_once(url: &str) -> bool {
    let Ok(parsed) = Url::parse(url) else { return false };
    parsed
        .query_pairs()
        .any(|(name, _)| words(&name).iter().any(|word| ONCE.contains(&word.as_str())))
}

fn names_log_in(words: &[String]) -> bool {
    words.iter().any(|word| LOG_INS.contains(&word.as_str()))
        || words.windows(2).any(|two| LOG_IN_PAIRS.iter().any(|pair| pair == two))
}

/// Whether a `GET` of this address may do something, or can be made once only. It says so in any
/// name of its path, or in its query.
pub fn may_act(url: &str) -> bool {
    let Ok(parsed) = Url::parse(url) else { return true };
    let path = parsed.path().split('/').map(str::to_owned);
    let query: Vec<(String, String)> = parsed.query_pairs().into_owned().collect();
    let gives_token = |name: &str| words(name).iter().any(|word| TOKENS.contains(&word.as_str()));
    let mut names = path.chain(query.iter().map(|(name, _)| name.clone()));
    let acts = |name: &str| words(name).iter().any(|word| ACTIONS.contains(&word.as_str()));
    // A name before the last one may be that of a part of the site, as in `/admin/auth/group/`.
    last_names(url).last().is_some_and(|words| names_log_in(words))
        || names.any(|name| acts(&name) || gives_token(&name))
        || is_once(url)
        || query.iter().any(|(name, value)| is_action(name) && acts(value))
}

/// Whether a `GET` of this address does something, as the end of its path or its query says.
pub(super) fn names_action(url: &str) -> bool {
    named_action(url).is_some()
}

/// What a `GET` of this address does, if it does something: its path up to a name that says so,
/// with what its query says, or else its path with the names in its query. Things are left out:
/// `/cart/remove/7` does what `/cart/remove/8` does.
pub(in super::super) fn action_of(url: &str) -> String {
    named_action(url).unwrap_or_else(|| {
        let Ok(parsed) = Url::parse(url) else { return url.to_owned() };
        let mut names: Vec<String> =
            parsed.query_pairs().map(|(name, _)| name.into_owned()).collect();
        names.sort_unstable();
        format!("{}{}?{}", parsed.host_str().unwrap_or_default(), parsed.path(), names.join("&"))
    })
}

fn named_action(url: &str) -> Option<String> {
    let parsed = Url::parse(url).ok()?;
    let acts = |name: &str| words(name).iter().any(|word| ACTIONS.contains(&word.as_str()));
    let names: Vec<&str> = parsed.path().split('/').filter(|name| !name.is_empty()).collect();
    let place = names.iter().rposition(|name| acts(name));
    let place = place.filter(|place| place + LAST >= names.len());
    let path = names[..place.map_or(names.len(), |place| place + 1)].join("/");
    let in_query = parsed.query_pairs().filter_map(|(name, value)| match () {
        () if is_action(&name) && acts(&value) => Some(format!("{name}={value}")),
        () if acts(&name) && !is_offset(&name, &value) => Some(name.into_owned()),
        () => None,
    });
    let in_query: Vec<String> = in_query.collect();
    let host = parsed.host_str().unwrap_or_default();
    (place.is_some() || !in_query.is_empty())
        .then(|| format!("{host}/{path}?{}", in_query.join("&")))
}

/// Whether it says where a part of a list begins.
fn is_offset(name: &str, value: &str) -> bool {
    ["start", "set"].contains(&name) && value.bytes().all(|letter| letter.is_ascii_digit())
}

/// Whether this is the address of a page that shows what somebody has done on the site, such as a
/// cart. One of the last names of its path says so.
pub fn shows_state(url: &str) -> bool {
    last_names(url).iter().any(|words| words.iter().any(|word| STATES.contains(&word.as_str())))
}

/// Whether this is the address of such a page and of nothing else, as a link names it that nobody
/// has followed: it has no query, and its last name is that of a state alone.
pub fn only_shows_state(url: &str) -> bool {
    let Ok(parsed) = Url::parse(url) else { return false };
    let last = parsed.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = words(last);
    let is_state = |word: &String| STATES.contains(&word.as_str());
    parsed.query().is_none()
        && !may_act(url)
        && last.iter().any(is_state)
        && last.iter().all(|word| is_state(word) || NEUTRAL.contains(&word.as_str()))
}

/// The words of the last names of a path, and of its actions in the query (`?action=logout`).
fn last_names(url: &str) -> Vec<Vec<String>> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let path: Vec<&str> = url.path().split('/').filter(|name| !name.is_empty()).collect();
    let path = path[path.len().saturating_sub(LAST)..].iter().map(|name| (*name).to_owned());
    let actions =
        url.query_pairs().filter(|(name, _)| is_action(name)).map(|(_, value)| value.into_owned());
    path.chain(actions).map(|name| words(&name)).collect()
}

fn is_action(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["action", "a", "do", "mode", "op", "cmd", "wc-ajax"].contains(&name.as_str())
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
