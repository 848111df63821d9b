//! Our own base: the tables of the desk, the records that every desk has, and a small company with
//! its tickets for a desk without the user's folder.
//!
//! The views `sys_db_object`, `sys_dictionary` and `sys_choice` show the schema. They are no tables
//! and have no records here.

use std::collections::{BTreeMap, BTreeSet};

use ring::digest::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::builder::Builder;
use super::{Chart, Dashboard, Entry, Item};
use crate::Error;
use crate::itsm::schema::{Choice, Column, Kind, Schema, Section, Table};

const TABLES: &str = include_str!("tables.json");
/// Roles, themes, colours, properties and what tasks ask for by name.
const COMMON: &str = include_str!("common.json");
/// The company of a desk without a folder.
const COMPANY: &str = include_str!("company.json");
const CATALOGUE: &str = include_str!("catalogue.json");
const MENU: &str = include_str!("menu.json");
const CHARTS: &str = include_str!("charts.json");

/// Columns, by their kind. Texts are names with blanks between them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TableFile {
    name: String,
    label: String,
    plural: String,
    parent: Option<String>,
    display: String,
    prefix: Option<String>,
    string: String,
    text: String,
    html: String,
    journal: String,
    email: String,
    phone: String,
    boolean: String,
    integer: String,
    decimal: String,
    duration: String,
    date: String,
    date_time: String,
    /// The table that each leads to.
    list: BTreeMap<String, String>,
    reference: BTreeMap<String, String>,
    /// Texts that the interface gives another kind.
    internal: BTreeMap<String, String>,
    choice: BTreeMap<String, Vec<(String, String)>>,
    /// Choices of our company, which the user's data replaces.
    sample: BTreeMap<String, Vec<(String, String)>>,
    defaults: BTreeMap<String, String>,
    /// Labels other than the column's name with blanks.
    labels: BTreeMap<String, String>,
    mandatory: String,
    read_only: String,
    /// The column on which the choices of another depend.
    depends: BTreeMap<String, String>,
    list_columns: String,
    form: Vec<(String, String)>,
}

/// Records of a table: references by what is shown of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    table: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// What [`CHARTS`] holds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Charts {
    pub(super) dashboards: BTreeMap<String, Dashboard>,
    pub(super) reports: BTreeMap<String, Chart>,
}

/// A table and a column.
pub(super) type Place = (String, String);

/// The schema, and the columns whose choices are a sample.
pub(super) fn schema() -> Result<(Schema, BTreeSet<Place>), Error> {
    let files: Vec<TableFile> = own("tables of the desk", TABLES)?;
    let parents: BTreeSet<String> = files.iter().filter_map(|file| file.parent.clone()).collect();
    let (mut schema, mut samples) = (Schema::default(), BTreeSet::new());
    for file in files {
        samples.extend(file.sample.keys().map(|column| (file.name.clone(), column.clone())));
        let has_classes = parents.contains(&file.name);
        let table = file.table(has_classes, &schema)?;
        schema.add(table);
    }
    Ok((schema, samples))
}

/// The records that every desk has.
pub(super) fn common(world: &mut Builder) -> Result<(), Error> {
    insert(world, own("records of every desk", COMMON)?)
}

/// The company of a desk without a folder.
pub(super) fn company(world: &mut Builder) -> Result<(), Error> {
    insert(world, own("records of the company", COMPANY)?)
}

pub(super) fn catalogue() -> Result<Vec<Item>, Error> {
    own("catalogue", CATALOGUE)
}

pub(super) fn menu() -> Result<Vec<Entry>, Error> {
    own("menu", MENU)
}

pub(super) fn charts() -> Result<Charts, Error> {
    own("charts", CHARTS)
}

/// Adds all files of the base to a digest.
pub(super) fn digest(digest: &mut Context) {
    for text in [TABLES, COMMON, COMPANY, CATALOGUE, MENU, CHARTS] {
        digest.update(text.as_bytes());
    }
}

fn own<T: DeserializeOwned>(what: &'static str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::BuiltIn { what, reason: error.to_string() })
}

fn insert(world: &mut Builder, tables: Vec<Rows>) -> Result<(), Error> {
    for table in tables {
        for row in table.rows {
            if row.len() != table.columns.len() {
                let reason = format!("a row of {} has {} cells", table.table, row.len());
                return Err(Error::BuiltIn { what: "records of the desk", reason });
            }
            let cells = table.columns.iter().cloned().zip(row).filter(|(_, text)| !text.is_empty());
            world.insert_shown(&table.table, cells.collect())?;
        }
    }
    Ok(())
}

