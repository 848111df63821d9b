//! Orders: what is in the visitor's cart, and the request that an order becomes.
//!
//! ```text
//! item page -> order now ---------------> request -> checkout page
//!           -> add to cart -> cart page -> request
//! ```

use std::collections::BTreeMap;

use axum::http::{Method, StatusCode};
use minijinja::{Value, context};
use rusqlite::params;
use rusqlite::types::Type;

use super::catalogue::{self, Offer};
use super::{Page, Result, layout};
use crate::itsm::golden;
use crate::itsm::http::Reply;
use crate::itsm::seed::{Choosable, Control, Record};
use crate::web::Fields;

const CART: &str = "/com.glideapp.servicecatalog_cart_view.do";
const CHECKOUT: &str = "/com.glideapp.servicecatalog_checkout_view_v2.do?v=1&sysparm_sys_id=";
/// The greatest quantity of one item.
pub(super) const MOST: u32 = 10;
const WRONG_QUANTITY: &str = "The quantity is a number from 1 to 10.";

/// An item that somebody wants.
struct Line<'a> {
    offer: Offer<'a>,
    quantity: u32,
    /// The value of each option, by the option's id.
    values: BTreeMap<String, String>,
}

/// A line of the cart.
struct Row<'a> {
    number: i64,
    line: Line<'a>,
}

/// The form of an item: it is ordered, or goes into the cart.
pub(super) fn submit(page: &Page<'_>) -> Result {
    if page.asked.method != Method::POST {
        return Ok(Reply::redirect(catalogue::HOME));
    }
    let form = page.asked.form();
    let Some(offer) = catalogue::offer(page, form.text("item"))? else {
        return page.refused(StatusCode::NOT_FOUND, "There is no such item in the catalog.");
    };
    let Some(quantity) = quantity(&form) else {
        return page.refused(StatusCode::BAD_REQUEST, WRONG_QUANTITY);
    };
    let values = values(&form, offer.options);
    if form.text("act") == "cart" {
        let values = golden::json(&values)?;
        page.desk.db.execute(
            "insert into cart (owner, item, quantity, options) values (?1, ?2, ?3, ?4)",
            params![page.visitor.acting.sys_id, offer.id, quantity, values],
        )?;
        return Ok(Reply::redirect(CART));
    }
    place(page, &[Line { offer, quantity, values }])
}

/// The cart, and what is done to it.
pub(super) fn cart(page: &Page<'_>) -> Result {
    if page.asked.method == Method::POST {
        return change(page);
    }
    let rows = rows(page)?;
    let lines: Vec<Value> = rows
        .iter()
        .map(|row| {
            let options = row.line.offer.options;
            let values = |option: &Choosable| row.line.values.get(&option.id).cloned();
            context! {
                number => row.number,
                id => row.line.offer.id.clone(),
                name => row.line.offer.name.clone(),
                description => row.line.offer.description.clone(),
                quantity => row.line.quantity,
                options => pairs(options, values),
            }
        })
        .collect();
    layout::draw(page, "cart.html", context! { lines, most => MOST, in_cart => rows.len() })
}

fn change(page: &Page<'_>) -> Result {
    let (form, owner) = (page.asked.form(), &page.visitor.acting.sys_id);
    let line = form.number("line").unwrap_or_default();
    match form.text("act") {
        "change" => {
            let Some(quantity) = quantity(&form) else {
                return page.refused(StatusCode::BAD_REQUEST, WRONG_QUANTITY);
            };
            page.desk.db.execute(
                "update cart set quantity = ?3 where id = ?1 and owner = ?2",
                params![line, owner, quantity],
            )?;
        }
        "remove" => {
            page.desk
                .db
                .execute("delete from cart where id = ?1 and owner = ?2", params![line, owner])?;
        }
        "check_out" => {
            let lines: Vec<Line<'_>> = rows(page)?.into_iter().map(|row| row.line).collect();
            if !lines.is_empty() {
                page.desk.db.execute("delete from cart where owner = ?1", [owner])?;
                return place(page, &lines);
            }
        }
        _ => {}
    }
    Ok(Reply::redirect(CART))
}

/// The lines of the visitor's cart that can still be ordered.
fn rows<'a>(page: &Page<'a>) -> Result<Vec<Row<'a>>> {
    let mut statement = page.desk.db.prepare_cached(
        "select id, item, quantity, options from cart where owner = ?1 order by id",
    )?;
    let found = statement.query_map([&page.visitor.acting.sys_id], |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get::<_, String>(3)?))
    })?;
    let mut rows = Vec::new();
    for row in found {
        let (number, item, quantity, values) = row?;
        if let Some(offer) = catalogue::offer(page, &item)? {
            let values = serde_json::from_str(&values).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(3, Type::Text, error.into())
            })?;
            rows.push(Row { number, line: Line { offer, quantity, values } });
        }
    }
    Ok(rows)
}

/// How many lines the visitor's cart has.
pub(super) fn in_cart(page: &Page<'_>) -> Result<usize> {
    Ok(rows(page)?.len())
}

