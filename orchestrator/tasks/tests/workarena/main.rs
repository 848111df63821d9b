//! WorkArena's tasks on a desk in memory: nothing done earns nothing, nor does what comes near; the solution earns all, and
//! afterwards the desk is as it was before.
#![allow(clippy::unwrap_used)]

mod desk;

use desk::{ADDRESS, ARTICLES, Desk, now};
use serde_json::{Value, json};
use tasks::scoring::workarena::{Articles, Config, Failure, KINDS, Move, Visit};
use tasks::tables::{Input, Lookup, Tables as _, kept};
use tasks::{OracleStep, Pages as _};

fn config(value: Value) -> Config {
    serde_json::from_value(value).unwrap()
}

/// What comes near, and whether it ends the episode.
type Near = (&'static str, fn(&mut Desk, &Config, &Visit), bool);

fn check(config: &Config, prepare: fn(&mut Desk), nears: &[Near]) {
    let mut desk = Desk::new();
    prepare(&mut desk);
    let before = desk.tables.clone();
    let visit = desk.begin(config).unwrap();
    assert_ne!(desk.tables, before, "there is a user");
    let verdict = desk.validate(config, &visit).unwrap();
    assert_eq!((verdict.reward, verdict.done), (0.0, false), "{config:?} at the start");
    for (name, near, done) in nears {
        let mut other = desk.clone();
        near(&mut other, config, &visit);
        let verdict = other.validate(config, &visit).unwrap();
        assert_eq!((verdict.reward, verdict.done), (0.0, *done), "{name}: {verdict:?}");
        assert!(!verdict.message.is_empty());
    }
    desk.solve(config, &visit);
    let verdict = desk.validate(config, &visit).unwrap();
    assert_eq!((verdict.reward, verdict.done), (1.0, true), "{config:?} solved: {verdict:?}");
    desk.end(config, visit);
    assert_eq!(desk.tables, before);
}

fn nothing(_: &mut Desk) {}

fn go(desk: &mut Desk, path: &str) {
    now(desk.page.open(&format!("{ADDRESS}{path}"))).unwrap();
}

const LIST: &str = "/now/nav/ui/classic/params/target/alm_asset_list.do";

#[test]
fn menu() {
    for url in ["/now/nav/ui/classic/params/target/tool_list.do", "/now/tools?view=a%20b", "/tools;"] {
        let task = json!({"menu": {"application": "Tools", "module": "Lists > Hammers", "url": url}});
        check(
            &config(task),
            nothing,
            &[
                ("another page", |desk, _, _| go(desk, "/now/nav/ui/classic/params/target/tool.do"), false),
                ("another host", |desk, _, _| desk.page.url = "https://other.test/tools".to_owned(), false),
            ],
        );
    }
}

#[test]
fn impersonation() {
    for user in ["Orla Finch", "Ned Moss"] {
        let nears: [Near; 2] = [
            (
                "not impersonating",
                |desk, config, _| {
                    let Config::Impersonation(task) = config else { panic!() };
                    let found =
                        desk.tables.find(&Lookup::new("sys_user", format!("name={}", task.user))).unwrap();
                    desk.page.user = Some((kept(&found[0], "sys_id").to_owned(), false));
                },
                false,
            ),
            (
                "the task's own user",
                |desk, _, visit| {
                    desk.page.user = Some((visit.user.sys_id.clone(), true));
                },
                false,
            ),
        ];
        check(&config(json!({"impersonation": {"user": user}})), nothing, &nears);
    }
}

#[test]
fn knowledge() {
    let base = serde_json::to_value(Articles::of(ARTICLES)).unwrap();
    for (value, alternative) in [("at four", "16:00"), ("Room 12", "twelve")] {
        let task = json!({"knowledge": {"question": "When?", "item": "tea", "value": value, "alternative_answers": [alternative], "base": base}});
        let nears: [Near; 2] = [
            ("another answer", |desk, _, _| desk.said = Some("at five".to_owned()), false),
            ("a part of it", |desk, _, _| desk.said = Some("at".to_owned()), false),
        ];
        check(&config(task.clone()), nothing, &nears);
        let mut desk = Desk::new();
        let task = config(task);
        let visit = desk.begin(&task).unwrap();
        desk.said = Some(format!("I think {}!", alternative.to_uppercase()));
        assert_eq!(desk.validate(&task, &visit).unwrap().reward, 1.0);
    }
}

#[test]
fn filter() {
    let state = json!({"column": "state", "label": "State", "value": "In use", "holds": {"choice": {"1": "In use", "2": "Lost"}}});
    let owner = json!({"column": "owner", "label": "Owned by", "value": "Orla Finch",
        "holds": {"reference": {"table": "sys_user", "display": "name"}}});
    let nobody = json!({"column": "owner", "label": "Owned by", "value": "", "holds": {"reference": {"table": "sys_user", "display": "name"}}});
    let note = json!({"column": "note", "label": "Note", "value": "a=b c"});
    let unset = json!({"column": "kind", "label": "Kind", "value": "-- None --", "holds": {"choice": {"": "-- None --", "x": "X"}}});
    for (kind, conditions) in [
        ("AND", vec![&state, &owner]),
        ("OR", vec![&state, &note, &nobody]),
        ("AND", vec![&note, &unset]),
        ("OR", vec![&unset, &owner]),
    ] {
        let task = config(json!({"filter": {"table": "alm_asset", "kind": kind, "conditions": conditions}}));
        check(
            &task,
            nothing,
            &[
                ("no filter", |desk, _, _| go(desk, LIST), false),
                (
                    "joined otherwise",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        let (from, to) =
                            if desk.page.query.contains("^OR") { ("^OR", "^") } else { ("^", "^OR") };
                        desk.page.query = desk.page.query.replace(from, to);
                    },
                    false,
                ),
                (
                    "one more",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        let joint = if desk.page.query.contains("^OR") { "^OR" } else { "^" };
                        desk.page.query += &format!("{joint}other=1");
                    },
                    false,
                ),
                (
                    "another column",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        desk.page.query = format!("x{}", desk.page.query);
                    },
                    false,
                ),
                (
                    "another operator",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        let at = desk.page.query.find(['=', 'I']).unwrap();
                        desk.page.query.insert(at, '!');
                        desk.page.query = desk.page.query.replace("!ISEMPTY", "STARTSWITHx");
                    },
                    false,
                ),
                (
                    "another value",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        desk.page.query = desk
                            .page
                            .query
                            .replace("note=a=b c", "note=a=b")
                            .replace("state=1", "state=2")
                            .replace("kindISEMPTY", "kind=x");
                    },
                    false,
                ),
                (
                    "another list",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        desk.page.url = desk.page.url.replace("alm_asset", "incident");
                    },
                    false,
                ),
            ],
        );
    }
}

