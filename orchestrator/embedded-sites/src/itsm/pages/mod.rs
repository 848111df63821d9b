//! What answers each address.
//!
//! The frame page holds the navigator and an `iframe`; all other pages are shown within it. Each
//! inner page has the name of the platform's page in its path, because the package looks for it.

mod assets;
mod catalogue;
mod change_landing;
mod charts;
mod form;
mod frame;
mod interface;
mod knowledge;
mod layout;
mod list;
mod log_in;
mod nothing;
mod order;

use axum::http::StatusCode;
use percent_encoding::percent_decode_str;

use super::http::{Asked, Reply};
use super::store::Desk;
use super::table_api;
use super::visitor::{self, Visitor};
use crate::web::Failure;

/// What a page is made from.
pub(super) struct Page<'a> {
    pub(super) desk: &'a Desk<'a>,
    pub(super) asked: &'a Asked<'a>,
    pub(super) visitor: Visitor,
}

type Result<T = Reply> = std::result::Result<T, Failure>;

pub(super) fn answer(desk: &Desk<'_>, asked: &Asked<'_>) -> Result {
    if let Some(name) = asked.path.strip_prefix("/assets/") {
        return Ok(assets::answer(name));
    }
    if let Some(path) = asked.path.strip_prefix("/api/now/") {
        return Ok(table_api::answer(desk, asked, path)?);
    }
    match asked.path.as_str() {
        "/login.do" | "/login" => return log_in::answer(desk, asked),
        "/logout.do" => return Ok(visitor::end("/login.do")),
        _ => {}
    }
    let Some(visitor) = visitor::by_session(desk, asked)? else {
        return Ok(Reply::redirect("/login.do"));
    };
    route(&Page { desk, asked, visitor })
}

fn route(page: &Page<'_>) -> Result {
    if let Some(target) = page.asked.path.strip_prefix(frame::TARGET) {
        return frame::show(page, Some(target));
    }
    if let Some(path) = page.asked.path.strip_prefix("/desk/") {
        return interface::answer(page, path);
    }
    let path = percent_decode_str(&page.asked.path).decode_utf8_lossy();
    match &*path {
        "/" => return Ok(Reply::redirect(frame::HOME)),
        frame::HOME => return frame::show(page, None),
        "/catalog_home.do" => return catalogue::home(page),
        "/catalog_find.do" => return catalogue::find(page),
        "/com.glideapp.servicecatalog_category_view.do" => return catalogue::category(page),
        "/com.glideapp.servicecatalog_cat_item_view.do" => return catalogue::item(page),
        "/com.glideapp.servicecatalog_cat_item_submit.do" => return order::submit(page),
        "/com.glideapp.servicecatalog_cart_view.do" => return order::cart(page),
        "/com.glideapp.servicecatalog_checkout_view_v2.do" => return order::checkout(page),
        "/kb" => return knowledge::show(page),
        "/kb_view.do" => return knowledge::article(page),
        "/$knowledge.do" => return knowledge::home(page),
        "/$pa_dashboard.do" => return charts::dashboard(page),
        "/$pa_dashboards_overview.do" => return charts::list(page),
        "/sn_chg_model_ui_landing.do" => return change_landing::show(page),
        "/sys_report_template.do" => return charts::report(page),
        _ => {}
    }
    // Before lists: there are tables whose names end in `_list`.
    let table = path.strip_prefix('/').and_then(|path| path.strip_suffix(".do"));
    if let Some(table) = table.filter(|table| page.desk.schema().table(table).is_some()) {
        return form::show(page, table);
    }
    if let Some(table) = path.strip_prefix('/').and_then(|path| path.strip_suffix("_list.do")) {
        return list::show(page, table);
    }
    nothing::show(page, &path)
}

impl Page<'_> {
    /// A page that says what is wrong.
    fn refused(&self, status: StatusCode, text: &str) -> Result {
        let mut reply = nothing::message(self, "Not available", text)?;
        reply.status = status;
        Ok(reply)
    }
}
