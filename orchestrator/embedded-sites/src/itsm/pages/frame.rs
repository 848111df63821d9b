//! The frame page: the header with the navigator, and the page that it shows.

use minijinja::context;
use percent_encoding::percent_decode_str;
use serde::Serialize;

use super::{Page, Result, layout};

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
    layout::draw(page, "frame.html", context! { inner, visitor, menu })
}
