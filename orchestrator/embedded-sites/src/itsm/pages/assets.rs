//! Scripts and styles, which are part of the program.

use axum::http::StatusCode;

use crate::itsm::http::Reply;

macro_rules! assets {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../assets/", $name)))),*]
    };
}

const ASSETS: &[(&str, &str)] = &assets![
    "account.js",
    "base.js",
    "catalogue.js",
    "change_landing.js",
    "chart_shapes.js",
    "charts.css",
    "charts.js",
    "complete.js",
    "desk.css",
    "form.css",
    "form.js",
    "form_dialogs.js",
    "frame.js",
    "list.js",
    "navigator.js",
    "shop.css",
];

pub(super) fn answer(name: &str) -> Reply {
    let Some((_, text)) = ASSETS.iter().find(|(one, _)| *one == name) else {
        return Reply::new(StatusCode::NOT_FOUND, "text/plain", "404: there is no such file");
    };
    let kind = match name.ends_with(".css") {
        true => "text/css; charset=UTF-8",
        false => "text/javascript; charset=UTF-8",
    };
    let mut reply = Reply::new(StatusCode::OK, kind, *text);
    reply.fixed = true;
    reply
}
