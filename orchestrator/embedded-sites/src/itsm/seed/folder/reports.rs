//! Records that reports count: each label that a question asks for is that of a record or more.

use std::collections::{BTreeMap, BTreeSet};

use super::super::builder::{ADMIN_NAME, Builder, id};
use crate::itsm::schema::Table;

/// What reports show for an empty value.
const EMPTY: &str = "(empty)";
/// Records of tables of which the user's data has none.
const CONTRACTS: usize = 60;
/// Records of a class that has none.
const OF_CLASS: usize = 7;

/// Changes and adds records until each column has its labels.
pub(super) fn fill(world: &mut Builder, counted: &BTreeMap<(String, String), BTreeSet<String>>) {
    contracts(world);
    // A child's column may be its parent's: the parent's comes first.
    let mut columns: Vec<_> = counted.iter().collect();
    columns.sort_by_key(|((table, _), _)| world.schema.lineage(table).len());
    for ((table, column), labels) in columns {
        if column == "sys_class_name" {
            classes(world, table, labels);
        } else {
            values(world, table, column, labels);
        }
    }
}

fn contracts(world: &mut Builder) {
    let vendors: Vec<String> =
        world.of("core_company").into_iter().map(|one| world.records[one].sys_id.clone()).collect();
    for number in 1..=CONTRACTS {
        let mut fields = BTreeMap::from([
            ("number".to_owned(), format!("CON{number:07}")),
            ("short_description".to_owned(), format!("Contract {number}")),
        ]);
        if let Some(vendor) = vendors.get(number % vendors.len().max(1)) {
            fields.insert("vendor".to_owned(), vendor.clone());
        }
        world.invent("ast_contract", fields);
    }
}

/// Gives records the values that no record has. They are taken from the most frequent value, and
/// never the last of it.
fn values(world: &mut Builder, table: &str, column: &str, labels: &BTreeSet<String>) {
    for (rank, label) in labels.iter().enumerate() {
        let value = match label.as_str() {
            EMPTY => String::new(),
            label => world.choice(table, column, label),
        };
        let by_value = by_value(world, table, column);
        if by_value.contains_key(&value) {
            continue;
        }
        let Some((_, mut most)) = by_value.into_iter().max_by_key(|one| one.1.len()) else {
            continue;
        };
        let count = (2 + rank).min(most.len().saturating_sub(1) / 2).max(1);
        most.sort_by_cached_key(|index| id(column, &world.records[*index].sys_id));
        for index in most.into_iter().take(count) {
            let fields = &mut world.records[index].fields;
            if value.is_empty() {
                fields.remove(column);
            } else {
                fields.insert(column.to_owned(), value.clone());
            }
        }
    }
}

/// The records of a table by their value in a column. The administrator stays as it is.
fn by_value(world: &Builder, table: &str, column: &str) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for index in world.of(table) {
        let fields = &world.records[index].fields;
        if fields.get("name").is_none_or(|name| name != ADMIN_NAME) {
            found.entry(fields.get(column).cloned().unwrap_or_default()).or_default().push(index);
        }
    }
    found
}

/// Makes records of the classes that a report must show.
fn classes(world: &mut Builder, root: &str, labels: &BTreeSet<String>) {
    for label in labels {
        let class = class(world, root, label);
        let has_one = world.records.iter().any(|record| record.table == class);
        if has_one {
            continue;
        }
        if world.schema.is_a(root, "alm_asset") {
            assets(world, &class);
            continue;
        }
        // Records of the root become ones of the class.
        let mut own: Vec<usize> = world.of(root);
        own.retain(|index| world.records[*index].table == root);
        own.retain(|index| !is_ordered(world, *index));
        own.sort_by_cached_key(|index| id(&class, &world.records[*index].sys_id));
        for index in own.into_iter().take(OF_CLASS) {
            world.records[index].table.clone_from(&class);
        }
    }
}

/// Whether tasks order the item: those stay plain items.
fn is_ordered(world: &Builder, index: usize) -> bool {
    let category = world.find("sc_category", "Hardware").map(|one| &world.records[one].sys_id);
    category.is_some() && world.records[index].fields.get("category") == category
}

/// The table with this label that is the root or extends it. One of ours that differs in capital
/// letters takes the label, and a table is added if there is none.
fn class(world: &mut Builder, root: &str, label: &str) -> String {
    let mut family = world.schema.family(root).into_iter();
    let is_it = |name: &&str| {
        world.schema.table(name).is_some_and(|table| table.label.eq_ignore_ascii_case(label))
    };
    if let Some(found) = family.find(is_it).map(str::to_owned) {
        if let Some(table) = world.schema.table_mut(&found) {
            label.clone_into(&mut table.label);
        }
        return found;
    }
    let name = format!("{root}_{}", label.to_lowercase().replace([' ', '-', '/'], "_"));
    world.schema.add(Table {
        name: name.clone(),
        label: label.to_owned(),
        plural: label.to_owned(),
        parent: Some(root.to_owned()),
        ..Table::default()
    });
    name
}

/// Assets of a class, with models of its category if it has one.
fn assets(world: &mut Builder, class: &str) {
    let category = world.of("cmdb_model_category").into_iter().find(|index| {
        world.records[*index].fields.get("asset_class").is_some_and(|one| one == class)
    });
    let category = category.map(|index| world.records[index].sys_id.clone());
    let mut models = world.of("cmdb_model");
    models.retain(|index| {
        category.is_none()
            || world.records[*index].fields.get("cmdb_model_category") == category.as_ref()
    });
    let models: Vec<(String, String)> = models
        .into_iter()
        .map(|index| &world.records[index])
        .map(|one| (one.sys_id.clone(), one.fields.get("name").cloned().unwrap_or_default()))
        .collect();
    for number in 0..OF_CLASS {
        let Some((model, name)) = models.get(number % models.len().max(1)) else { return };
        let letter = class.rsplit('_').next().and_then(|word| word.chars().next()).unwrap_or('x');
        let tag = format!("{}{:06}", letter.to_ascii_uppercase(), number + 1);
        let mut fields = BTreeMap::from([
            ("display_name".to_owned(), format!("{tag} - {name}")),
            ("asset_tag".to_owned(), tag),
            ("model".to_owned(), model.clone()),
        ]);
        if let Some(category) = &category {
            fields.insert("model_category".to_owned(), category.clone());
        }
        world.invent(class, fields);
    }
}
