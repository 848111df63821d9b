//! Forms: the fields that they show, the records that were their templates, and the people that
//! tasks impersonate.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::super::builder::{Builder, user_name};
use super::Folder;
use super::lists::{ensure, set_label};
use crate::Error;
use crate::itsm::schema::{Column, Kind, Section};

/// The names of users.
pub(super) const PEOPLE: &str = "task_configs/impersonation_users.json";

/// A table with a form that tasks use.
pub(super) struct Form {
    table: &'static str,
    /// Tasks that make a record.
    create: Option<&'static str>,
    /// The fields that the form shows.
    visible: &'static str,
}

/// In the order in which their records are made.
pub(super) const FORMS: [Form; 6] = [
    Form {
        table: "sys_user",
        create: Some("task_configs/create_user_task.json"),
        visible: "setup_files/forms/expected_user_form_fields.json",
    },
    Form {
        table: "alm_hardware",
        create: Some("task_configs/create_hardware_asset_task.json"),
        visible: "setup_files/forms/expected_hardware_form_fields.json",
    },
    Form {
        table: "problem",
        create: Some("task_configs/create_problem_task.json"),
        visible: "setup_files/forms/expected_problem_form_fields.json",
    },
    Form {
        table: "change_request",
        create: Some("task_configs/create_change_request_task.json"),
        visible: "setup_files/forms/expected_change_request_form_fields.json",
    },
    Form {
        table: "incident",
        create: Some("task_configs/create_incident_task.json"),
        visible: "setup_files/forms/expected_incident_form_fields.json",
    },
    Form {
        table: "sc_req_item",
        create: None,
        visible: "setup_files/forms/expected_request_item_form_fields.json",
    },
];

impl Form {
    pub(super) fn files(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.create.into_iter().chain([self.visible])
    }
}

/// A task that makes a record.
#[derive(Deserialize)]
struct Create {
    /// The labels of the fields that can be set.
    fields: BTreeMap<String, String>,
    task_fields: Vec<String>,
    /// An old record, some of whose values were replaced.
    template_record: BTreeMap<String, Option<Cell>>,
}

/// A value as the platform's interface shows it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    Link { display_value: String, link: String },
}

impl Cell {
    fn shown(&self) -> &str {
        match self {
            Cell::Text(text) => text,
            Cell::Link { display_value, .. } => display_value,
        }
    }

    /// The table and the id at the end of a link.
    fn target(&self) -> Option<(&str, &str)> {
        let Cell::Link { link, .. } = self else { return None };
        let mut parts = link.rsplit('/');
        let id = parts.next().filter(|id| id.len() == 32)?;
        Some((parts.next()?, id))
    }
}

/// What is read of the tasks of a form.
struct Templates {
    table: &'static str,
    labels: BTreeMap<String, String>,
    /// In the order of the file, each once.
    records: Vec<BTreeMap<String, Cell>>,
    /// The fields and values that tasks ask for.
    asked: BTreeSet<(String, String)>,
}

/// Makes forms show the fields that tasks expect.
pub(super) fn visible(world: &mut Builder, folder: &Folder) -> Result<(), Error> {
    for form in &FORMS {
        let names: Vec<String> = folder.json(form.visible)?;
        for name in &names {
            ensure(world, form.table, name);
        }
        let Some(table) = world.schema.table_mut(form.table) else { continue };
        for section in &mut table.form {
            section.fields.retain(|name| names.contains(name));
        }
        table.form.retain(|section| !section.fields.is_empty());
        let is_shown = |name: &String| table.form.iter().any(|one| one.fields.contains(name));
        let rest: Vec<String> = names.into_iter().filter(|name| !is_shown(name)).collect();
        if !rest.is_empty() {
            table.form.push(Section { title: "More".to_owned(), fields: rest });
        }
    }
    Ok(())
}

/// Makes the records that were templates, and all that they and the tasks name.
pub(super) fn records(world: &mut Builder, folder: &Folder) -> Result<(), Error> {
    let mut all = Vec::new();
    for form in &FORMS {
        if let Some(file) = form.create {
            all.push(Templates::new(form.table, folder.json(file)?));
        }
    }
    for templates in &all {
        templates.know_ids(world);
        templates.labels(world);
    }
    for templates in &all {
        templates.begin(world);
    }
    for templates in &all {
        templates.fill(world);
    }
    for templates in &all {
        templates.asked(world);
    }
    let people: BTreeSet<String> = folder.json(PEOPLE)?;
    for name in people {
        world.reference("sys_user", &name);
    }
    Ok(())
}

impl Templates {
    fn new(table: &'static str, tasks: Vec<Create>) -> Templates {
        let mut templates = Templates {
            table,
            labels: BTreeMap::new(),
            records: Vec::new(),
            asked: BTreeSet::new(),
        };
        let mut seen = BTreeSet::new();
        for task in tasks {
            templates.labels.extend(task.fields);
            let cells = task.template_record.into_iter();
            let record: BTreeMap<String, Cell> =
                cells.filter_map(|(name, cell)| Some((name, cell?))).collect();
            for name in task.task_fields {
                if let Some(cell) = record.get(&name) {
                    templates.asked.insert((name, cell.shown().to_owned()));
                }
            }
            let id = record.get("sys_id").map(|cell| cell.shown().to_owned());
            if id.is_some_and(|id| seen.insert(id)) {
                templates.records.push(record);
            }
        }
        templates
    }

