//! `clock.meridian.test` and `frame.meridian.test`: pages that print what a page can learn about
//! time and chance.

use http::header;
use serde_json::json;

use super::{Web, not_found};
use crate::call::Call;
use crate::reply::Reply;

const SCRIPT: &str = "text/javascript; charset=utf-8";

pub(super) fn clock(web: &Web, call: &Call) -> Reply {
    match call.segments().as_slice() {
        [] | ["determinism"] => web.page("support/determinism.html", json!({})),
        ["determinism.js"] => script(include_str!("../../assets/determinism.js")),
        ["worker.js"] => script(include_str!("../../assets/worker.js")),
        _ => not_found(),
    }
}

pub(super) fn frame(web: &Web, call: &Call) -> Reply {
    match call.segments().as_slice() {
        ["values"] => web.page("support/frame.html", json!({})),
        ["frame.js"] => script(include_str!("../../assets/frame.js")),
        _ => not_found(),
    }
}

fn script(source: &'static str) -> Reply {
    Reply::of(SCRIPT, source).header(header::CACHE_CONTROL, "max-age=600")
}
