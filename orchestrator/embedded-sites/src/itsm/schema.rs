//! The tables of the desk: columns, choices, references, lists and forms.
//!
//! A table may have a parent, whose columns it has too; a list or a query of the parent shows the
//! records of its children. The schema is made with the golden database and stored in it, because
//! most labels come from the user's data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All tables, by name.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Schema {
    tables: BTreeMap<String, Table>,
}

/// A table, such as `incident`.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Table {
    pub(super) name: String,
    /// The label of one record, such as `Incident`.
    pub(super) label: String,
    /// The label of its list, such as `Incidents`.
    pub(super) plural: String,
    /// The table that it extends.
    pub(super) parent: Option<String>,
    /// The column that stands for a record in lists, references and titles. Empty: the parent's.
    pub(super) display: String,
    /// What its numbers begin with, such as `INC`; `None` if its records have no number.
    pub(super) prefix: Option<String>,
    /// Its own columns. A column of the same name in a parent is replaced.
    pub(super) columns: Vec<Column>,
    /// The columns that its list shows. Empty: the display column, and some of its own.
    pub(super) list: Vec<String>,
    /// The fields of its form. Empty: its own columns in one section.
    pub(super) form: Vec<Section>,
}

/// A group of fields of a form. The first one is always shown; the others are tabs.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) fields: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) label: String,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) kind: Kind,
    /// The kind that the interface names where it is not [`Kind::name`], such as `email`.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) internal: Option<String>,
    /// The table that a reference leads to.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) reference: Option<String>,
    /// The choices, in the order of the menu. The empty one is listed only if it has a label other
    /// than `-- None --`.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) choices: Vec<Choice>,
    /// Choices of old records: they have a label, and no menu offers them.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) former: Vec<Choice>,
    /// Characters at most; 0 is without a limit.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) max_length: u32,
    /// A form is not saved without it.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) mandatory: bool,
    /// Forms show it, and take no value.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) read_only: bool,
    /// The column on which the choices depend.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) dependent_on: Option<String>,
    /// The value of a new record.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) default: String,
}

/// Whether a detail need not be stored.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A value that is stored, and what people see.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) label: String,
}

/// What a column holds. All values are texts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A line of text.
    #[default]
    String,
    /// Several lines of text.
    Text,
    /// `true` or `false`.
    Boolean,
    Integer,
    Decimal,
    /// One of the choices.
    Choice,
    /// The `sys_id` of a record.
    Reference,
    /// `sys_id`s with commas between them.
    List,
    /// `YYYY-MM-DD`.
    Date,
    /// `YYYY-MM-DD hh:mm:ss`, in UTC.
    DateTime,
    Email,
    Phone,
    /// HTML.
    Html,
    /// A length of time.
    Duration,
}

impl Kind {
    /// As the interface names it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::String | Kind::Text => "string",
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Decimal => "decimal",
            Kind::Choice => "choice",
            Kind::Reference => "reference",
            Kind::List => "glide_list",
            Kind::Date => "glide_date",
            Kind::DateTime => "glide_date_time",
            Kind::Email => "email",
            Kind::Phone => "ph_number",
            Kind::Html => "html",
            Kind::Duration => "glide_duration",
        }
    }
}

impl Column {
    /// A column without choices.
    pub(super) fn new(name: &str, label: &str, kind: Kind) -> Column {
        Column { name: name.to_owned(), label: label.to_owned(), kind, ..Column::default() }
    }

    /// What people see for a stored value of a column that is no reference. Nothing is shown for
    /// an empty value.
    pub(super) fn shown<'a>(&'a self, value: &'a str) -> &'a str {
        let mut all = self.choices.iter().chain(&self.former).filter(|_| !value.is_empty());
        all.find(|choice| choice.value == value).map_or(value, |found| &found.label)
    }
}

impl Schema {
    /// Adds or replaces a table.
    pub(super) fn add(&mut self, table: Table) {
        self.tables.insert(table.name.clone(), table);
    }

    pub(super) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    pub(super) fn table_mut(&mut self, name: &str) -> Option<&mut Table> {
        self.tables.get_mut(name)
    }

    /// All tables in the order of their names.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values()
    }

    /// The table and those that it extends, from itself upwards.
    pub(super) fn lineage(&self, name: &str) -> Vec<&Table> {
        let mut found: Vec<&Table> = Vec::new();
        let mut next = self.table(name);
        while let Some(table) = next.filter(|table| !found.iter().any(|one| one.name == table.name))
        {
            found.push(table);
            next = table.parent.as_deref().and_then(|parent| self.table(parent));
        }
        found
    }

    /// The table and all that extend it.
    pub(super) fn family(&self, name: &str) -> Vec<&str> {
        let is_of = |table: &&Table| self.lineage(&table.name).iter().any(|one| one.name == name);
        self.tables().filter(is_of).map(|table| table.name.as_str()).collect()
    }

    /// Whether a table is another one or extends it.
    pub(super) fn is_a(&self, table: &str, other: &str) -> bool {
        table == other || self.lineage(table).iter().any(|one| one.name == other)
    }

    /// The columns of a table: its own, then those of its parents.
    pub(super) fn columns(&self, name: &str) -> Vec<&Column> {
        let mut found: Vec<&Column> = Vec::new();
        for column in self.lineage(name).into_iter().flat_map(|table| &table.columns) {
            if !found.iter().any(|one| one.name == column.name) {
                found.push(column);
            }
        }
        found
    }

    pub(super) fn column(&self, table: &str, name: &str) -> Option<&Column> {
        let mut all = self.lineage(table).into_iter().flat_map(|table| &table.columns);
        all.find(|column| column.name == name)
    }

    /// The values of a new record.
    pub(super) fn defaults(&self, table: &str) -> BTreeMap<String, String> {
        let columns = self.columns(table).into_iter().filter(|column| !column.default.is_empty());
        columns.map(|column| (column.name.clone(), column.default.clone())).collect()
    }

    /// The column that stands for a record.
    pub(super) fn display(&self, table: &str) -> &str {
        let lineage = self.lineage(table);
        let own = lineage.iter().map(|table| table.display.as_str()).find(|name| !name.is_empty());
        own.unwrap_or("sys_id")
    }

    /// The first table of the lineage that numbers its records.
    pub(super) fn prefix(&self, table: &str) -> Option<&str> {
        self.lineage(table).into_iter().find_map(|table| table.prefix.as_deref())
    }
}
