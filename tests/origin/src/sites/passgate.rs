//! `id.passgate.test`: where other sites send their visitors to sign in.

use http::{Method, StatusCode, header};
use serde_json::json;

use super::{Web, not_allowed, not_found, reads};
use crate::call::Call;
use crate::reply::Reply;

pub(super) fn answer(web: &Web, call: &Call) -> Reply {
    let segments = call.segments();
    match (&call.method, segments.as_slice()) {
        // Nobody has an account here: every attempt leads back to the form, by 303 as after any
        // POST.
        (&Method::POST, ["authorize"]) => {
            Reply::redirect(StatusCode::SEE_OTHER, "/authorize?client=aldria-rail&failed=1")
        }
        _ if !reads(call) => not_allowed("GET, HEAD, POST"),
        (_, ["authorize"]) => {
            web.page("support/authorize.html", json!({ "failed": call.param("failed").is_some() }))
        }
        (_, ["continue"]) => Reply::redirect(
            StatusCode::FOUND,
            "https://www.aldria-rail.test/account/callback?code=guest-7f3a",
        )
        .header(header::SET_COOKIE, "passgate=guest; Max-Age=1800; Path=/; HttpOnly; Secure"),
        _ => not_found(),
    }
}
