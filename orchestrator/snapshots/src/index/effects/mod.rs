//! Judges whether a recorded request is a *write*: whether it may change what its site shows.
//!
//! A request is a write if it was sent by a method that changes things and the server took it,
//! unless something says that it only asks, counts or reports. A `GET` is a write if it ends or
//! begins a log-in: it takes away a cookie of one that the request carried, or an address of
//! log-ins sets one and shows no page. One of which the address says that it does something, or
//! that leads to another page, is a write where the recording shows it, see [`super::history`].
//!
//! A write that is not seen leaves later captures without their state, as if nothing had happened.
//! A read that counts as a write makes a recording look as if it were of other states. So each
//! reason not to be a write needs a sign of its own.

pub(super) mod body;
mod cookies;
mod words;

use std::fmt;

use super::history::SessionChange;
use crate::{Exchange, Headers};

pub use words::{
    is_log_in, is_log_out, is_once, is_static_type, may_act, only_shows_state, shows_state,
};

pub(super) use cookies::CookieNames;
pub use cookies::is_of_log_in;
pub(super) use words::action_of;

/// The status of answers that lead to another page this time.
const LEADS_ON: [u16; 3] = [302, 303, 307];

/// What a recorded request did to its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It may have changed what the site shows.
    Write(WriteReason),
    /// It was sent like a write, and is none.
    Read(ReadReason),
    /// It was sent like a read, and may do something: its address says so, or it leads to another
    /// page. Whether it did is shown by what was captured before and after it.
    Action,
    /// It was sent like any read.
    None,
}

/// Why a request is a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteReason {
    /// By its method.
    Method,
    /// It takes away a cookie of a log-in that it carried; or it is at an address of log-outs, and
    /// carries one or gets another one.
    LogOut,
    /// It is at an address of log-ins, and sets a cookie of one.
    LogIn,
    /// The rules of the snapshot say so.
    Rule,
    /// It is a `GET`, and the site showed something else after it.
    Action,
    /// A message over a WebSocket, after which the site showed something else.
    Message,
}

/// Why a request that was sent like a write is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadReason {
    /// The server refused it.
    Refused,
    /// The page cannot read what comes back: it only tells.
    Beacon,
    /// Its address is that of a log or a counter.
    Log,
    /// A query of GraphQL, or of a remote call that gets something.
    Query,
    /// Its address is that of a search, and nothing was kept.
    Search,
    /// It renews a token.
    Token,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Write(WriteReason::Method) => "its method changes things",
            Effect::Write(WriteReason::LogOut) => "it ends a log-in",
            Effect::Write(WriteReason::LogIn) => "it sets a cookie at an address of log-ins",
            Effect::Write(WriteReason::Message) => {
                "the site showed something else after the message"
            }
            Effect::Write(WriteReason::Action) => "the site showed something else after it",
            Effect::Write(WriteReason::Rule) => "the rules of the snapshot say so",
            Effect::Read(ReadReason::Refused) => "the server refused it",
            Effect::Read(ReadReason::Beacon) => "the page cannot read what comes back",
            Effect::Read(ReadReason::Log) => "its address is that of a log or a counter",
            Effect::Read(ReadReason::Query) => "it is a query",
            Effect::Read(ReadReason::Search) => "its address is that of a search",
            Effect::Read(ReadReason::Token) => "it renews a token",
            Effect::Action => "nothing shows that it does something",
            Effect::None => "it was sent like any read",
        })
    }
}

/// The body of a request, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SentBody<'a> {
    pub(super) content_type: Option<&'a str>,
    pub(super) bytes: Option<&'a [u8]>,
}

impl SentBody<'_> {
    fn has_type(&self, name: &str) -> bool {
        self.content_type
            .is_some_and(|text| text.split(';').next().is_some_and(|own| own.trim() == name))
    }
}

/// What a request says of its effect, in few bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestSigns {
    changes: bool,
    read: Option<ReadReason>,
    is_log_in: bool,
    is_log_out: bool,
    /// Whether it can be made once only, as its query has a code.
    is_once: bool,
    /// Whether it carries a cookie of a log-in.
    has_log_in: bool,
    /// Whether it is a `GET` that may do something for who asks, and whether its address says so.
    may_act: bool,
    names_action: bool,
    is_page: bool,
    cookies: CookieNames,
}

/// What a response says of its request's effect, in few bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct ResponseSigns {
    is_html: bool,
    /// The cookies of log-ins that it sets and takes away.
    sets: CookieNames,
    clears: CookieNames,
    sets_any: bool,
    leads_to_log_in: bool,
    /// Whether it is the same in every state.
    is_static: bool,
}

impl RequestSigns {
    pub(super) fn of(
        method: &str,
        url: &str,
        headers: &Headers,
        body: &SentBody<'_>,
    ) -> RequestSigns {
        let changes = words::is_method_of_change(method);
        let destination = headers.get_str("Sec-Fetch-Dest");
        // Browsers send no Sec-Fetch-Dest over http. What they accept is the next best sign.
        let accepts_html =
            || headers.get_str("Accept").is_some_and(|types| types.starts_with("text/html"));
        let is_page = destination.map_or_else(accepts_html, |name| name == "document");
        let read = if changes { reason_to_be_read(url, headers, body, is_page) } else { None };
        let cookies = CookieNames::sent(headers);
        let (is_log_in, is_log_out) = (words::is_log_in(url), words::is_log_out(url));
        let (is_once, has_log_in) = (words::is_once(url), CookieNames::sends_log_in(headers));
        // `empty` is a request of a script. Images and styles change nothing.
        let asks = is_page || destination.is_none_or(|name| name == "empty");
        let may_act = method == "GET" && asks && !cookies.is_empty() && !is_log_in && !is_log_out;
        let names_action = may_act && words::names_action(url);
        RequestSigns {
            changes,
            read,
            is_log_in,
            is_log_out,
            is_once,
            has_log_in,
            may_act,
            names_action,
            is_page,
            cookies,
        }
    }

