//! The last step: what every record has, whoever made it.

use std::collections::BTreeSet;

use super::Record;
use super::builder::{ADMIN, Builder, id};
use crate::itsm::schema::{Choice, Schema};

/// Fills in classes, stamps and numbers. Every record is older than [`super::REPORT_DATE`].
pub(super) fn finish(world: &mut Builder) {
    classes(&mut world.schema);
    number(world);
    let schema = &world.schema;
    for record in &mut world.records {
        stamp(schema, record);
    }
}

/// The choices of the column `sys_class_name` are the tables that extend its table.
fn classes(schema: &mut Schema) {
    let has_class = |table: &&crate::itsm::schema::Table| {
        table.columns.iter().any(|column| column.name == "sys_class_name")
    };
    let roots: Vec<String> =
        schema.tables().filter(has_class).map(|one| one.name.clone()).collect();
    for root in roots {
        let family = schema.family(&root).into_iter().filter_map(|name| schema.table(name));
        let choices = family
            .map(|table| Choice { value: table.name.clone(), label: table.label.clone() })
            .collect();
        let column = schema.table_mut(&root).and_then(|table| {
            table.columns.iter_mut().find(|column| column.name == "sys_class_name")
        });
        if let Some(column) = column {
            column.choices = choices;
        }
    }
}

/// Numbers the records that have none, beyond those that are taken.
fn number(world: &mut Builder) {
    let taken: BTreeSet<String> =
        world.records.iter().filter_map(|record| record.fields.get("number").cloned()).collect();
    let mut next = 1_000_000;
    for record in &mut world.records {
        let Some(prefix) = world.schema.prefix(&record.table) else { continue };
        if record.fields.contains_key("number") {
            continue;
        }
        let free = (next..).find(|count| !taken.contains(&format!("{prefix}{count:07}")));
        next = free.unwrap_or(next) + 1;
        record.fields.insert("number".to_owned(), format!("{prefix}{:07}", next - 1));
    }
}

fn stamp(schema: &Schema, record: &mut Record) {
    let (table, sys_id) = (record.table.clone(), record.sys_id.clone());
    let has = |name: &str| schema.column(&table, name).is_some();
    let mut fill = |name: &str, value: &str| {
        if has(name) && !value.is_empty() {
            record.fields.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
        record.fields.get(name).cloned().unwrap_or_default()
    };
    if has("sys_class_name") {
        fill("sys_class_name", &table);
    }
    let opened = fill("opened_at", "");
    let created = fill("sys_created_on", if opened.is_empty() { "" } else { &opened });
    let created =
        if created.is_empty() { fill("sys_created_on", &some_day(&sys_id)) } else { created };
    fill("opened_at", &created);
    fill("sys_created_by", ADMIN);
    fill("sys_updated_on", &created);
    fill("sys_updated_by", ADMIN);
    fill("sys_mod_count", "0");
    let number = fill("number", "");
    fill("task_effective_number", &number);
}

/// A moment in 2024 that follows from a record's id.
fn some_day(sys_id: &str) -> String {
    let digits = id("day", sys_id);
    let part = |at: usize, below: u32| {
        let text = digits.get(at..at + 4).unwrap_or_default();
        u32::from_str_radix(text, 16).unwrap_or_default() % below
    };
    let (month, day) = (part(0, 12) + 1, part(4, 28) + 1);
    format!("2024-{month:02}-{day:02} {:02}:{:02}:{:02}", part(8, 24), part(12, 60), part(16, 60))
}
