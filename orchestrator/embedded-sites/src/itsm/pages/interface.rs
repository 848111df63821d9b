//! What scripts of the pages ask: `/desk/...`.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Page, Result, form};
use crate::itsm::http::Reply;
use crate::itsm::visitor::{self, has_role};

/// Rows of a menu below an input.
const ROWS: usize = 15;

pub(super) fn answer(page: &Page<'_>, path: &str) -> Result {
    match (&page.asked.method, path) {
        (&Method::GET, "complete") => complete(page),
        (&Method::POST, "impersonate") => impersonate(page),
        (&Method::POST, "save") => form::save(page),
        (&Method::POST, "remove") => form::remove(page),
        _ => Ok(Reply::json(StatusCode::NOT_FOUND, &json!({"error": "there is no such address"}))),
    }
}

/// `complete?table=&text=[&exact=true]`: the records whose names begin with the text, in any case
/// and in the order of the names; an exact name is among the first.
fn complete(page: &Page<'_>) -> Result {
    let (desk, query) = (page.desk, &page.asked.query);
    let wanted = query.text("text").to_lowercase();
    let is_exact = query.text("exact") == "true";
    let mut found = Vec::new();
    for record in desk.records(query.text("table"))? {
        let title = desk.title(&record);
        let lower = title.to_lowercase();
        let matches = if is_exact { lower == wanted } else { lower.starts_with(&wanted) };
        if matches && !title.is_empty() {
            found.push((lower, title, record));
        }
    }
    found.sort_by(|(left, _, _), (right, _, _)| left.cmp(right));
    found.truncate(ROWS);
    let row = |(_, title, record): &(String, String, _)| -> Value {
        let record: &crate::itsm::seed::Record = record;
        json!({"id": record.sys_id, "title": title, "more": record.text("email")})
    };
    let rows: Vec<Value> = found.iter().map(row).collect();
    Ok(Reply::json(StatusCode::OK, &json!({"rows": rows})))
}

/// `impersonate` with the form field `user`: an id, or empty for one's own name again.
fn impersonate(page: &Page<'_>) -> Result {
    let (desk, asked, real) = (page.desk, page.asked, &page.visitor.real);
    let refused = |status, error: &str| Ok(Reply::json(status, &json!({"error": error})));
    if !has_role(desk, real, "admin")? {
        return refused(StatusCode::FORBIDDEN, "only administrators can act as somebody else");
    }
    let form = asked.form();
    let acting = match form.text("user") {
        "" => real.sys_id.clone(),
        id => match desk.get("sys_user", id)? {
            Some(user) => user.sys_id,
            None => return refused(StatusCode::NOT_FOUND, "there is no such user"),
        },
    };
    let mut reply = Reply::json(StatusCode::OK, &json!({"acting": acting}));
    reply.cookie = Some(visitor::cookie(asked, &real.sys_id, &acting));
    Ok(reply)
}
