//! Tables that describe the tables. Their records are made from the schema.

use ring::digest::{SHA256, digest};

use super::schema::{Column, Kind, Schema, Table};
use super::seed::Record;

/// The tables, and the columns of each.
const TABLES: [(&str, &str, &[&str]); 3] = [
    ("sys_db_object", "Table", &["name", "label", "super_class"]),
    (
        "sys_dictionary",
        "Dictionary entry",
        &[
            "name",
            "element",
            "column_label",
            "internal_type",
            "reference",
            "dependent_on_field",
            "mandatory",
        ],
    ),
    ("sys_choice", "Choice", &["name", "element", "value", "label", "sequence"]),
];

/// Adds the tables to a schema.
pub(super) fn describe(schema: &mut Schema) {
    for (name, label, columns) in TABLES {
        let column = |name: &&str| Column::new(name, &name.replace('_', " "), Kind::String);
        schema.add(Table {
            name: name.to_owned(),
            label: label.to_owned(),
            plural: format!("{label}s"),
            display: columns[0].to_owned(),
            columns: columns.iter().map(column).collect(),
            ..Table::default()
        });
    }
}

/// The records of such a table; `None` for all others.
pub(super) fn records(schema: &Schema, table: &str) -> Option<Vec<Record>> {
    let mut found = Vec::new();
    match table {
        "sys_db_object" => {
            for one in schema.tables() {
                let parent = one.parent.as_deref().unwrap_or_default();
                let fields =
                    [("name", &*one.name), ("label", &*one.label), ("super_class", parent)];
                found.push(record(table, &one.name, &fields));
            }
        }
        "sys_dictionary" => {
            for one in schema.tables() {
                for column in &one.columns {
                    let fields = [
                        ("name", &*one.name),
                        ("element", &*column.name),
                        ("column_label", &*column.label),
                        ("internal_type", column.kind.name()),
                        ("reference", column.reference.as_deref().unwrap_or_default()),
                        ("dependent_on_field", column.dependent_on.as_deref().unwrap_or_default()),
                        ("mandatory", if column.mandatory { "true" } else { "false" }),
                    ];
                    found.push(record(table, &format!("{}.{}", one.name, column.name), &fields));
                }
            }
        }
        "sys_choice" => {
            for one in schema.tables() {
                for column in &one.columns {
                    for (number, choice) in column.choices.iter().enumerate() {
                        let sequence = number.to_string();
                        let fields = [
                            ("name", &*one.name),
                            ("element", &*column.name),
                            ("value", &*choice.value),
                            ("label", &*choice.label),
                            ("sequence", &*sequence),
                        ];
                        let key = format!("{}.{}={}", one.name, column.name, choice.value);
                        found.push(record(table, &key, &fields));
                    }
                }
            }
        }
        _ => return None,
    }
    Some(found)
}

fn record(table: &str, key: &str, fields: &[(&str, &str)]) -> Record {
    let id = digest(&SHA256, format!("{table} {key}").as_bytes());
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Record {
        table: table.to_owned(),
        sys_id: hex::encode(&id.as_ref()[..16]),
        fields: fields.collect(),
    }
}
