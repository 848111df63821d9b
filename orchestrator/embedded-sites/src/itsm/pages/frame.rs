//! The frame page: the header with the navigator, and the page that it shows.

use minijinja::{Value, context};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use serde::Serialize;

use super::{Page, Result, layout};
use crate::itsm::select::select;

pub(super) const HOME: &str = "/now/nav/ui/home";
/// What comes before the inner page's address.
pub(super) const TARGET: &str = "/now/nav/ui/classic/params/target/";

/// What scripts of the frame page know of the visitor.
#[derive(Serialize)]
struct Visitor<'a> {
    id: &'a str,
    user_name: &'a str,
    name: &'a str,
    is_impersonating: bool,
}

/// `target` is the rest of the path as it came. It is decoded once, however much of it is encoded:
/// what is left belongs to the inner page's own query.
pub(super) fn show(page: &Page<'_>, target: Option<&str>) -> Result {
    let inner = target.map(|target| {
        let decoded = percent_decode_str(target).decode_utf8_lossy();
        let query = page.asked.raw_query.as_ref().map(|query| format!("?{query}"));
        // Two slashes would lead to another host.
        let path = decoded.trim_start_matches(['/', '\\']);
        format!("/{path}{}", query.unwrap_or_default())
    });
    let user = &page.visitor.acting;
    let visitor = Visitor {
        id: &user.sys_id,
        user_name: user.text("user_name"),
        name: user.text("name"),
        is_impersonating: page.visitor.is_impersonating(),
    };
    let (visitor, menu) = (layout::data(&visitor)?, layout::data(&page.desk.fixed.menu)?);
    let home = if inner.is_none() { Some(home(page)?) } else { None };
    layout::draw(page, "frame.html", context! { inner, visitor, menu, home })
}

/// The lists that the home page counts, each with a query.
const COUNTED: [(&str, &str, &str); 4] = [
    ("Open incidents", "incident", "active=true"),
    ("Open problems", "problem", "active=true"),
    ("Open changes", "change_request", "active=true"),
    ("Requested items", "sc_req_item", "active=true"),
];
/// The tasks of the visitor that the home page lists.
const OWN: usize = 8;

fn home(page: &Page<'_>) -> Result<Value> {
    let (desk, me) = (page.desk, &page.visitor.acting.sys_id);
    let mut tiles = Vec::new();
    for (label, table, query) in COUNTED {
        let count = select(desk, table, query, me)?.len();
        let inner = format!("{table}_list.do?sysparm_query={query}");
        tiles.push(context! { label, count, address => within(&inner) });
    }
    let mut own = Vec::new();
    for task in select(desk, "task", &format!("active=true^assigned_to={me}"), me)?.iter().take(OWN)
    {
        own.push(context! {
            number => task.value("number"),
            text => task.value("short_description"),
            state => desk.shown_of(task, "state")?,
            address => within(&format!("{}.do?sys_id={}", task.table, task.sys_id)),
        });
    }
    Ok(context! { tiles, own })
}

/// The address of the frame page with an inner page.
fn within(inner: &str) -> String {
    format!("{TARGET}{}", percent_encode(inner.as_bytes(), NON_ALPHANUMERIC))
}