#[test]
fn a_filter_by_one_column_in_several_rows_is_read_as_published() {
    let wanted = |value: &str| json!({"column": "owner", "label": "Owned by", "value": value, "holds": {"reference": {"table": "sys_user", "display": "name"}}});
    let task = json!({"filter": {"table": "alm_asset", "kind": "OR", "conditions": [wanted("Orla Finch"), wanted("Ned Moss")]}});
    check(&config(task), nothing, &[]);
    let twice = json!({"column": "note", "label": "Note", "value": "x"});
    let task = json!({"filter": {"table": "alm_asset", "kind": "AND", "conditions": [twice, twice, wanted("Ned Moss")]}});
    let (task, mut desk) = (config(task), Desk::new());
    let visit = desk.begin(&task).unwrap();
    desk.solve(&task, &visit);
    assert_eq!(desk.validate(&task, &visit).unwrap_err(), Failure::Raised("Exception"));
}

#[test]
fn sort() {
    let name = json!({"column": "name", "label": "Name", "direction": "asc"});
    let age = json!({"column": "age", "label": "Age", "direction": "desc"});
    let room = json!({"column": "room", "label": "Room", "direction": "asc"});
    for by in [vec![&name], vec![&age], vec![&name, &age], vec![&age, &room, &name]] {
        let task = config(json!({"sort": {"table": "alm_asset", "title": "assets", "by": by}}));
        let nears: [Near; 3] = [
            (
                "the other way",
                |desk, config, visit| {
                    desk.solve(config, visit);
                    desk.page.direction =
                        if desk.page.direction == "ASC" { "DESC" } else { "ASC" }.to_owned();
                    desk.page.url = desk
                        .page
                        .url
                        .replace("ORDERBYDESC", "ORDERBYx")
                        .replace("ORDERBYname", "ORDERBYDESCname");
                },
                false,
            ),
            (
                "by more",
                |desk, config, visit| {
                    desk.solve(config, visit);
                    desk.page.order = "more".to_owned();
                    desk.page.url += "%255EORDERBYmore";
                },
                false,
            ),
            ("not at all", |desk, _, _| go(desk, LIST), false),
        ];
        check(&task, nothing, &nears);
    }
}

