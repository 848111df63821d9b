//! One request as a handler sees it.

use rusqlite::Connection;

use super::{Failure, Fields};

/// A request inside its transaction.
pub(crate) struct Visit<'a> {
    /// The copy's database, in a transaction that is the request's own.
    pub(crate) db: &'a Connection,
    /// Seconds since 1970 by the copy's clock.
    pub(crate) now: i64,
    /// The path with its query, as it was asked for.
    pub(crate) address: String,
    /// What the route's pattern caught.
    pub(crate) path: Fields,
    pub(crate) query: Fields,
    pub(crate) form: Fields,
    /// The name in the session cookie, if its signature is ours. Whether there still is such an account is another question.
    pub(crate) session: Option<String>,
    /// `user:password` of the header that logs in without a form.
    pub(crate) auto_login: Option<String>,
    /// What this visitor's forms must carry.
    pub(crate) token: String,
    /// Whether the page was asked for by its own script, which wants JSON.
    pub(crate) scripted: bool,
    pub(crate) sent: bool,
}

impl Visit<'_> {
    /// A number in the path; a page that is not there where it is none.
    pub(crate) fn id(&self, name: &str) -> Result<i64, Failure> {
        let text = self.path.text(name);
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse().map_err(|_| Failure::NotFound) } else { Err(Failure::NotFound) }
    }

    /// The page of a list that was asked for, from 1.
    pub(crate) fn page_number(&self) -> i64 {
        self.query.number("page").filter(|page| (1..=100_000).contains(page)).unwrap_or(1)
    }
}
