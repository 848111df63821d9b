//! Tables that describe the tables. Their records are made from the schema.

use ring::digest::{SHA256, digest};

use super::schema::{Column, Kind, Schema, Table};
use super::seed::Record;

/// A table: its name, the labels of a record and of its list, its display column, and its columns.
type Described = (&'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

const TABLES: [Described; 3] = [
    ("sys_db_object", "Table", "Tables", "label", &["name", "label", "super_class"]),
    (
        "sys_dictionary",
        "Dictionary entry",
        "Dictionary entries",
        "column_label",
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
    (
        "sys_choice",
        "Choice",
        "Choices",
        "label",
        &["name", "element", "value", "label", "sequence"],
    ),
];

/// Adds these tables, which have no records of their own in the database.
pub(super) fn add(schema: &mut Schema) {
    for (name, label, plural, display, columns) in TABLES {
        let column = |name: &&str| {
            let label = name.replace('_', " ");
            Column { read_only: true, ..Column::new(name, &label, Kind::String) }
        };
        schema.add(Table {
            name: name.to_owned(),
            label: label.to_owned(),
            plural: plural.to_owned(),
            display: display.to_owned(),
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