#[test]
fn new_record() {
    let record = |table: &str, fields: Value| {
        config(json!({"new_record": {"table": table, "fields": fields, "form": ["a", "b"]}}))
    };
    let field =
        |column: &str, label: &str, value: &str| json!({"column": column, "label": label, "value": value});
    let incident = [
        field("short_description", "Short description", "The kettle is cold"),
        field("caller_id", "Caller", "Orla Finch"),
        field("urgency", "Urgency", "2 - Medium"),
    ];
    let form: fn(&mut Desk) = |desk| desk.page.shown = vec!["a".to_owned(), "b".to_owned()];
    for task in [
        record("incident", json!(incident)),
        record("incident", json!(incident[..1])),
        record("change_request", json!([field("risk", "Risk", "High"), field("note", "Note", "")])),
        record(
            "alm_hardware",
            json!([field("model", "Model", "Anvil 3"), field("serial_number", "Serial number", "SN-1")]),
        ),
        record("problem", json!([field("short_description", "Problem statement", "No tea")])),
        record(
            "sys_user",
            json!([field("first_name", "First name", "Ada-Femi"), field("active", "Active", "true")]),
        ),
    ] {
        check(
            &task,
            form,
            &[
                (
                    "another value",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        let Config::NewRecord(task) = config else { panic!() };
                        let change =
                            [(task.fields[0].column.clone(), json!("another"))].into_iter().collect();
                        let sent = desk.page.sent.clone().unwrap();
                        assert!(now(desk.tables.update(&task.table, &sent, &change)).unwrap().is_some());
                    },
                    true,
                ),
                (
                    "another field",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        desk.page.spoilt = true;
                    },
                    true,
                ),
                (
                    "not sent",
                    |desk, config, _| {
                        let Config::NewRecord(task) = config else { panic!() };
                        let (label, value) = (task.fields[0].label.clone(), task.fields[0].value.clone());
                        desk.take(config, &Move::Fill { label, value });
                    },
                    false,
                ),
                ("not accepted", |desk, _, _| desk.page.sent = Some("nonesuch".to_owned()), false),
                (
                    "elsewhere",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        go(desk, "/now/nav/ui/home");
                    },
                    false,
                ),
            ],
        );
    }
}

#[test]
fn what_others_have_made_stays() {
    let task = config(
        json!({"new_record": {"table": "incident", "fields": [{"column": "short_description", "label": "Short", "value": "Mine"}], "form": []}}),
    );
    let mut desk = Desk::new();
    let before = desk.tables.clone();
    let old = desk.tables.find(&Lookup::new("incident", "")).unwrap();
    let visit = desk.begin(&task).unwrap();
    desk.page.sent = Some(kept(&old[0], "sys_id").to_owned());
    assert!(desk.validate(&task, &visit).unwrap().done, "it holds another value");
    desk.solve(&task, &visit);
    desk.solve(&task, &visit);
    desk.end(&task, visit);
    assert_eq!(desk.tables, before);
}

