//! Whether each task of the user's folder can be solved on the world that is made of it: a person
//! finds every name, choice, field, option and label, and nothing is ambiguous. The files are read
//! again here, by other means than the world's.

mod charts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::tests::of_folder;
use super::*;
use crate::itsm::schema::Kind;

fn file<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let folder = PathBuf::from(std::env::var_os("SANDBOX_WORKARENA").unwrap());
    let places = ["", "data_files", "browsergym/workarena/data_files"];
    let path = places.iter().map(|place| folder.join(place).join(name)).find(|path| path.exists());
    serde_json::from_slice(&fs::read(path.unwrap()).unwrap()).unwrap()
}

/// Counts tasks, and collects what is wrong with them.
struct Check {
    world: World,
    /// By the table, and what is shown in lower letters: what is shown.
    names: BTreeMap<(String, String), Vec<String>>,
    feasible: usize,
    /// With the number of tasks that have each.
    faults: BTreeMap<String, usize>,
}

impl Check {
    fn new(world: World) -> Check {
        let mut names: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for record in &world.records {
            let shown = record.fields.get(world.schema.display(&record.table));
            let shown = shown.cloned().unwrap_or_default();
            for table in world.schema.lineage(&record.table) {
                let key = (table.name.clone(), shown.to_lowercase());
                names.entry(key).or_default().push(shown.clone());
            }
        }
        Check { world, names, feasible: 0, faults: BTreeMap::new() }
    }

    fn task(&mut self, what: &str, result: Result<(), String>) {
        match result {
            Ok(()) => self.feasible += 1,
            Err(fault) => *self.faults.entry(format!("{what}: {fault}")).or_default() += 1,
        }
    }

    /// A name that is typed into a reference: whatever record is chosen by it has this name.
    fn name(&self, table: &str, name: &str) -> Result<(), String> {
        let found = self.names.get(&(table.to_owned(), name.to_lowercase()));
        match found {
            Some(all) if all.iter().all(|one| one == name) => Ok(()),
            Some(all) => Err(format!("{table} {name:?} is not the only one of {all:?}")),
            None => Err(format!("no {table} {name:?}")),
        }
    }
}

fn ensure(holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(fault()) }
}

#[derive(Deserialize)]
struct Filter {
    filter_columns: Vec<String>,
    filter_values: Vec<String>,
    list_info: Box<RawValue>,
}

const LISTS: [(&str, &str); 6] = [
    ("alm_asset", "asset"),
    ("alm_hardware", "hardware"),
    ("change_request", "change_request"),
    ("incident", "incident"),
    ("sc_cat_item", "service_catalog_item"),
    ("sys_user", "user"),
];

impl Check {
    fn filters(&mut self) {
        for (table, name) in LISTS {
            let name = format!("task_configs/filter_{name}_list_task.json");
            let tasks: Vec<Filter> = file(&name);
            let (mut text, mut info) = (String::new(), Value::Null);
            for task in tasks {
                if task.list_info.get() != text {
                    task.list_info.get().clone_into(&mut text);
                    info = serde_json::from_str(&text).unwrap();
                }
                let pairs = task.filter_columns.iter().zip(&task.filter_values);
                let mut each = pairs.map(|(column, value)| {
                    self.condition(table, column, value, &info["columns"][column])
                });
                let result = each.find(Result::is_err).unwrap_or(Ok(()));
                self.task(&name, result);
            }
        }
    }

    fn condition(&self, table: &str, name: &str, value: &str, info: &Value) -> Result<(), String> {
        let column = self.world.schema.column(table, name);
        let column = column.ok_or_else(|| format!("{table} has no {name}"))?;
        ensure(column.label == info["label"], || format!("{name} is labelled {}", column.label))?;
        let kind = || format!("{table}.{name} is of the kind {:?}", column.kind);
        match info["type"].as_str().unwrap() {
            "reference" => {
                let target = info["reference"].as_str().unwrap();
                ensure(column.reference.as_deref() == Some(target), kind)?;
                let display = &info["reference_attributes"]["display_field"];
                ensure(self.world.schema.display(target) == display, || format!("{target} shown"))?;
                if value.is_empty() { Ok(()) } else { self.name(target, value) }
            }
            "string" | "translated_text" => {
                ensure(matches!(column.kind, Kind::String | Kind::Text | Kind::Html), kind)
            }
            "boolean" => ensure(column.kind == Kind::Boolean, kind),
            "choice" => {
                ensure(column.kind == Kind::Choice, kind)?;
                let choice = column.choices.iter().find(|choice| choice.label == value);
                let stored = choice.map_or("", |choice| &choice.value);
                let named = info["choices"].get(stored).and_then(Value::as_str);
                ensure(named.unwrap_or("-- None --") == value, || format!("{name} has no {value}"))
            }
            other => Err(format!("{name} of the type {other}")),
        }
    }

