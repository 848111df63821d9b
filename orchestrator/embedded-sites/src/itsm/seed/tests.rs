use std::collections::BTreeSet;

use super::*;
use crate::itsm::schema::{Choice, Column, Kind};

fn base() -> World {
    world(None).unwrap()
}

/// The column of a name with dots, such as `model.display_name`.
fn dotted<'a>(schema: &'a Schema, table: &str, name: &str) -> Option<&'a Column> {
    let Some((first, rest)) = name.split_once('.') else { return schema.column(table, name) };
    let target = schema.column(table, first)?.reference.as_deref()?;
    dotted(schema, target, rest)
}

/// What is wrong with a world, if anything is.
pub(super) fn faults(world: &World) -> Vec<String> {
    let mut faults = Vec::new();
    let schema = &world.schema;
    for table in schema.tables() {
        let fields = table.form.iter().flat_map(|section| &section.fields);
        for name in table.list.iter().chain(fields) {
            if dotted(schema, &table.name, name).is_none() {
                faults.push(format!("{} shows {name}, which it does not have", table.name));
            }
        }
        for column in &table.columns {
            let target = column.reference.as_deref();
            if target.is_some_and(|target| schema.table(target).is_none()) {
                faults.push(format!("{}.{} leads to no table", table.name, column.name));
            }
            if matches!(column.kind, Kind::Reference) != target.is_some()
                && column.kind != Kind::List
            {
                faults.push(format!("{}.{} has a wrong reference", table.name, column.name));
            }
            let values: BTreeSet<&str> =
                column.choices.iter().chain(&column.former).map(|one| &*one.value).collect();
            if values.len() != column.choices.len() + column.former.len() {
                faults.push(format!("{}.{} has a value twice", table.name, column.name));
            }
        }
        let columns = schema.columns(&table.name);
        let labels: BTreeSet<&str> = columns.iter().map(|column| &*column.label).collect();
        if labels.len() != columns.len() {
            faults.push(format!("{} has a label twice", table.name));
        }
        if schema.column(&table.name, schema.display(&table.name)).is_none() {
            faults.push(format!("{} is shown by a column that it does not have", table.name));
        }
    }
    let of_id: BTreeMap<&str, &str> =
        world.records.iter().map(|record| (&*record.sys_id, &*record.table)).collect();
    if of_id.len() != world.records.len() {
        faults.push("two records have one id".to_owned());
    }
    for record in &world.records {
        faults.extend(record_faults(schema, &of_id, record));
    }
    faults
}

fn record_faults(schema: &Schema, of_id: &BTreeMap<&str, &str>, record: &Record) -> Vec<String> {
    let mut faults = Vec::new();
    let what = format!("{} {}", record.table, record.sys_id);
    if record.sys_id.len() != 32 || !record.sys_id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        faults.push(format!("{what} has a wrong id"));
    }
    if record.fields.get("sys_created_on").is_none_or(|day| day.as_str() >= REPORT_DATE) {
        faults.push(format!("{what} is too young for the reports"));
    }
    for (name, value) in &record.fields {
        let Some(column) = schema.column(&record.table, name) else {
            faults.push(format!("{what} has {name}, which its table does not have"));
            continue;
        };
        let is_right = match (column.kind, column.reference.as_deref()) {
            (Kind::Reference, Some(target)) => {
                of_id.get(value.as_str()).is_some_and(|table| schema.is_a(table, target))
            }
            (Kind::Choice, _) => {
                column.choices.iter().chain(&column.former).any(|choice| choice.value == *value)
            }
            (Kind::Boolean, _) => matches!(value.as_str(), "true" | "false"),
            (Kind::Integer, _) => value.parse::<i64>().is_ok(),
            (Kind::Decimal, _) => value.parse::<f64>().is_ok(),
            (Kind::Date, _) => value.len() == 10,
            (Kind::DateTime, _) => value.len() == 19,
            _ => true,
        };
        if !is_right || value.is_empty() {
            faults.push(format!("{what} has {value:?} in {name}"));
        }
    }
    faults
}

fn named<'a>(world: &'a World, table: &str, field: &str, value: &str) -> Vec<&'a Record> {
    let all = world.records.iter().filter(|one| world.schema.is_a(&one.table, table));
    all.filter(|record| record.fields.get(field).is_some_and(|found| found == value)).collect()
}

/// Tables that set-ups, validations and teardowns of tasks read or write. The views of the schema
/// are not among them.
const TABLES: [&str; 32] = [
    "sys_user",
    "sys_user_role",
    "sys_user_has_role",
    "sys_user_preference",
    "sys_properties",
    "m2m_theme_style",
    "kb_knowledge_base",
    "kb_knowledge",
    "kb_feedback",
    "user_criteria",
    "kb_uc_can_read_mtom",
    "incident",
    "problem",
    "change_request",
    "alm_asset",
    "alm_hardware",
    "cmdb_model",
    "cmdb_model_category",
    "sc_cat_item",
    "sc_request",
    "sc_req_item",
    "sc_item_option",
    "sc_item_option_mtom",
    "item_option_new",
    "fm_expense_line",
    "cmn_cost_center",
    "vtb_task",
    "sys_report",
    "sys_report_color",
    "pa_chart_color_schemes",
    "sys_user_group",
    "ast_contract",
];

