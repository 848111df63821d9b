//! Two services of other people: a weather API that browsers may only call after a preflight, and a
//! rating widget made to be embedded.

use http::{Method, StatusCode, header};
use serde_json::json;

use super::{Web, not_allowed, not_found, reads};
use crate::call::Call;
use crate::reply::Reply;

const CALLER: &str = "https://www.hearthside.test";

/// `api.weatherfold.test/v1/forecast?city=`, for callers with a key.
pub(super) fn weather(web: &Web, call: &Call) -> Reply {
    if call.segments() != ["v1", "forecast"] {
        return not_found().readable_by(CALLER);
    }
    if call.method == Method::OPTIONS {
        return Reply::status(StatusCode::NO_CONTENT)
            .readable_by(CALLER)
            .header(header::ACCESS_CONTROL_ALLOW_METHODS, "GET")
            .header(header::ACCESS_CONTROL_ALLOW_HEADERS, "x-api-key")
            .header(header::ACCESS_CONTROL_MAX_AGE, "600");
    }
    if !reads(call) {
        return not_allowed("GET, HEAD, OPTIONS").readable_by(CALLER);
    }
    if call.header("x-api-key").is_none() {
        return Reply::json(&json!({ "error": "a key is wanted" }))
            .under(StatusCode::UNAUTHORIZED)
            .readable_by(CALLER);
    }
    match web.world.forecasts.iter().find(|one| call.param("city") == Some(one.city)) {
        Some(forecast) => Reply::json(forecast).readable_by(CALLER),
        None => Reply::json(&json!({ "error": "no such city" }))
            .under(StatusCode::NOT_FOUND)
            .readable_by(CALLER),
    }
}

/// `widgets.rateboard.test/film/<slug>`: scores in a page small enough for a frame.
pub(super) fn rating(web: &Web, call: &Call) -> Reply {
    let segments = call.segments();
    let ["film", slug] = segments.as_slice() else { return not_found() };
    let Some(film) = web.world.films.iter().find(|film| film.slug == *slug) else {
        return not_found();
    };
    let score = format!("{}.{}", film.audience_tenths / 10, film.audience_tenths % 10);
    web.page("support/widget.html", json!({ "film": film, "score": score }))
        .header(header::CONTENT_SECURITY_POLICY, "frame-ancestors https://www.cityscreen.test")
}
