//! Lists that tasks filter and sort: their columns, and what is asked for in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};

use super::super::base;
use super::super::builder::Builder;
use super::Folder;
use crate::Error;
use crate::itsm::schema::{Choice, Column, Kind, Table};

/// A table whose list tasks filter and sort.
pub(super) struct List {
    pub(super) table: &'static str,
    filter: &'static str,
    sort: &'static str,
}

/// Parents stand before their children.
pub(super) const LISTS: [List; 6] = [
    List {
        table: "sys_user",
        filter: "task_configs/filter_user_list_task.json",
        sort: "task_configs/sort_user_list_task.json",
    },
    List {
        table: "sc_cat_item",
        filter: "task_configs/filter_service_catalog_item_list_task.json",
        sort: "task_configs/sort_service_catalog_item_list_task.json",
    },
    List {
        table: "alm_asset",
        filter: "task_configs/filter_asset_list_task.json",
        sort: "task_configs/sort_asset_list_task.json",
    },
    List {
        table: "alm_hardware",
        filter: "task_configs/filter_hardware_list_task.json",
        sort: "task_configs/sort_hardware_list_task.json",
    },
    List {
        table: "change_request",
        filter: "task_configs/filter_change_request_list_task.json",
        sort: "task_configs/sort_change_request_list_task.json",
    },
    List {
        table: "incident",
        filter: "task_configs/filter_incident_list_task.json",
        sort: "task_configs/sort_incident_list_task.json",
    },
];

/// The columns that a list shows.
const VISIBLE: [(&str, &str); 9] = [
    ("alm_asset", "setup_files/lists/expected_asset_list_columns.json"),
    ("alm_hardware", "setup_files/lists/expected_hardware_list_columns.json"),
    ("change_request", "setup_files/lists/expected_change_request_list_columns.json"),
    ("fm_expense_line", "setup_files/lists/expected_expense_line_list_columns.json"),
    ("incident", "setup_files/lists/expected_incident_list_columns.json"),
    ("problem", "setup_files/lists/expected_problem_list_columns.json"),
    ("sc_cat_item", "setup_files/lists/expected_service_catalog_list_columns.json"),
    ("sc_req_item", "setup_files/lists/expected_requested_items_list_columns.json"),
    ("sys_user", "setup_files/lists/expected_user_list_columns.json"),
];

/// What is read of a list.
pub(super) struct ReadList {
    pub(super) table: &'static str,
    columns: BTreeMap<String, Info>,
    /// The labels of columns that tasks sort by.
    labels: BTreeMap<String, String>,
    /// One for each task that filters.
    pub(super) filters: Vec<Filter>,
}

/// A column, as the platform's interface described it.
#[derive(Deserialize)]
struct Info {
    label: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    mandatory: bool,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    max_length: u32,
    reference: Option<String>,
    dependent_on_field: Option<String>,
    #[serde(default)]
    choices: BTreeMap<String, String>,
}

/// The columns of a filter, and the value for each.
#[derive(Deserialize)]
pub(super) struct Filter {
    filter_columns: Vec<String>,
    filter_values: Vec<String>,
}

impl Filter {
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let values = self.filter_values.iter().map(String::as_str);
        self.filter_columns.iter().map(String::as_str).zip(values)
    }
}

/// A file of filters. All of its entries repeat the description of the table, which is nearly all
/// of the file: only the first one is kept.
struct Filters {
    columns: BTreeMap<String, Info>,
    filters: Vec<Filter>,
}

#[derive(Deserialize)]
struct First {
    list_info: Described,
    #[serde(flatten)]
    filter: Filter,
}

#[derive(Deserialize)]
struct Described {
    columns: BTreeMap<String, Info>,
}

impl<'de> Deserialize<'de> for Filters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Filters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of filters")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Filters, A::Error> {
                let Some(first) = entries.next_element::<First>()? else {
                    return Err(A::Error::invalid_length(0, &self));
                };
                let mut filters = vec![first.filter];
                while let Some(filter) = entries.next_element()? {
                    filters.push(filter);
                }
                Ok(Filters { columns: first.list_info.columns, filters })
            }
        }
        deserializer.deserialize_seq(Entries)
    }
}