    /// Remembers the ids of the records to which links lead.
    fn know_ids(&self, world: &mut Builder) {
        for cell in self.records.iter().flat_map(BTreeMap::values) {
            if let Some((table, id)) = cell.target()
                && !cell.shown().is_empty()
            {
                world.know_id(table, cell.shown(), id);
            }
        }
    }

    /// Labels of fields that can be set.
    fn labels(&self, world: &mut Builder) {
        for (name, label) in &self.labels {
            ensure(world, self.table, name);
            set_label(world, self.table, name, label);
            if world.schema.column(self.table, name).is_some_and(|column| column.read_only)
                && let Some(column) = world.own_column(self.table, name)
            {
                column.read_only = false;
            }
        }
    }

    /// Makes the records with what is shown of them, so that others can name them.
    fn begin(&self, world: &mut Builder) {
        let display = world.schema.display(self.table).to_owned();
        for record in &self.records {
            let shown = record.get(&display).map_or("", Cell::shown).to_owned();
            let id = record.get("sys_id").map(|cell| cell.shown().to_owned());
            world.insert(self.table, id, BTreeMap::from([(display.clone(), shown)]));
        }
    }

    /// Adds their values.
    fn fill(&self, world: &mut Builder) {
        for record in &self.records {
            let mut fields = BTreeMap::new();
            for (name, cell) in record {
                let Some(column) = world.schema.column(self.table, name).cloned() else { continue };
                if name != "sys_class_name" {
                    fields.insert(name.clone(), self.value(world, &column, cell));
                }
            }
            if self.table == "sys_user" {
                // Pictures are not in the folder, and the user name was replaced by a number.
                // Passwords are the caller's.
                let left_out = ["avatar", "photo", "user_password"];
                fields.retain(|name, _| !left_out.contains(&&**name));
                let name = user_name(record.get("name").map_or("", Cell::shown));
                fields.insert("user_name".to_owned(), name);
            }
            let id = record.get("sys_id").map(|cell| cell.shown().to_owned());
            let index = world.insert(self.table, id, fields);
            if self.table == "alm_hardware" {
                describe_model(world, index);
            }
            if let Some(roles) = record.get("roles") {
                give_roles(world, index, roles.shown());
            }
        }
    }

    /// The stored value.
    fn value(&self, world: &mut Builder, column: &Column, cell: &Cell) -> String {
        let shown = cell.shown();
        match (column.kind, column.reference.as_deref()) {
            (Kind::Reference, _) if shown.is_empty() => String::new(),
            (Kind::Reference, Some(target)) => {
                if self.table == "alm_hardware" && column.name == "ci" {
                    return computer(world, cell);
                }
                world.reference(target, shown)
            }
            (Kind::Choice, _) => world.choice(self.table, &column.name, shown),
            (Kind::Decimal | Kind::Integer, _) => {
                shown.chars().filter(|letter| !matches!(letter, '$' | ',')).collect()
            }
            // `UNKNOWN` is one of the values.
            (Kind::Date | Kind::DateTime, _) if !shown.starts_with(['1', '2']) => String::new(),
            (Kind::String, _) if shown == "UNKNOWN" => String::new(),
            (Kind::List, _) => String::new(),
            _ => shown.to_owned(),
        }
    }

    /// Makes the records and choices that tasks ask for. A service comes first: it is an item of
    /// configuration too.
    fn asked(&self, world: &mut Builder) {
        let is_service = |name: &str| name == "business_service" || name == "service_offering";
        let (services, others): (Vec<_>, Vec<_>) =
            self.asked.iter().partition(|(name, _)| is_service(name));
        for (name, shown) in services.into_iter().chain(others) {
            let Some(column) = world.schema.column(self.table, name).cloned() else { continue };
            if matches!(column.kind, Kind::Reference | Kind::Choice) {
                self.value(world, &column, &Cell::Text(shown.clone()));
            }
        }
    }
}

/// The computer of an asset: one for each id, many of which have the same name.
fn computer(world: &mut Builder, cell: &Cell) -> String {
    let Some((_, id)) = cell.target() else { return String::new() };
    let name = cell.shown().to_owned();
    let index = world.insert(
        "cmdb_ci_computer",
        Some(id.to_owned()),
        BTreeMap::from([("name".to_owned(), name)]),
    );
    world.records[index].sys_id.clone()
}

/// What an asset says of its model.
fn describe_model(world: &mut Builder, asset: usize) {
    let asset = &world.records[asset].fields;
    let of = |name: &str| asset.get(name).cloned().unwrap_or_default();
    let (model, category, vendor) = (of("model"), of("model_category"), of("vendor"));
    let Some(record) = world.records.iter_mut().find(|record| record.sys_id == model) else {
        return;
    };
    let name = record.fields.get("display_name").cloned().unwrap_or_default();
    let more = [("cmdb_model_category", category), ("manufacturer", vendor)];
    let more = more.into_iter().chain([("name", name.clone()), ("short_description", name)]);
    for (field, value) in more.filter(|(_, value)| !value.is_empty()) {
        record.fields.entry(field.to_owned()).or_insert(value);
    }
}

/// `admin,itil` are two roles.
fn give_roles(world: &mut Builder, user: usize, roles: &str) {
    for role in roles.split(',').filter(|role| !role.is_empty()) {
        let role = world.reference("sys_user_role", role);
        let user = world.records[user].sys_id.clone();
        world.invent(
            "sys_user_has_role",
            BTreeMap::from([("user".to_owned(), user), ("role".to_owned(), role)]),
        );
    }
}