/// Makes the request with its items and their options.
fn place(page: &Page<'_>, lines: &[Line<'_>]) -> Result {
    let (desk, by) = (page.desk, page.visitor.user_name());
    let visitor = &page.visitor.acting.sys_id;
    let request = [("requested_for", visitor), ("opened_by", visitor)];
    let request = desk.insert("sc_request", fields(request), None, by)?;
    for line in lines {
        let item = [
            ("request", &request.sys_id),
            ("cat_item", &line.offer.id),
            ("short_description", &line.offer.description),
            ("quantity", &line.quantity.to_string()),
            ("requested_for", visitor),
            ("opened_by", visitor),
        ];
        let item = desk.insert("sc_req_item", fields(item), None, by)?;
        for option in line.offer.options {
            let value = line.values.get(&option.id).cloned().unwrap_or_default();
            let answer = [("item_option_new", &option.id), ("value", &value)];
            let answer = desk.insert("sc_item_option", fields(answer), None, by)?;
            let link = [("request_item", &item.sys_id), ("sc_item_option", &answer.sys_id)];
            desk.insert("sc_item_option_mtom", fields(link), None, by)?;
        }
    }
    Ok(Reply::redirect(format!("{CHECKOUT}{}", request.sys_id)))
}

fn fields<const N: usize>(pairs: [(&str, &String); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}

/// What has been ordered.
pub(super) fn checkout(page: &Page<'_>) -> Result {
    let id = page.asked.query.text("sysparm_sys_id");
    let Some(request) = page.desk.get("sc_request", id)? else {
        return page.refused(StatusCode::NOT_FOUND, "There is no such request.");
    };
    let mut records = page.desk.records("sc_req_item")?;
    records.retain(|record| record.text("request") == request.sys_id);
    let answers = page.desk.records("sc_item_option_mtom")?;
    let mut items = Vec::new();
    for record in &records {
        items.push(ordered(page, record, &answers)?);
    }
    layout::draw(
        page,
        "checkout.html",
        context! {
            id => request.sys_id.clone(),
            number => request.text("number"),
            opened_at => request.text("opened_at"),
            requested_for => page.desk.shown_of(&request, "requested_for")?,
            items,
            in_cart => in_cart(page)?,
        },
    )
}

/// An item of a request. `answers` are the links to the values of options of all items.
fn ordered(page: &Page<'_>, item: &Record, answers: &[Record]) -> Result<Value> {
    let offer = catalogue::offer(page, item.text("cat_item"))?;
    let mut values = BTreeMap::new();
    for link in answers.iter().filter(|link| link.text("request_item") == item.sys_id) {
        let option = page.desk.value(link, "sc_item_option.item_option_new")?;
        values.insert(option, page.desk.value(link, "sc_item_option.value")?);
    }
    let options = offer.as_ref().map_or(&[] as &[Choosable], |offer| offer.options);
    Ok(context! {
        id => item.sys_id.clone(),
        number => item.text("number"),
        name => offer.as_ref().map(|offer| offer.name.clone()),
        description => item.text("short_description"),
        quantity => item.text("quantity"),
        stage => page.desk.shown_of(item, "stage")?,
        options => pairs(options, |option| values.get(&option.id).cloned()),
    })
}

fn quantity(form: &Fields) -> Option<u32> {
    let number = u32::try_from(form.number("quantity")?).ok()?;
    (1..=MOST).contains(&number).then_some(number)
}

/// The values that a form gives to the options of an item. What is no choice is left out.
fn values(form: &Fields, options: &[Choosable]) -> BTreeMap<String, String> {
    let value = |option: &Choosable| {
        let given = form.text(&catalogue::field_name(option)).to_owned();
        match option.control {
            Control::CheckBox => (given == "true").to_string(),
            Control::Radio | Control::Select => {
                let is_choice = option.choices.iter().any(|label| value_of(label) == given);
                if is_choice { given } else { String::new() }
            }
            Control::Text | Control::TextArea => given,
        }
    };
    options.iter().map(|option| (option.id.clone(), value(option))).collect()
}

/// The stored value of a choice: `space_grey` for `Space Grey`.
pub(super) fn value_of(label: &str) -> String {
    label.to_lowercase().replace(' ', "_")
}

/// Labels and values of options, as people see them.
fn pairs(options: &[Choosable], value: impl Fn(&Choosable) -> Option<String>) -> Vec<Value> {
    let shown = |option: &Choosable| {
        let value = value(option).unwrap_or_default();
        let label = option.choices.iter().find(|label| value_of(label) == value);
        match (option.control, value.as_str()) {
            (Control::CheckBox, "true") => "Yes".to_owned(),
            (Control::CheckBox, _) => "No".to_owned(),
            _ => label.cloned().unwrap_or(value),
        }
    };
    let pair = |option: &Choosable| context! { label => &option.label, value => shown(option) };
    options.iter().map(pair).collect()
}
