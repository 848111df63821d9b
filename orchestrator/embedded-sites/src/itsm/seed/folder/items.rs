//! The catalogue: items that tasks order, with their options, and the other items of lists.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::super::builder::{Builder, id};
use super::super::{Choosable, Control, Item};
use super::Folder;
use super::lists::{Filter, ReadList};
use crate::Error;

/// The tasks that order, a file for each item.
pub(super) const FILES: [&str; 9] = [
    "task_configs/order_apple_mac_book_pro15_task.json",
    "task_configs/order_apple_watch_task.json",
    "task_configs/order_developer_laptop_task.json",
    "task_configs/order_development_laptop_pc_task.json",
    "task_configs/order_ipad_mini_task.json",
    "task_configs/order_ipad_pro_task.json",
    "task_configs/order_loaner_laptop_task.json",
    "task_configs/order_sales_laptop_task.json",
    "task_configs/order_standard_laptop_task.json",
];

/// The category in which tasks look for items.
const CATEGORY: &str = "Hardware";
const CATALOG: &str = "Service Catalog";

/// Items whose records are called otherwise than their pages (`dash_do_base.py`): the name on the
/// page, `name`, and `sys_name`.
const RENAMED: [(&str, &str, &str); 2] = [
    ("Apple MacBook Pro 15", "Apple MacBook Pro 15\"", "Apple MacBook Pro 15\""),
    ("Loaner Laptop", "Loaner Laptop", "Notebook Computer Loaner"),
];
/// An item that the package's own tests open by its id.
const KNOWN: (&str, &str) = ("Apple Watch", "774906834fbb4200086eeed18110c737");

/// A task that orders an item.
#[derive(Deserialize)]
struct Order {
    item: String,
    description: String,
    /// By the option's label: the control, and the value.
    configuration: serde_json::Map<String, Value>,
}

/// Makes the items' records, and gives the catalogue.
pub(super) fn read(
    world: &mut Builder,
    folder: &Folder,
    lists: &[ReadList],
) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    for file in FILES {
        let orders: Vec<Order> = folder.json(file)?;
        let Some(first) = orders.first() else { continue };
        let options = options(&orders).map_err(|reason| folder.error(file, &reason))?;
        items.push(item(world, first, options));
    }
    let filters = lists.iter().filter(|list| list.table == "sc_cat_item");
    for (name, filter) in named(filters.flat_map(|list| &list.filters)) {
        if world.find("sc_cat_item", &name).is_none() {
            listed(world, &name, filter);
        }
    }
    Ok(items)
}

fn item(world: &mut Builder, order: &Order, options: Vec<Choosable>) -> Item {
    let renamed = RENAMED.iter().find(|(page, ..)| *page == order.item);
    let (name, sys_name) =
        renamed.map_or((order.item.as_str(), order.item.as_str()), |(_, name, sys)| (name, sys));
    if name == KNOWN.0 {
        world.know_id("sc_cat_item", name, KNOWN.1);
    }
    let index = record(world, name, sys_name, &order.description, CATEGORY);
    Item {
        id: world.records[index].sys_id.clone(),
        name: order.item.clone(),
        description: order.description.clone(),
        category: CATEGORY.to_owned(),
        options,
    }
}

fn record(world: &mut Builder, name: &str, sys_name: &str, about: &str, category: &str) -> usize {
    let catalog = world.reference("sc_catalog", CATALOG);
    let category = match category {
        "" => String::new(),
        category => world.reference("sc_category", category),
    };
    let kind = world.choice("sc_cat_item", "type", "Item");
    world.invent(
        "sc_cat_item",
        BTreeMap::from([
            ("name".to_owned(), name.to_owned()),
            ("sys_name".to_owned(), sys_name.to_owned()),
            ("short_description".to_owned(), about.to_owned()),
            ("category".to_owned(), category),
            ("sc_catalogs".to_owned(), catalog),
            ("type".to_owned(), kind),
            ("price".to_owned(), price(name)),
        ]),
    )
}

/// A price that follows from the name: the package has none.
fn price(name: &str) -> String {
    let digits = id("price", name);
    let number = digits.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    format!("{}.00", 15 + number.unwrap_or_default() % 1985)
}

/// The names in filters, with the first filter that has each.
fn named<'a>(filters: impl Iterator<Item = &'a Filter>) -> BTreeMap<String, &'a Filter> {
    let mut named = BTreeMap::new();
    for filter in filters {
        let name = filter.pairs().find(|(column, _)| *column == "name").map(|pair| pair.1);
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            named.entry(name.to_owned()).or_insert(filter);
        }
    }
    named
}

/// An item of the list that no task orders: a filter has values of one record.
fn listed(world: &mut Builder, name: &str, filter: &Filter) {
    let of = |column: &str| {
        filter.pairs().find(|pair| pair.0 == column).map_or("", |pair| pair.1).to_owned()
    };
    let (about, category, kind) = (of("short_description"), of("category"), of("type"));
    let index = record(world, name, name, &about, &category);
    let kind = world.choice("sc_cat_item", "type", &kind);
    let fields = &mut world.records[index].fields;
    if !kind.is_empty() {
        fields.insert("type".to_owned(), kind);
    }
    if of("active") == "false" {
        fields.insert("active".to_owned(), "false".to_owned());
    }
}

/// The options of an item, with all values that tasks choose. Numbers are in their order.
fn options(orders: &[Order]) -> Result<Vec<Choosable>, String> {
    let mut options: Vec<Choosable> = Vec::new();
    let mut values: Vec<BTreeSet<(u64, String)>> = Vec::new();
    for (label, value) in orders.iter().flat_map(|order| &order.configuration) {
        let (control, value) = chosen(value).ok_or_else(|| format!("{label} has no value"))?;
        let known = options.iter().position(|option| option.label == *label);
        let index = known.unwrap_or_else(|| {
            let label = label.clone();
            options.push(Choosable { id: String::new(), label, control, choices: Vec::new() });
            values.push(BTreeSet::new());
            options.len() - 1
        });
        if control == Control::Radio {
            values[index].insert((value.parse().unwrap_or_default(), value));
        }
    }
    for (option, values) in options.iter_mut().zip(values) {
        option.choices = values.into_iter().map(|one| one.1).collect();
    }
    Ok(options)
}

/// `["radio", "64"]`.
fn chosen(value: &Value) -> Option<(Control, String)> {
    let control = match value.get(0)?.as_str()? {
        "radio" => Control::Radio,
        "checkbox" => Control::CheckBox,
        "textarea" => Control::TextArea,
        "select" => Control::Select,
        "text" => Control::Text,
        _ => return None,
    };
    let value = value.get(1)?;
    Some((control, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
}