#[test]
fn order() {
    let options = json!([
        {"question": "Which colour?", "control": "radio", "value": "Space Red"},
        {"question": "With lid", "control": "checkbox", "value": true},
        {"question": "Without spout", "control": "checkbox", "value": false},
        {"question": "Anything else", "control": "textarea", "value": "Quick"},
    ]);
    for (quantity, options) in [(3, options.clone()), (1, json!([])), (10, json!([options[1]]))] {
        let task = json!({"order": {"item": "Kettle", "description": "ONE kettle", "quantity": quantity, "options": options}});
        let nears: [Near; 5] = [
            ("nothing", |desk, _, _| desk.page.url += "%3Fsysparm_sys_id%3Dnonesuch", false),
            (
                "more",
                |desk, config, visit| {
                    desk.solve(config, visit);
                    desk.take(config, &Move::Fill { label: "Quantity".to_owned(), value: "7".to_owned() });
                    desk.take(config, &click("button", "Order Now"));
                },
                true,
            ),
            (
                "another item",
                |desk, config, visit| {
                    desk.solve(config, visit);
                    desk.take(config, &click("link", "Teapot"));
                    desk.take(config, &click("button", "Order Now"));
                },
                true,
            ),
            (
                "two items",
                |desk, config, visit| {
                    desk.solve(config, visit);
                    let items = desk.tables.find(&Lookup::new("sc_req_item", "")).unwrap();
                    desk.tables.insert("sc_req_item", &items[0], Input::Kept).unwrap();
                },
                true,
            ),
            (
                "no items",
                |desk, config, visit| {
                    desk.solve(config, visit);
                    let items = desk.tables.find(&Lookup::new("sc_req_item", "")).unwrap();
                    now(desk.tables.delete("sc_req_item", kept(&items[0], "sys_id"))).unwrap();
                },
                false,
            ),
        ];
        let mut desk = Desk::new();
        let task = config(task);
        let visit = desk.begin(&task).unwrap();
        for (name, near, done) in nears {
            let mut other = desk.clone();
            near(&mut other, &task, &visit);
            let verdict = other.validate(&task, &visit).unwrap();
            assert_eq!((verdict.reward, verdict.done), (0.0, done), "{name}: {verdict:?}");
        }
        let mut other = desk.clone();
        other.solve(&task, &visit);
        let answers = other.tables.find(&Lookup::new("sc_item_option", "")).unwrap();
        for answer in &answers {
            let change = [("value".to_owned(), json!("other"))].into_iter().collect();
            now(other.tables.update("sc_item_option", kept(answer, "sys_id"), &change)).unwrap();
        }
        assert_eq!(other.validate(&task, &visit).unwrap().reward, f64::from(u8::from(answers.is_empty())));
        desk.solve(&task, &visit);
        assert_eq!(desk.validate(&task, &visit).unwrap().reward, 1.0);
        desk.end(&task, visit);
        // What was asked belongs to the catalogue, and is all that stays.
        let left: Vec<&str> =
            desk.tables.tables().map(|(name, _)| name).filter(|name| name.starts_with("sc_")).collect();
        assert_eq!(left, [""; 0]);
    }
}

fn click(role: &str, name: &str) -> Move {
    let element = tasks::Element { role: role.to_owned(), name: name.to_owned(), nth: 0 };
    Move::Step(OracleStep::Click(element))
}

fn charts() -> Value {
    let point = |category: &str, name: &str, original: &str, count: f64, percent: Option<f64>| json!({"category": category, "name": name, "original": original, "count": count, "percent": percent});
    json!([
        {"title": "Open tools. Highcharts interactive chart.", "types": ["pie"], "series": [{"name": "Tools", "points": [
            point("", "Hammers 2", " Hammers 2 kg ", 12.0, Some(60.0)), point("", "Saws", "xyz", 8.0, Some(40.0)),
            point("", "Files", "", 0.0, None)]}]},
        {"title": "Rooms", "types": ["column", "column"], "series": [
            {"name": "Old", "points": [point("North", "x", "", 1234.5, None), point("South", "y", "", 3.0, None)]},
            {"name": "New", "points": [point("North", "x", "", 3.0, None), point("South", "y", "", 3.0, None)]}]},
    ])
}

#[test]
fn chart() {
    let prepare: fn(&mut Desk) = |desk| desk.page.charts = charts();
    let url = "/now/nav/ui/classic/params/target/report.do%3Fq=REPORT_DATE_FILTER,REPORT_TIME_FILTER";
    for (title, series, question) in [
        ("", "", json!("max")),
        ("open TOOLS", "", json!("min")),
        ("Open tools", "", json!({"value": {"unit": "percent", "label": "Hammers 2 kg"}})),
        ("Open tools", "", json!({"value": {"unit": "percent", "label": "Files"}})),
        ("Rooms", "Old", json!({"value": {"unit": "count", "label": "North"}})),
        ("Rooms", "New", json!("max")),
    ] {
        let task = json!({"chart": {"url": url, "title": title, "series": series, "question": question}});
        check(
            &config(task),
            prepare,
            &[
                (
                    "another number",
                    |desk, _, _| desk.said = Some("Hammers 2 kg, North, Files: 777".to_owned()),
                    true,
                ),
                (
                    "two numbers",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        desk.said = desk.said.take().map(|said| said + " or 777");
                    },
                    true,
                ),
                ("no number", |desk, _, _| desk.said = Some("Hammers".to_owned()), false),
                (
                    "another page",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        go(desk, "/now/nav/ui/home");
                    },
                    false,
                ),
            ],
        );
    }
}

