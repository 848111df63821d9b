//! A request as a handler sees it.

use rusqlite::Connection;

use super::{Failure, Fields};

/// A request inside its transaction.
pub(crate) struct Visit<'a> {
    /// The instance's database, in the request's transaction.
    pub(crate) db: &'a Connection,
    /// The instance's time in seconds since 1970.
    pub(crate) now: i64,
    /// The requested path with its query.
    pub(crate) address: String,
    /// The parameters of the route.
    pub(crate) path: Fields,
    pub(crate) query: Fields,
    pub(crate) form: Fields,
    /// The name in the session cookie, if the signature is valid. The account may no longer exist.
    pub(crate) session: Option<String>,
    /// `user:password` of the header that logs in without a form.
    pub(crate) auto_login: Option<String>,
    /// The token that this visitor's forms must contain.
    pub(crate) token: String,
    /// Whether the page's own script sent the request and expects JSON.
    pub(crate) scripted: bool,
    pub(crate) sent: bool,
}

impl Visit<'_> {
    /// A number in the path. Not a number is "not found".
    pub(crate) fn id(&self, name: &str) -> Result<i64, Failure> {
        let text = self.path.text(name);
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if digits { text.parse().map_err(|_| Failure::NotFound) } else { Err(Failure::NotFound) }
    }

    /// The requested page of a list, from 1.
    pub(crate) fn page_number(&self) -> i64 {
        self.query.number("page").filter(|page| (1..=100_000).contains(page)).unwrap_or(1)
    }
}