    fn sorts(&mut self) {
        #[derive(Deserialize)]
        struct Sort {
            goal: String,
            sort_fields: Vec<String>,
        }
        for (table, name) in LISTS {
            let name = format!("task_configs/sort_{name}_list_task.json");
            for task in file::<Sort>(&name) {
                let result = self.sort(table, &task.goal, &task.sort_fields);
                self.task(&name, result);
            }
        }
    }

    fn sort(&self, table: &str, goal: &str, fields: &[String]) -> Result<(), String> {
        let title = self.world.schema.table(table).unwrap().plural.to_lowercase();
        ensure(goal.contains(&format!("\"{title}\" list")), || format!("the title is {title}"))?;
        let columns = self.world.schema.columns(table);
        for (line, field) in goal.lines().skip(1).zip(fields) {
            let label = line.trim_start_matches(" - ");
            let label = label.trim_end_matches(" (ascending)").trim_end_matches(" (descending)");
            let labelled: Vec<&str> = columns
                .iter()
                .filter(|one| one.label == label)
                .map(|one| one.name.as_str())
                .collect();
            ensure(labelled == [field.as_str()], || format!("{label} is {labelled:?}"))?;
        }
        Ok(())
    }

    fn creates(&mut self) {
        #[derive(Deserialize)]
        struct Create {
            fields: BTreeMap<String, String>,
            task_fields: Vec<String>,
            template_record: Map<String, Value>,
        }
        for (table, name, visible) in [
            ("change_request", "change_request", "change_request"),
            ("alm_hardware", "hardware_asset", "hardware"),
            ("incident", "incident", "incident"),
            ("problem", "problem", "problem"),
            ("sys_user", "user", "user"),
        ] {
            let expected: Vec<String> =
                file(&format!("setup_files/forms/expected_{visible}_form_fields.json"));
            let form = &self.world.schema.table(table).unwrap().form;
            let shown: Vec<&String> = form.iter().flat_map(|section| &section.fields).collect();
            let (expected, all) = (expected.iter().collect(), shown.iter().copied().collect());
            assert_eq!(shown.len(), BTreeSet::len(&all), "{table} shows a field twice");
            let (all, expected): (BTreeSet<&String>, BTreeSet<&String>) = (all, expected);
            assert_eq!(all, expected, "{table}");
            let name = format!("task_configs/create_{name}_task.json");
            for task in file::<Create>(&name) {
                let each = task.task_fields.iter().map(|field| {
                    let value = task.template_record[field].as_str().unwrap_or_default();
                    self.field(table, field, &task.fields[field], value)
                });
                let result = each.collect();
                self.task(&name, result);
            }
        }
    }

    fn field(&self, table: &str, name: &str, label: &str, value: &str) -> Result<(), String> {
        let schema = &self.world.schema;
        let column = schema.column(table, name).ok_or_else(|| format!("{table} has no {name}"))?;
        let fields = schema.table(table).unwrap().form.iter().flat_map(|one| &one.fields);
        let same = fields.filter(|field| {
            schema.column(table, field).is_some_and(|column| column.label == label)
        });
        let same: Vec<&String> = same.collect();
        ensure(same == [name], || format!("{table} has {same:?} with the label {label}"))?;
        ensure(!column.read_only, || format!("{table}.{name} cannot be changed"))?;
        let fits = column.max_length == 0 || value.chars().count() <= column.max_length as usize;
        ensure(fits, || format!("{table}.{name} is too short for {value}"))?;
        match column.kind {
            Kind::Reference if value.is_empty() => Ok(()),
            Kind::Reference => self.name(column.reference.as_deref().unwrap(), value),
            Kind::Choice => {
                let known = value.is_empty() || column.choices.iter().any(|one| one.label == value);
                ensure(known, || format!("{table}.{name} has no {value}"))
            }
            Kind::Boolean => ensure(matches!(value, "true" | "false"), || value.to_owned()),
            Kind::String | Kind::Text | Kind::Html | Kind::Email | Kind::Phone => Ok(()),
            other => Err(format!("{table}.{name} is of the kind {other:?}")),
        }
    }