#[test]
fn of_several_extremes_any_label_will_do() {
    let task =
        config(json!({"chart": {"url": "/report.do", "title": "Rooms", "series": "New", "question": "max"}}));
    let mut desk = Desk::new();
    desk.page.charts = charts();
    let visit = desk.begin(&task).unwrap();
    for (said, reward) in
        [("north 3", 1.0), ("South: 3.0", 1.0), ("3", 0.0), ("South 3.1", 0.0), ("South 3,000", 0.0)]
    {
        desk.said = Some(said.to_owned());
        assert_eq!(desk.validate(&task, &visit).unwrap().reward, reward, "{said}");
    }
}

#[test]
fn what_the_published_code_raises_on_is_no_verdict() {
    let task =
        config(json!({"chart": {"url": "/report.do", "title": "Cellars", "series": "", "question": "max"}}));
    let mut desk = Desk::new();
    desk.page.charts = charts();
    let visit = desk.begin(&task).unwrap();
    desk.said = Some("3".to_owned());
    assert_eq!(desk.validate(&task, &visit).unwrap_err(), Failure::Raised("ValueError"));
    for (types, expect) in
        [(json!(["pie", "bar"]), "NotImplementedError"), (json!(["map"]), "NotImplementedError")]
    {
        desk.page.charts[0]["title"] = json!("Cellars");
        desk.page.charts[0]["types"] = types;
        assert_eq!(desk.validate(&task, &visit).unwrap_err(), Failure::Raised(expect));
    }
}

/// A task that an instance cannot give is none that an agent failed at, and leaves nothing.
#[test]
fn a_task_that_cannot_be_set_up_is_told_with_its_cure() {
    let menu = json!({"menu": {"application": "a", "module": "b", "url": "/c"}});
    let user = json!({"impersonation": {"user": "Nobody ^OR name=Ned Moss"}});
    let base = serde_json::to_value(Articles::of([ARTICLES[0], "other"])).unwrap();
    let knowledge = json!({"knowledge": {"question": "a", "item": "b", "value": "c", "alternative_answers": [], "base": base}});
    let chart = json!({"chart": {"url": "/a", "title": "", "series": "", "question": "max"}});
    let form = json!({"new_record": {"table": "incident", "fields": [], "form": ["a"]}});
    for (task, without, says) in [
        (menu.clone(), Some("m2m_theme_style"), "its theme `WorkArena` has no variants"),
        (menu, Some("sys_user_role"), "it has no role `admin`"),
        (user, None, "it has no user `Nobody"),
        (
            knowledge.clone(),
            None,
            "`General Knowledge` has other articles; run the benchmark's `workarena-install`",
        ),
        (knowledge, Some("kb_knowledge"), "`General Knowledge` lacks an article"),
        (chart, Some("sys_properties"), "does not say up to which time reports go"),
    ] {
        let mut desk = Desk::new();
        for row in without.map(|table| desk.tables.find(&Lookup::new(table, "")).unwrap()).unwrap_or_default()
        {
            now(desk.tables.delete(without.unwrap(), kept(&row, "sys_id"))).unwrap();
        }
        let before = desk.tables.clone();
        let told = desk.begin(&config(task)).unwrap_err().to_string();
        assert!(told.starts_with("prepare the instance: ") && told.contains(says), "{told}");
        assert_eq!(desk.tables, before);
    }
    let told = Desk::new().begin(&config(form)).unwrap_err().to_string();
    assert!(told.contains("its form of `incident` has or lacks a"), "{told}");
}

#[test]
fn two_episodes_at_a_time_have_users_of_their_own() {
    let task = config(json!({"menu": {"application": "a", "module": "b", "url": "/c"}}));
    let mut desk = Desk::new();
    let before = desk.tables.clone();
    let (first, second) = (desk.begin(&task).unwrap(), desk.begin(&task).unwrap());
    assert_ne!(first.user.name, second.user.name);
    assert!(first.login_url().starts_with("https://desk.test/login.do?user_name="), "{}", first.login_url());
    desk.end(&task, first);
    desk.end(&task, second);
    assert_eq!(desk.tables, before);
}

#[test]
fn there_are_33_kinds() {
    let of = |category: &str| KINDS.iter().filter(|kind| kind.category == category).count();
    let counts =
        ["menu", "form", "list-filter", "list-sort", "knowledge", "service catalog", "dashboard"].map(of);
    assert_eq!(counts, [2, 5, 6, 6, 1, 9, 4]);
    let mut files: Vec<&str> = KINDS.iter().map(|kind| kind.file).collect();
    files.sort_unstable();
    files.dedup();
    assert_eq!(files.len(), 33);
}