impl TableFile {
    /// A parent stands before its children in the file.
    fn table(self, has_classes: bool, schema: &Schema) -> Result<Table, Error> {
        let mut columns = self.columns(has_classes);
        for name in self.overridden() {
            if !columns.iter().any(|column| column.name == name) {
                columns.push(self.inherited(name, schema)?);
            }
        }
        for column in &mut columns {
            self.detail(column);
        }
        let sections = self.form.into_iter().map(|(title, names)| Section {
            title,
            fields: words(&names).map(str::to_owned).collect(),
        });
        Ok(Table {
            name: self.name,
            label: self.label,
            plural: self.plural,
            display: match (&self.parent, self.display.as_str()) {
                (None, "") => "name".to_owned(),
                _ => self.display,
            },
            parent: self.parent,
            prefix: self.prefix,
            columns,
            list: words(&self.list_columns).map(str::to_owned).collect(),
            form: sections.collect(),
        })
    }

    /// Columns about which the table says something, its own or its parent's.
    fn overridden(&self) -> impl Iterator<Item = &str> {
        let keys = self.labels.keys().chain(self.defaults.keys()).chain(self.depends.keys());
        let names = words(&self.mandatory).chain(words(&self.read_only));
        keys.map(String::as_str).chain(names)
    }

    fn inherited(&self, name: &str, schema: &Schema) -> Result<Column, Error> {
        let found = self.parent.as_deref().and_then(|parent| schema.column(parent, name));
        found.cloned().ok_or_else(|| Error::BuiltIn {
            what: "tables of the desk",
            reason: format!("{} has no column {name}", self.name),
        })
    }

    fn detail(&self, column: &mut Column) {
        if let Some(label) = self.labels.get(&column.name) {
            column.label.clone_from(label);
        }
        if let Some(value) = self.defaults.get(&column.name) {
            column.default.clone_from(value);
        }
        if let Some(other) = self.depends.get(&column.name) {
            column.dependent_on = Some(other.clone());
        }
        column.mandatory |= words(&self.mandatory).any(|name| name == column.name);
        column.read_only |= words(&self.read_only).any(|name| name == column.name);
    }

    fn columns(&self, has_classes: bool) -> Vec<Column> {
        let mut columns = Vec::new();
        for (kind, names) in [
            (Kind::String, &self.string),
            (Kind::Text, &self.text),
            (Kind::Html, &self.html),
            (Kind::Email, &self.email),
            (Kind::Phone, &self.phone),
            (Kind::Boolean, &self.boolean),
            (Kind::Integer, &self.integer),
            (Kind::Decimal, &self.decimal),
            (Kind::Duration, &self.duration),
            (Kind::Date, &self.date),
            (Kind::DateTime, &self.date_time),
        ] {
            columns.extend(words(names).map(|name| column(name, kind)));
        }
        for name in words(&self.journal) {
            let internal = Some("journal_input".to_owned());
            columns.push(Column { internal, ..column(name, Kind::Text) });
        }
        for (name, internal) in &self.internal {
            let internal = Some(internal.clone());
            columns.push(Column { internal, ..column(name, Kind::String) });
        }
        for (kind, targets) in [(Kind::List, &self.list), (Kind::Reference, &self.reference)] {
            columns.extend(targets.iter().map(|(name, table)| Column {
                reference: Some(table.clone()),
                ..column(name, kind)
            }));
        }
        for (name, choices) in self.choice.iter().chain(&self.sample) {
            let choices = choices.iter().map(|(value, label)| choice(value, label)).collect();
            columns.push(Column { choices, ..column(name, Kind::Choice) });
        }
        if self.parent.is_none() {
            columns.extend(system_columns(has_classes));
        }
        columns
    }
}

/// What every table has, and the class of tables that others extend.
pub(super) fn system_columns(has_classes: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::new("sys_created_on", "Created", Kind::DateTime),
        Column::new("sys_created_by", "Created by", Kind::String),
        Column::new("sys_updated_on", "Updated", Kind::DateTime),
        Column::new("sys_updated_by", "Updated by", Kind::String),
        Column::new("sys_mod_count", "Updates", Kind::Integer),
    ];
    if has_classes {
        columns.push(Column::new("sys_class_name", "Class", Kind::Choice));
    }
    for column in &mut columns {
        column.read_only = true;
    }
    columns
}

/// A column whose label is its name with blanks.
pub(super) fn column(name: &str, kind: Kind) -> Column {
    Column::new(name, &label(name), kind)
}

/// `Assigned to` for `assigned_to`.
pub(super) fn label(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first
        .into_iter()
        .chain(letters.map(|letter| if letter == '_' { ' ' } else { letter }))
        .collect()
}

fn choice(value: &str, label: &str) -> Choice {
    Choice { value: value.to_owned(), label: label.to_owned() }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}