#[derive(Deserialize)]
struct Sort {
    goal: String,
    sort_fields: Vec<String>,
}

pub(super) fn read(folder: &Folder) -> Result<Vec<ReadList>, Error> {
    let read = |list: &List| {
        let filters: Filters = folder.json(list.filter)?;
        let sorts: Vec<Sort> = folder.json(list.sort)?;
        Ok(ReadList {
            table: list.table,
            columns: filters.columns,
            labels: sorts.iter().flat_map(Sort::labels).collect(),
            filters: filters.filters,
        })
    };
    LISTS.iter().map(read).collect()
}

/// Makes lists show the columns that tasks expect.
pub(super) fn visible(world: &mut Builder, folder: &Folder) -> Result<(), Error> {
    for (table, file) in VISIBLE {
        let names: Vec<String> = folder.json(file)?;
        for name in &names {
            ensure(world, table, name);
        }
        if let Some(table) = world.schema.table_mut(table) {
            table.list = names;
        }
    }
    Ok(())
}

/// Adds a column of text, if there is none of this name. Names with dots are other tables' columns.
pub(super) fn ensure(world: &mut Builder, table: &str, name: &str) {
    if name.contains('.') || world.schema.column(table, name).is_some() {
        return;
    }
    if let Some(table) = world.schema.table_mut(table) {
        table.columns.push(base::column(name, Kind::String));
    }
}

impl List {
    pub(super) fn files(&self) -> impl Iterator<Item = &'static str> + use<> {
        let visible = VISIBLE.iter().filter(|(table, _)| *table == self.table).map(|one| one.1);
        [self.filter, self.sort].into_iter().chain(visible.collect::<Vec<_>>())
    }
}

/// The files of lists that no task filters.
pub(super) fn other_files() -> impl Iterator<Item = &'static str> {
    let is_other = |table: &str| LISTS.iter().all(|list| list.table != table);
    VISIBLE.into_iter().filter(move |(table, _)| is_other(table)).map(|one| one.1)
}

impl Sort {
    /// The lines of the goal are ` - LABEL (ascending)`, in the order of the fields.
    fn labels(&self) -> impl Iterator<Item = (String, String)> {
        let lines = self.goal.lines().filter_map(|line| line.strip_prefix(" - "));
        let labels = lines.map(|line| line.rsplit_once(" (").map_or(line, |(label, _)| label));
        self.sort_fields.iter().cloned().zip(labels.map(str::to_owned))
    }
}

impl ReadList {
    /// Adds the columns, and says which choices they have.
    pub(super) fn columns(&self, world: &mut Builder) {
        for (name, label) in &self.labels {
            ensure(world, self.table, name);
            set_label(world, self.table, name, label);
        }
        for (name, info) in &self.columns {
            if name == "sys_class_name" {
                classes(world, self.table, &info.choices);
                continue;
            }
            ensure(world, self.table, name);
            if let Some(column) = world.own_column(self.table, name) {
                info.describe(column);
            }
            if let Some(target) = &info.reference {
                ensure_table(world, target);
            }
            if info.kind == "choice" {
                world.settle(self.table, name, info.choices());
            }
        }
    }

    /// Makes the records that filters name.
    pub(super) fn names(&self, world: &mut Builder) {
        let mut names: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (name, value) in self.filters.iter().flat_map(Filter::pairs) {
            let info = self.columns.get(name).filter(|info| info.kind == "reference");
            if let Some(target) = info.and_then(|info| info.reference.as_deref()) {
                names.insert((target, value));
            }
        }
        for (target, name) in names.into_iter().filter(|(_, name)| !name.is_empty()) {
            world.reference(target, name);
        }
    }
}