    /// Fields that tasks of several parts set, which have no files (`tasks/compositional`).
    fn parts(&self) {
        for (table, field, label) in [
            ("incident", "caller_id", "Caller"),
            ("incident", "assigned_to", "Assigned to"),
            ("incident", "number", "Number"),
            ("problem", "short_description", "Problem statement"),
            ("problem", "assigned_to", "Assigned to"),
            ("problem", "duplicate_of", "Duplicate of"),
            ("change_request", "start_date", "Planned start date"),
            ("change_request", "end_date", "Planned end date"),
            ("sc_req_item", "number", "Number"),
            ("sc_req_item", "cat_item", "Item"),
            ("sc_req_item", "requested_for", "Requested for"),
            ("sc_req_item", "quantity", "Quantity"),
            ("alm_hardware", "assigned_to", "Assigned to"),
            ("vtb_task", "state", "State"),
        ] {
            match self.field(table, field, label, "") {
                Ok(()) => {}
                Err(fault) => assert!(fault.contains("is of the kind"), "{fault}"),
            }
        }
    }

    fn orders(&mut self) {
        #[derive(Deserialize)]
        struct Order {
            item: String,
            description: String,
            quantity: u32,
            configuration: BTreeMap<String, (String, Value)>,
        }
        for name in [
            "apple_mac_book_pro15",
            "apple_watch",
            "developer_laptop",
            "development_laptop_pc",
            "ipad_mini",
            "ipad_pro",
            "loaner_laptop",
            "sales_laptop",
            "standard_laptop",
        ] {
            let name = format!("task_configs/order_{name}_task.json");
            for task in file::<Order>(&name) {
                let mut result = self.item(&task.item, &task.description, task.quantity);
                for (label, (control, value)) in &task.configuration {
                    result = result.and_then(|item| option(item, label, control, value));
                }
                let result = result.map(drop);
                self.task(&name, result);
            }
        }
    }

    fn item(&self, name: &str, description: &str, quantity: u32) -> Result<&Item, String> {
        let all = self.world.catalogue.iter().filter(|item| item.name.contains(name));
        let [item] = all.collect::<Vec<_>>()[..] else { return Err(format!("items {name}")) };
        let record = self.world.records.iter().find(|record| record.sys_id == item.id);
        let fields = &record.ok_or("no record")?.fields;
        ensure(fields["short_description"] == description, || format!("{name} is described"))?;
        ensure((1..=10).contains(&quantity), || format!("{quantity} of {name}"))?;
        let same = self.world.records.iter().filter(|one| {
            self.world.schema.is_a(&one.table, "sc_cat_item")
                && one.fields.get("sys_name") == fields.get("sys_name")
        });
        ensure(same.count() == 1, || format!("the name {} is not unique", fields["sys_name"]))?;
        Ok(item)
    }

    fn modules(&mut self) {
        #[derive(Deserialize)]
        struct Link {
            application: String,
            module: String,
            url: String,
        }
        for task in file::<Link>("task_configs/all_menu.json") {
            let found = self.module(&task.application, &task.module);
            let is_there = found == Some(task.url.as_str());
            let fault = || format!("{} {} leads to {found:?}", task.application, task.module);
            let result = ensure(is_there, fault);
            self.task("all_menu", result);
        }
        for (application, module) in [
            ("Self-Service", "Knowledge"),
            ("Self-Service", "Service Catalog"),
            ("Self-Service", "Requested Items"),
            ("Service Desk", "Incidents"),
            ("Service Desk", "My Work"),
            ("Problem", "All"),
            ("Problem", "Assigned to me"),
            ("Change", "All"),
            ("Open Records", "Open Records > Items"),
            ("Asset", "Portfolios > Hardware Assets"),
            ("Asset", "Portfolios > All Assets"),
            ("Organization", "Users"),
            ("Service Catalog", "Catalog Definitions > Maintain Items"),
            ("Reports", "Administration > All"),
            ("System Security", "Users and Groups > Users"),
            ("Cost", "Expense Lines"),
        ] {
            assert!(self.module(application, module).is_some(), "{application} > {module}");
        }
    }

