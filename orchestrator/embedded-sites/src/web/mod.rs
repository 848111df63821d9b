//! A small web framework for the forum and the desk. A request becomes a [`Visit`]; a handler turns
//! it into a [`Reply`].
//!
//! ```text
//! axum route -> read the form (bounded) -> wait for a turn -> lock the database
//!            -> check visitor and token -> begin -> handler
//!            -> commit, or roll back on a Failure -> render -> response
//! ```
//!
//! Handlers are plain functions that use neither axum nor threads.

mod fields;
mod reply;
mod serve;
mod session;
mod templates;
mod visit;

pub(crate) use fields::Fields;
pub(crate) use reply::{Failure, Reply};
pub(crate) use serve::{Handler, Server, get, get_and_post, http_date, plain, post};
pub(crate) use session::{COOKIE as SESSION_COOKIE, Keys};
pub(crate) use templates::environment;
pub(crate) use visit::Visit;