/// What tasks ask every desk for by name.
pub(super) fn missing(world: &World) -> Vec<String> {
    let mut missing = Vec::new();
    for table in TABLES {
        if world.schema.table(table).is_none() {
            missing.push(format!("table {table}"));
        }
    }
    let mut one = |table: &str, field: &str, value: &str| {
        let count = named(world, table, field, value).len();
        if count != 1 {
            missing.push(format!("{count} of {table} with {field} = {value}"));
        }
    };
    for role in ["admin", "itil", "problem_admin", "problem_manager", "problem_coordinator"]
        .iter()
        .chain([&"problem_task_analyst"])
    {
        one("sys_user_role", "name", role);
    }
    one("sys_user", "user_name", "admin");
    one("sys_properties", "name", "workarena.report.filter.config");
    one("sys_properties", "name", "workarena.installation.date");
    one("cmn_cost_center", "name", "Engineering");
    one("cmdb_model_category", "name", "Computer");
    for class in ["alm_hardware", "alm_consumable", "alm_license"] {
        one("cmdb_model_category", "asset_class", class);
    }
    one("kb_knowledge_base", "title", "General Knowledge");
    one("kb_knowledge_base", "title", "Company Protocols");
    one("sys_ux_theme", "name", "WorkArena");
    let count = |table: &str| world.records.iter().filter(|one| one.table == table).count();
    let themes = named(world, "sys_ux_style", "type", "variant").len();
    if (count("m2m_theme_style"), themes) != (10, 10) {
        missing.push("ten variants of the theme".to_owned());
    }
    if count("pa_chart_color_schemes") != 3 || count("sys_report_color") != 6 {
        missing.push("colours".to_owned());
    }
    for (class, least) in [("alm_hardware", 1), ("alm_consumable", 1), ("alm_license", 10)] {
        let category = &named(world, "cmdb_model_category", "asset_class", class);
        let id = category.first().map_or("", |record| &record.sys_id);
        let models = named(world, "cmdb_model", "cmdb_model_category", id);
        let described = models.iter().filter(|one| one.fields.contains_key("short_description"));
        if described.count() < least {
            missing.push(format!("models of {class}"));
        }
    }
    let category = world.schema.column("change_request", "category");
    if category.is_none_or(|column| column.choices.is_empty()) {
        missing.push("categories of changes".to_owned());
    }
    missing
}

#[test]
fn the_base_holds_together() {
    let world = base();
    assert_eq!(faults(&world), Vec::<String>::new());
    assert_eq!(missing(&world), Vec::<String>::new());
}

#[test]
fn the_base_is_a_desk_to_work_with() {
    let world = base();
    let count = |table: &str| world.records.iter().filter(|one| one.table == table).count();
    assert!(world.records.len() >= 200, "{}", world.records.len());
    for table in ["incident", "problem", "change_request", "alm_hardware", "kb_knowledge"] {
        assert!(count(table) >= 6, "{} of {table}", count(table));
    }
    fn modules(entries: &[Entry]) -> usize {
        entries.iter().map(|entry| entry.modules.len() + modules(&entry.sections)).sum()
    }
    assert!(modules(&world.menu) >= 60, "{}", modules(&world.menu));
    assert_eq!(named(&world, "sys_user", "user_name", "admin").len(), 1);
    // Who starts an instance says which passwords there are.
    assert!(world.records.iter().all(|one| !one.fields.contains_key("user_password")));
    let role = &named(&world, "sys_user_role", "name", "itil")[0].sys_id;
    assert!(named(&world, "sys_user_has_role", "role", role).len() >= 5);
}

#[test]
fn items_and_their_options_are_records() {
    let world = base();
    assert!(!world.catalogue.is_empty());
    for item in &world.catalogue {
        assert_eq!(named(&world, "sc_cat_item", "name", &item.name)[0].sys_id, item.id);
        assert!(world.records.iter().any(|one| one.sys_id == item.category));
        for option in &item.options {
            let record = world.records.iter().find(|one| one.sys_id == option.id).unwrap();
            assert_eq!(record.fields["cat_item"], item.id);
            assert_eq!(record.fields["question_text"], option.label);
        }
    }
}

#[test]
fn the_series_of_a_chart_have_the_same_labels() {
    let world = base();
    let of_dashboards = world.dashboards.values().flat_map(|board| &board.charts);
    for chart in of_dashboards.chain(world.reports.values()) {
        assert_chart(chart);
    }
}