    fn module(&self, application: &str, module: &str) -> Option<&str> {
        let mut way: Vec<&str> = module.split('>').map(str::trim).collect();
        let label = way.pop()?;
        let mut entry = self.world.menu.iter().find(|entry| entry.label == application)?;
        for section in way {
            entry = entry.sections.iter().find(|entry| entry.label == section)?;
        }
        let found = entry.modules.iter().find(|module| module.label == label)?;
        Some(&found.address)
    }

    fn people(&mut self) {
        for name in file::<String>("task_configs/impersonation_users.json") {
            let all = self.names.get(&("sys_user".to_owned(), name.to_lowercase()));
            let is_one = all.is_some_and(|all| *all == [name.clone()]);
            let result = ensure(is_one, || format!("{name} is one of {all:?}"));
            self.task("impersonation_users", result);
        }
    }

    fn articles(&mut self) {
        let installed: Vec<Value> = file("setup_files/knowledge/knowledge_base.json");
        let protocols: Vec<Value> = file("setup_files/knowledge/protocols.json");
        let texts: BTreeMap<String, String> = self
            .world
            .records
            .iter()
            .filter(|record| record.table == "kb_knowledge")
            .map(|record| &record.fields)
            .map(|fields| (fields["short_description"].clone(), fields["text"].clone()))
            .collect();
        assert_eq!(texts.len(), installed.len() + protocols.len());
        for protocol in &protocols {
            assert_eq!(texts[protocol["item"].as_str().unwrap()], protocol["article"]);
        }
        for task in file::<Value>("task_configs/knowledge_base_configs.json") {
            let at = installed.iter().position(|article| article["item"] == task["item"]);
            let text = at.and_then(|at| texts.get(&format!("Article {}", at + 1)));
            let is_same =
                at.is_some_and(|at| text.is_some_and(|it| installed[at]["article"] == *it));
            let result = ensure(is_same, || format!("no article on {}", task["item"]));
            self.task("knowledge_base_configs", result);
        }
    }
}

fn option<'a>(
    item: &'a Item,
    label: &str,
    control: &str,
    value: &Value,
) -> Result<&'a Item, String> {
    let found = item.options.iter().find(|option| option.label == label);
    let option = found.ok_or_else(|| format!("{} has no option {label}", item.name))?;
    let is_right = match control {
        "checkbox" => option.control == Control::CheckBox && value.is_boolean(),
        "textarea" => option.control == Control::TextArea && value.is_string(),
        // The first button whose text begins so is clicked.
        "radio" => {
            let value = value.as_str().unwrap_or_default();
            let first = option.choices.iter().find(|choice| choice.starts_with(value));
            option.control == Control::Radio && first.is_some_and(|first| first == value)
        }
        _ => false,
    };
    ensure(is_right, || format!("{label} is no {control} with {value}"))?;
    Ok(item)
}

#[test]
#[ignore = "SANDBOX_WORKARENA names the folder of browsergym-workarena: `make conformance`"]
fn every_task_of_the_folder_is_feasible() {
    let mut check = Check::new(of_folder());
    check.filters();
    check.sorts();
    check.creates();
    check.orders();
    check.modules();
    check.people();
    check.articles();
    check.charts();
    check.parts();
    let Check { feasible, faults, .. } = check;
    let infeasible: usize = faults.values().sum();
    println!("{feasible} tasks are feasible, {infeasible} are not");
    let first: Vec<_> = faults.iter().take(60).collect();
    assert!(faults.is_empty(), "{} faults: {first:#?}", faults.len());
    assert_eq!(feasible, 19_833);
}
