//! The log-in page. The package logs in by the address alone.

use axum::http::Method;
use minijinja::context;

use super::{Result, frame, layout};
use crate::itsm::http::{Asked, Reply};
use crate::itsm::store::Desk;
use crate::itsm::visitor;

pub(super) fn answer(desk: &Desk<'_>, asked: &Asked<'_>) -> Result {
    let form = asked.form();
    let given = if asked.method == Method::POST { &form } else { &asked.query };
    let (name, password) = (given.text("user_name"), given.text("user_password"));
    if name.is_empty() && password.is_empty() {
        return show("", "");
    }
    match visitor::by_password(desk, name, password)? {
        Some(visitor) => {
            let id = &visitor.real.sys_id;
            let mut reply = Reply::redirect(frame::HOME);
            reply.cookie = Some(visitor::cookie(asked, id, id));
            Ok(reply)
        }
        None => show(name, "The user name or the password is wrong."),
    }
}

fn show(name: &str, wrong: &str) -> Result {
    layout::render("log_in.html", context! { name, wrong }).map(Reply::html)
}