/// Gives a table's own column a label.
pub(super) fn set_label(world: &mut Builder, table: &str, name: &str, label: &str) {
    if world.schema.column(table, name).is_some_and(|column| column.label == label) {
        return;
    }
    if let Some(column) = world.own_column(table, name) {
        label.clone_into(&mut column.label);
    }
}

/// The tables that extend a table, by name and label.
fn classes(world: &mut Builder, root: &str, labels: &BTreeMap<String, String>) {
    if world.schema.column(root, "sys_class_name").is_none()
        && let Some(table) = world.schema.table_mut(root)
    {
        let column = Column::new("sys_class_name", "Class", Kind::Choice);
        table.columns.push(Column { read_only: true, ..column });
    }
    for (name, label) in labels {
        if let Some(table) = world.schema.table_mut(name) {
            table.label.clone_from(label);
        } else {
            world.schema.add(Table {
                name: name.clone(),
                label: label.clone(),
                plural: label.clone(),
                parent: Some(root.to_owned()),
                ..Table::default()
            });
        }
    }
}

/// Adds a table that only its name is known of.
pub(super) fn ensure_table(world: &mut Builder, name: &str) {
    if world.schema.table(name).is_some() {
        return;
    }
    let mut columns = vec![
        Column::new("name", "Name", Kind::String),
        Column::new("short_description", "Short description", Kind::String),
        Column { default: "true".to_owned(), ..Column::new("active", "Active", Kind::Boolean) },
    ];
    columns.extend(base::system_columns(false));
    world.schema.add(Table {
        name: name.to_owned(),
        label: base::label(name),
        plural: base::label(name),
        display: "name".to_owned(),
        columns,
        ..Table::default()
    });
}

impl Info {
    fn describe(&self, column: &mut Column) {
        column.label.clone_from(&self.label);
        let (kind, is_named) = self.kind();
        // What base tables call several lines is one kind of text for the interface.
        let is_text = kind == Kind::String && matches!(column.kind, Kind::Text | Kind::Html);
        if !is_text || !is_named {
            column.kind = kind;
        }
        column.internal = (!is_named).then(|| self.kind.clone());
        column.reference =
            self.reference.clone().filter(|_| matches!(column.kind, Kind::Reference | Kind::List));
        // Of a reference, it is the length of an id.
        column.max_length = match column.kind {
            Kind::Reference | Kind::List | Kind::Choice | Kind::Boolean => 0,
            _ => self.max_length,
        };
        column.mandatory |= self.mandatory;
        column.read_only |= self.read_only;
        column.dependent_on = self.dependent_on_field.clone().filter(|name| !name.is_empty());
        if column.kind != Kind::Choice {
            column.choices.clear();
        }
    }

    /// The kind, and whether the interface names it so.
    fn kind(&self) -> (Kind, bool) {
        let kind = match self.kind.as_str() {
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer,
            "decimal" => Kind::Decimal,
            "choice" => Kind::Choice,
            "reference" => Kind::Reference,
            "glide_list" => Kind::List,
            "glide_date" => Kind::Date,
            "glide_date_time" => Kind::DateTime,
            "email" => Kind::Email,
            "ph_number" => Kind::Phone,
            "html" => Kind::Html,
            "price" | "currency" => return (Kind::Decimal, false),
            "string" => Kind::String,
            "multi_two_lines" => return (Kind::Text, false),
            _ => return (Kind::String, false),
        };
        (kind, true)
    }

    /// In the order of their values, if these are numbers. An empty value without a label of its
    /// own is no choice.
    fn choices(&self) -> Vec<Choice> {
        let all = self.choices.iter().filter(|one| !(one.0.is_empty() && one.1 == "-- None --"));
        let choice =
            |one: (&String, &String)| Choice { value: one.0.clone(), label: one.1.clone() };
        let mut choices: Vec<Choice> = all.map(choice).collect();
        choices.sort_by_cached_key(|one| one.value.parse::<i64>().unwrap_or_default());
        choices
    }
}