pub(super) fn assert_chart(chart: &Chart) {
    let labels = |series: &Series| -> Vec<String> {
        series.points.iter().map(|point| point.0.clone()).collect()
    };
    let first = labels(&chart.series[0]);
    let different: BTreeSet<&String> = first.iter().collect();
    assert!(first.len() >= 2 && different.len() == first.len(), "{chart:?}");
    for series in &chart.series {
        assert_eq!(labels(series), first, "{chart:?}");
        let counts: BTreeSet<u64> = series.points.iter().map(|point| point.1).collect();
        assert_eq!(counts.len(), first.len(), "two labels have one count in {chart:?}");
    }
}

#[test]
fn the_date_of_reports_is_the_property() {
    let world = base();
    let found = named(&world, "sys_properties", "name", "workarena.report.filter.config");
    let value: serde_json::Value = serde_json::from_str(&found[0].fields["value"]).unwrap();
    assert_eq!(value["report_date_filter"], REPORT_DATE);
}

#[test]
fn a_stored_schema_is_read_back() {
    let schema = base().schema;
    let text = serde_json::to_string(&schema).unwrap();
    let read: Schema = serde_json::from_str(&text).unwrap();
    let columns = |schema: &Schema| -> Vec<Column> {
        schema.tables().flat_map(|table| table.columns.clone()).collect()
    };
    assert_eq!(columns(&read), columns(&schema));
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
fn an_empty_value_is_shown_as_nothing() {
    let choices = vec![
        Choice { value: String::new(), label: "System".to_owned() },
        Choice { value: "1".to_owned(), label: "One".to_owned() },
    ];
    let former = vec![Choice { value: "2".to_owned(), label: "Two".to_owned() }];
    let column = Column { choices, former, ..Column::default() };
    assert_eq!(["", "1", "2", "3"].map(|value| column.shown(value)), ["", "One", "Two", "3"]);
}

#[test]
fn the_base_is_the_same_each_time() {
    let (one, other) = (base(), base());
    assert_eq!(one.records, other.records);
}

/// The world of the user's folder, which comes from outside: `make conformance`.
pub(super) fn of_folder() -> World {
    let folder = std::env::var_os("SANDBOX_WORKARENA");
    let folder = folder.expect("SANDBOX_WORKARENA is set by `make conformance SHARED=FOLDER`");
    world(Some(Path::new(&folder))).unwrap()
}

#[test]
#[ignore = "SANDBOX_WORKARENA names the folder of browsergym-workarena: `make conformance`"]
fn the_world_of_a_folder_holds_together() {
    let world = of_folder();
    let found = faults(&world);
    assert!(found.is_empty(), "{} faults: {:#?}", found.len(), &found[..found.len().min(40)]);
    assert_eq!(missing(&world), Vec::<String>::new());
    let of_dashboards = world.dashboards.values().flat_map(|board| &board.charts);
    for chart in of_dashboards.chain(world.reports.values()) {
        assert_chart(chart);
    }
}

#[test]
#[ignore = "SANDBOX_WORKARENA names the folder of browsergym-workarena: `make conformance`"]
fn the_world_of_a_folder_is_the_same_each_time() {
    let bytes = |world: &World| {
        let (schema, records) = (&world.schema, format!("{:?}", world.records));
        let rest = (&world.menu, &world.catalogue, &world.dashboards, &world.reports);
        (serde_json::to_string(&(schema, rest)).unwrap(), records)
    };
    assert!(bytes(&of_folder()) == bytes(&of_folder()));
}

#[test]
fn a_folder_that_is_another_one_says_what_to_give() {
    let folder = tempfile::tempdir().unwrap();
    let fault = || world(Some(folder.path())).unwrap_err().to_string();
    assert!(
        fault().contains("it has no task_configs/all_menu.json (give the folder"),
        "{}",
        fault()
    );
    assert!(fingerprint(Some(folder.path())).is_err());

    // The package itself, or the folder in which it is, is as good as `data_files`.
    let data = folder.path().join("browsergym/workarena/data_files");
    let tasks = data.join("task_configs");
    std::fs::create_dir_all(&tasks).unwrap();
    std::fs::write(tasks.join("all_menu.json"), "[]").unwrap();
    let path = tasks.join("filter_user_list_task.json");
    let beginning = format!("read {}: ", path.display());
    assert!(fault().starts_with(&beginning), "{}", fault());
    for (text, reason) in [
        ("{}", "invalid type: map, expected a list of filters"),
        ("[]", "invalid length 0, expected a list of filters"),
        ("[{}]", "missing field `list_info`"),
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(fault().starts_with(&format!("{beginning}{reason}")), "{}", fault());
    }
}

#[test]
fn the_fingerprint_is_a_name() {
    let print = fingerprint(None).unwrap();
    assert_eq!(print.len(), 16);
    assert_eq!(print, fingerprint(None).unwrap());
}
