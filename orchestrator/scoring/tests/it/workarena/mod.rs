//! WorkArena's tasks on a desk in memory: nothing done earns nothing, nor does what comes near; the
//! solution earns all, and afterwards the desk is as it was before.

mod charts;
mod desk;
mod forms;

use desk::{ADDRESS, ARTICLES, Desk, now};
use scoring::Pages as _;
use scoring::evidence::Visit;
use scoring::solution::{Element, OracleStep};
use scoring::tables::{Input, Lookup, Tables as _, kept};
use scoring::workarena::{Articles, Config, Failure, KINDS, Move};
use serde_json::{Value, json};

fn config(value: Value) -> Config {
    serde_json::from_value(value).unwrap()
}

/// What comes near, and whether it ends the episode.
type NearMiss = (&'static str, fn(&mut Desk, &Config, &Visit), bool);

fn check(config: &Config, prepare: fn(&mut Desk), nears: &[NearMiss]) {
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

fn click(role: &str, name: &str) -> Move {
    let element = Element { role: role.to_owned(), name: name.to_owned(), nth: 0 };
    Move::Step(OracleStep::Click(element.into()))
}

#[test]
fn menu() {
    for url in
        ["/now/nav/ui/classic/params/target/tool_list.do", "/now/tools?view=a%20b", "/tools;"]
    {
        let task =
            json!({"menu": {"application": "Tools", "module": "Lists > Hammers", "url": url}});
        check(
            &config(task),
            nothing,
            &[
                (
                    "another page",
                    |desk, _, _| go(desk, "/now/nav/ui/classic/params/target/tool.do"),
                    false,
                ),
                (
                    "another host",
                    |desk, _, _| desk.page.url = "https://other.test/tools".to_owned(),
                    false,
                ),
            ],
        );
    }
}

#[test]
fn impersonation() {
    for user in ["Orla Finch", "Ned Moss"] {
        let nears: [NearMiss; 2] = [
            (
                "not impersonating",
                |desk, config, _| {
                    let Config::Impersonation(task) = config else { panic!() };
                    let found = desk
                        .tables
                        .find(&Lookup::new("sys_user", format!("name={}", task.user)))
                        .unwrap();
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
        let nears: [NearMiss; 2] = [
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
        let task = config(
            json!({"filter": {"table": "alm_asset", "kind": kind, "conditions": conditions}}),
        );
        check(
            &task,
            nothing,
            &[
                ("no filter", |desk, _, _| go(desk, LIST), false),
                (
                    "joined otherwise",
                    |desk, config, visit| {
                        desk.solve(config, visit);
                        let (from, to) = if desk.page.query.contains("^OR") {
                            ("^OR", "^")
                        } else {
                            ("^", "^OR")
                        };
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
        let nears: [NearMiss; 3] = [
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
        for row in without
            .map(|table| desk.tables.find(&Lookup::new(table, "")).unwrap())
            .unwrap_or_default()
        {
            now(desk.tables.delete(without.unwrap(), kept(&row, "sys_id"))).unwrap();
        }
        let before = desk.tables.clone();
        let error = desk.begin(&config(task)).unwrap_err().to_string();
        assert!(error.starts_with("prepare the instance: ") && error.contains(says), "{error}");
        assert_eq!(desk.tables, before);
    }
    let error = Desk::new().begin(&config(form)).unwrap_err().to_string();
    assert!(error.contains("its form of `incident` has or lacks a"), "{error}");
}

#[test]
fn two_episodes_at_a_time_have_users_of_their_own() {
    let task = config(json!({"menu": {"application": "a", "module": "b", "url": "/c"}}));
    let mut desk = Desk::new();
    let before = desk.tables.clone();
    let (first, second) = (desk.begin(&task).unwrap(), desk.begin(&task).unwrap());
    assert_ne!(first.user.name, second.user.name);
    assert!(
        first.login_url().starts_with("https://desk.test/login.do?user_name="),
        "{}",
        first.login_url()
    );
    desk.end(&task, first);
    desk.end(&task, second);
    assert_eq!(desk.tables, before);
}

#[test]
fn there_are_33_kinds() {
    let of = |category: &str| KINDS.iter().filter(|kind| kind.category == category).count();
    let counts =
        ["menu", "form", "list-filter", "list-sort", "knowledge", "service catalog", "dashboard"]
            .map(of);
    assert_eq!(counts, [2, 5, 6, 6, 1, 9, 4]);
    let mut files: Vec<&str> = KINDS.iter().map(|kind| kind.file).collect();
    files.sort_unstable();
    files.dedup();
    assert_eq!(files.len(), 33);
}
