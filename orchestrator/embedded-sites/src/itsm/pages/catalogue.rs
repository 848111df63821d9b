//! The catalogue: its home page, the items of a category, and an item with its options.
//!
//! An item is a record of `sc_cat_item`; what its page says and which options it has stand in the
//! golden state. A record that was made later has no options.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::http::StatusCode;
use minijinja::{Value, context};
use serde::Serialize;

use super::{Page, Result, layout, order};
use crate::itsm::seed::{Choosable, Control, Record};

/// The home page, in the view that the package opens.
pub(super) const HOME: &str = "/catalog_home.do?sysparm_view=catalog_default";
/// Items in the panel of what is ordered most.
const TOP: usize = 5;
/// The category that the package looks for: one link of the home page has this word.
const HARDWARE: &str = "hardware";

/// An item as pages show it.
pub(super) struct Offer<'a> {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) category: String,
    pub(super) options: &'a [Choosable],
}

/// An option as the page's script knows it.
#[derive(Serialize)]
struct Field<'a> {
    id: String,
    label: &'a str,
    control: &'static str,
}

pub(super) fn home(page: &Page<'_>) -> Result {
    let offers = offers(page)?;
    let count = |id: &str| offers.iter().filter(|offer| offer.category == id).count();
    let mut categories = page.desk.records("sc_category")?;
    categories.retain(|category| {
        category.text("active") != "false"
            && (count(&category.sys_id) > 0 || !names_hardware(category.text("title")))
    });
    categories.sort_by_key(|category| {
        (count(&category.sys_id) == 0, category.text("title").to_lowercase())
    });
    let categories: Vec<Value> = categories
        .iter()
        .map(|category| {
            context! {
                id => category.sys_id.clone(),
                title => category.text("title"),
                description => category.text("description"),
                count => count(&category.sys_id),
            }
        })
        .collect();
    let top: Vec<Value> = most_ordered(page, &offers)?.into_iter().map(shown).collect();
    layout::draw(
        page,
        "catalogue.html",
        context! { categories, top, in_cart => order::in_cart(page)? },
    )
}

pub(super) fn category(page: &Page<'_>) -> Result {
    let id = page.asked.query.text("sysparm_parent");
    let Some(category) = page.desk.get("sc_category", id)? else {
        return page.refused(StatusCode::NOT_FOUND, "There is no such category.");
    };
    let mut offers = offers(page)?;
    offers.retain(|offer| offer.category == id);
    let offers: Vec<Value> = offers.iter().map(shown).collect();
    layout::draw(
        page,
        "category.html",
        context! {
            title => category.text("title"),
            description => category.text("description"),
            offers,
            in_cart => order::in_cart(page)?,
        },
    )
}

/// The items whose names or descriptions have all words of a search.
pub(super) fn find(page: &Page<'_>) -> Result {
    let wanted = page.asked.query.text("sysparm_search").trim();
    let words = wanted.to_lowercase();
    let mut offers = offers(page)?;
    offers.retain(|offer| {
        let text = format!("{} {}", offer.name, offer.description).to_lowercase();
        words.split_whitespace().all(|word| text.contains(word))
    });
    let offers: Vec<Value> = offers.iter().map(shown).collect();
    layout::draw(
        page,
        "category.html",
        context! { title => format!("Items with “{wanted}”"), offers, in_cart => order::in_cart(page)? },
    )
}

pub(super) fn item(page: &Page<'_>) -> Result {
    let Some(offer) = offer(page, page.asked.query.text("sysparm_id"))? else {
        return page.refused(StatusCode::NOT_FOUND, "There is no such item in the catalog.");
    };
    let category = page.desk.get("sc_category", &offer.category)?;
    let fields: Vec<Field<'_>> = offer
        .options
        .iter()
        .map(|option| Field {
            id: field_name(option),
            label: &option.label,
            control: control_name(option.control),
        })
        .collect();
    let options: Vec<Value> = offer
        .options
        .iter()
        .map(|option| {
            let choices: Vec<Value> = option
                .choices
                .iter()
                .map(|label| context! { label, value => order::value_of(label) })
                .collect();
            context! {
                id => field_name(option),
                label => option.label.clone(),
                control => control_name(option.control),
                choices,
            }
        })
        .collect();
    layout::draw(
        page,
        "item.html",
        context! {
            item => shown(&offer),
            category => category.map(|category| context! {
                id => category.sys_id.clone(),
                title => category.text("title"),
            }),
            options,
            fields => layout::data(&fields)?,
            most => order::MOST,
            in_cart => order::in_cart(page)?,
        },
    )
}

/// All items that can be ordered, by name.
fn offers<'a>(page: &Page<'a>) -> Result<Vec<Offer<'a>>> {
    let mut records = page.desk.records("sc_cat_item")?;
    records.retain(|record| record.text("active") != "false");
    let mut offers: Vec<Offer<'_>> = records.iter().map(|record| offer_of(page, record)).collect();
    offers.sort_by_key(|offer| offer.name.to_lowercase());
    Ok(offers)
}

/// The item with this id, if it can be ordered.
pub(super) fn offer<'a>(page: &Page<'a>, id: &str) -> Result<Option<Offer<'a>>> {
    let record = page.desk.get("sc_cat_item", id)?;
    let record = record.filter(|record| record.text("active") != "false");
    Ok(record.map(|record| offer_of(page, &record)))
}

fn offer_of<'a>(page: &Page<'a>, record: &Record) -> Offer<'a> {
    let known = page.desk.fixed.catalogue.iter().find(|item| item.id == record.sys_id);
    match known {
        Some(item) => Offer {
            id: item.id.clone(),
            name: item.name.clone(),
            description: item.description.clone(),
            category: item.category.clone(),
            options: &item.options,
        },
        None => Offer {
            id: record.sys_id.clone(),
            name: record.text("name").to_owned(),
            description: record.text("short_description").to_owned(),
            category: record.text("category").to_owned(),
            options: &[],
        },
    }
}

fn shown(offer: &Offer<'_>) -> Value {
    context! {
        id => offer.id.clone(),
        name => offer.name.clone(),
        description => offer.description.clone(),
    }
}

/// What was ordered most often; of the same number first what has options, by name.
fn most_ordered<'a, 'b>(page: &Page<'_>, offers: &'b [Offer<'a>]) -> Result<Vec<&'b Offer<'a>>> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for record in page.desk.records("sc_req_item")? {
        *counts.entry(record.text("cat_item").to_owned()).or_default() += 1;
    }
    let mut top: Vec<&Offer<'_>> =
        offers.iter().filter(|offer| !names_hardware(&offer.name)).collect();
    top.sort_by_key(|offer| {
        (Reverse(counts.get(&offer.id).copied().unwrap_or(0)), offer.options.is_empty())
    });
    top.truncate(TOP);
    Ok(top)
}

fn names_hardware(text: &str) -> bool {
    text.to_lowercase().contains(HARDWARE)
}

/// The name that the control of an option has.
pub(super) fn field_name(option: &Choosable) -> String {
    format!("IO:{}", option.id)
}

/// As templates and scripts know it.
fn control_name(control: Control) -> &'static str {
    match control {
        Control::Text => "text",
        Control::TextArea => "text_area",
        Control::CheckBox => "check_box",
        Control::Radio => "radio",
        Control::Select => "select",
    }
}