    /// Whether a request for a page carries no cookie.
    fn is_page_without_cookies(&self) -> bool {
        self.is_page && !self.changes && self.cookies.is_empty()
    }
}

impl ResponseSigns {
    pub(super) fn of(headers: &Headers) -> ResponseSigns {
        let (sets, clears) = CookieNames::set(headers);
        let is_html = headers.get_str("Content-Type").is_some_and(|name| name.contains("html"));
        let leads_to_log_in = headers.get_str("Location").is_some_and(words::leads_to_log_in);
        let sets_any = headers.contains("Set-Cookie");
        let is_static = headers.get_str("Content-Type").is_some_and(is_static_type);
        ResponseSigns { is_html, sets, clears, sets_any, leads_to_log_in, is_static }
    }
}

fn reason_to_be_read(
    url: &str,
    headers: &Headers,
    body: &SentBody<'_>,
    is_page: bool,
) -> Option<ReadReason> {
    let is_tell = headers.get_str("Sec-Fetch-Mode") == Some("no-cors")
        || headers.get_str("Ping-To").is_some()
        || body.content_type.is_some_and(words::is_report_type);
    if is_tell && !is_page {
        return Some(ReadReason::Beacon);
    }
    if let Some(reads) = body::reads(body) {
        return reads.then_some(ReadReason::Query);
    }
    if !is_page && words::is_log(url) {
        return Some(ReadReason::Log);
    }
    if body::renews_token(body) || words::is_renewal(url) {
        return Some(ReadReason::Token);
    }
    words::is_search(url).then_some(ReadReason::Search)
}

/// The effect of a recorded request. `status` is that of the answer, 0 if it has none.
pub(super) fn judge(request: &RequestSigns, status: u16, response: &ResponseSigns) -> Effect {
    let is_taken = (100..400).contains(&status);
    if !request.changes {
        return match is_taken {
            true if request.cookies.has_one_of(&response.clears) => {
                Effect::Write(WriteReason::LogOut)
            }
            true if request.is_log_out && (!response.sets.is_empty() || request.has_log_in) => {
                Effect::Write(WriteReason::LogOut)
            }
            // A page of log-ins that begins a session has logged in nobody yet.
            true if request.is_log_in
                && !response.sets.is_empty()
                && (request.is_once || !is_page(status, response)) =>
            {
                Effect::Write(WriteReason::LogIn)
            }
            true if request.names_action && !response.is_static => Effect::Action,
            // What has done something often leads to the page that shows it.
            // What leads to a log-in was refused.
            _ if request.may_act
                && request.is_page
                && LEADS_ON.contains(&status)
                && !response.leads_to_log_in =>
            {
                Effect::Action
            }
            _ => Effect::None,
        };
    }
    if !is_taken {
        return Effect::Read(ReadReason::Refused);
    }
    match request.read {
        // It led somewhere, or the site remembers it.
        Some(ReadReason::Search) if (300..400).contains(&status) || response.sets_any => {
            Effect::Write(WriteReason::Method)
        }
        Some(reason) => Effect::Read(reason),
        None => Effect::Write(WriteReason::Method),
    }
}

fn is_page(status: u16, response: &ResponseSigns) -> bool {
    response.is_html && (200..300).contains(&status)
}

/// What a recorded request does to who is logged in.
pub(super) fn session_change(
    request: &RequestSigns,
    status: u16,
    response: &ResponseSigns,
) -> SessionChange {
    if request.is_log_out {
        return SessionChange::LogOut;
    }
    // Who is refused sees the form again.
    if request.is_log_in && !response.sets.is_empty() && !is_page(status, response) {
        return SessionChange::LogIn;
    }
    if response.clears.is_empty() { SessionChange::Unchanged } else { SessionChange::LogOut }
}

/// The effect of a request that was not recorded, if its server took it.
pub fn effect_of_request(method: &str, url: &str, headers: &Headers, body: &[u8]) -> Effect {
    let sent = SentBody { content_type: headers.get_str("Content-Type"), bytes: Some(body) };
    let signs = RequestSigns::of(method, url, headers, &sent);
    judge(&signs, 200, &ResponseSigns::default())
}

/// The effect of an exchange that is being recorded. A body that is not in memory is not known.
pub fn effect_of(exchange: &Exchange) -> Effect {
    let (request, response) = (&exchange.request, &exchange.response);
    let bytes = request.body.in_memory();
    let sent =
        SentBody { content_type: request.headers.get_str("Content-Type"), bytes: bytes.as_deref() };
    let signs = RequestSigns::of(&request.method, &exchange.url, &request.headers, &sent);
    judge(&signs, response.status, &ResponseSigns::of(&response.headers))
}

/// Whether a visit of the site may begin here: a page was asked for without any cookie.
pub(super) fn may_begin(request: &RequestSigns, status: u16, response: &ResponseSigns) -> bool {
    let is_page = response.is_html && (200..300).contains(&status) || (300..400).contains(&status);
    request.is_page_without_cookies() && is_page
}

#[cfg(test)]
mod tests;
