//! Loading suites from disk: what is accepted, and how mistakes are reported.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use scoring::solution::OracleStep;
use scoring::{KeyNodes, PageCheck, Scorer};
use tasks::{GoalText, MatchLevel, Suite, Task};
use tempfile::TempDir;

const WORLD: &str = "world:\n  snapshots: [web.wacz]\n  clock: 2026-03-14T09:00:00Z\n";
const TASK: &str = "id: one\ngoal: Find it.\nscorer:\n  assistantbench:\n    gold: '5'\n";

fn suite(files: &[(&str, &str)]) -> (TempDir, Utf8PathBuf) {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = Utf8Path::from_path(folder.path()).unwrap().to_owned();
    (folder, path)
}

/// The error text of a suite, its folder replaced.
fn refusal(files: &[(&str, &str)]) -> String {
    let (_folder, path) = suite(files);
    let Err(error) = Suite::load(&path) else { return "accepted".to_owned() };
    error.to_string().replace(path.as_str(), "SUITE")
}

fn task_refusal(task: &str) -> String {
    refusal(&[("suite.yaml", WORLD), ("a.yaml", task)])
}

#[test]
fn a_suite_with_every_key_is_read() {
    let full = r#"
id: rail-1
goal: When does the first train leave?
start_url: https://rail.test/
sites: [rail.test]
max_steps: 12
goal_images: [https://rail.test/map.png]
early_stop: {repeats: 3, unreadable: 2}
tags: [answer, rail]
scorer:
  mind2web_live:
    nodes:
      - url_included_match: {reference: rail.}
      - url_exactly_match: {reference: Alton, key: from}
      - element_value_exactly_match: {reference: Alton, netloc: rail, path: "[name=from]"}
      - element_path_exactly_match: {reference: //button, netloc: rail, method: xpath}
      - final_answer_included_match: {reference: "06:12"}
oracle:
  - goto: https://rail.test/timetable
  - click: {role: link, name: Timetable, nth: 1}
  - fill: {role: textbox, name: From, value: Alton}
  - select: {role: combobox, name: Class, options: [First]}
  - press: {role: textbox, name: From, keys: Enter}
  - scroll: {dy: 600}
  - go_back
  - noop
  - answer: 06:12
"#;
    let (_folder, path) = suite(&[("suite.yaml", WORLD), ("a.yaml", full)]);
    let suite = Suite::load(&path).unwrap();
    assert_eq!(suite.world.snapshots, [path.join("web.wacz")]);
    assert_eq!(suite.world.viewport, (1280, 720));
    let task = suite.task("rail-1").unwrap();
    let Scorer::Mind2WebLive(KeyNodes { nodes }) = &task.scorer else {
        panic!("{:?}", task.scorer)
    };
    assert_eq!(nodes.len(), 5);
    assert_eq!(task.oracle.len(), 9);
    assert_eq!(task.oracle[1].element().unwrap().nth, 1);
    assert_eq!(task.oracle[6], OracleStep::GoBack);
    assert_eq!(Suite::load(&path.join("a.yaml")).unwrap().tasks.len(), 1);
    insta::assert_snapshot!(serde_yaml::to_string(task).unwrap());
}

#[test]
fn a_page_may_give_the_goal_and_the_score() {
    let yaml = "id: one\nstart_url: https://game.test/\nsetup_script: game.start(7)\ngoal: {page: game.goal}\nscorer:\n  page:\n    \
        reward: game.points / 10\n    done: game.over\n";
    let (_folder, path) = suite(&[("suite.yaml", WORLD), ("a.yaml", yaml)]);
    let suite = Suite::load(&path).unwrap();
    let task = &suite.tasks[0];
    assert_eq!(task.goal, GoalText::Page("game.goal".to_owned()));
    assert_eq!(task.setup_script.as_deref(), Some("game.start(7)"));
    let check =
        PageCheck { reward: "game.points / 10".to_owned(), done: Some("game.over".to_owned()) };
    assert_eq!(task.scorer, Scorer::Page(check));
    let written = serde_yaml::to_string(task).unwrap();
    assert_eq!(&serde_yaml::from_str::<Task>(&written).unwrap(), task, "{written}");
    for (from, to, wrong) in [
        (
            "{page: game.goal}",
            "{pge: game.goal}",
            "SUITE/a.yaml:4:8: goal: unknown field `pge`, expected `page`",
        ),
        ("{page: game.goal}", "{page: ''}", "SUITE/a.yaml:4:14: goal.page: is empty"),
        ("{page: game.goal}", "[a]", "goal: invalid type: sequence, expected a text, or `page`"),
        ("game.start(7)", "''", "setup_script: is empty"),
        ("    done:", "    dun:", "unknown field `dun`, expected `reward` or `done`"),
        ("    reward: game.points / 10\n", "", "missing field `reward`"),
    ] {
        let error = task_refusal(&yaml.replace(from, to));
        assert!(error.contains(wrong), "{error}");
    }
}

#[test]
fn a_world_may_name_its_search_engine() {
    let world = format!("{WORLD}  search: http://find.test/?q={{}} # ours\n");
    let (_folder, path) = suite(&[("suite.yaml", &world), ("a.yaml", TASK)]);
    assert_eq!(Suite::load(&path).unwrap().world.search.as_deref(), Some("http://find.test/?q={}"));
}

#[test]
fn a_task_may_have_another_world_than_its_suite() {
    let world = format!("{WORLD}  storage_state: ann.json\n");
    let own = format!(
        "{TASK}snapshots: [two.wacz, /three.wacz]\nclock: 2025-01-02T03:04:05+01:00\nstorage_state: bob.json\n\
         device: {{timezone: Asia/Tokyo}}\n"
    );
    let usual = TASK.replace("one", "two");
    let (_folder, path) = suite(&[("suite.yaml", &world), ("a.yaml", &own), ("b.yaml", &usual)]);
    let suite = Suite::load(&path).unwrap();
    let [one, two] = suite.tasks.as_slice() else { panic!("{:?}", suite.tasks) };
    assert_eq!(two.world(&suite.world), suite.world);
    assert_eq!(suite.world.storage_state, Some(path.join("ann.json")));
    let world = one.world(&suite.world);
    assert_eq!(world.snapshots, [path.join("two.wacz"), "/three.wacz".into()]);
    assert_eq!(world.clock.to_string(), "2025-01-02T02:04:05Z");
    assert_eq!(world.storage_state, Some(path.join("bob.json")));
    assert_eq!((world.seed, world.viewport), (suite.world.seed, suite.world.viewport));
    let written = serde_yaml::to_string(one).unwrap();
    assert_eq!(&serde_yaml::from_str::<Task>(&written).unwrap(), one, "{written}");
}

#[test]
fn keys_are_read_under_their_older_names_too() {
    let keys = [
        ("mistake", "wrong_solution", "[{answer: no}]"),
        ("user", "messages", "[{step: 2, says: Hurry.}]"),
        ("begin", "setup_script", "game.start()"),
        ("stop", "early_stop", "{repeats: 3}"),
        ("images", "goal_images", "[https://rail.test/map.png]"),
    ];
    for (older, name, value) in keys {
        let load = |key: &str| {
            let text = format!("{TASK}{key}: {value}\n");
            let (_folder, path) = suite(&[("suite.yaml", WORLD), ("a.yaml", &text)]);
            Suite::load(&path).unwrap().tasks.remove(0)
        };
        assert_eq!(load(older), load(name), "{older}");
        let both = task_refusal(&format!("{TASK}{older}: {value}\n{name}: {value}\n"));
        assert!(both.contains(&format!("duplicate field `{name}`")), "{both}");
    }
}

#[test]
fn mistakes_are_reported_with_file_line_and_key() {
    let cases = [
        ("unknown key", task_refusal(&format!("{TASK}max_step: 5\n"))),
        ("wrong type", task_refusal(&format!("{TASK}max_steps: many\n"))),
        ("negative", task_refusal(&format!("{TASK}max_steps: -1\n"))),
        ("key twice", task_refusal(&format!("{TASK}goal: Again.\n"))),
        ("missing key", task_refusal("id: one\ngoal: Find it.\n")),
        ("number as gold", task_refusal(&TASK.replace("'5'", "5"))),
        ("unknown scorer", task_refusal(&TASK.replace("assistantbench", "webvoyager"))),
        ("unknown key in scorer", task_refusal(&format!("{TASK}    golds: x\n"))),
        ("unknown action", task_refusal(&format!("{TASK}oracle:\n  - goto: u\n  - tap: x\n"))),
        (
            "unknown key in action",
            task_refusal(&format!("{TASK}oracle:\n  - noop\n  - click: {{role: link, nam: x}}\n")),
        ),
        (
            "wrong type in action",
            task_refusal(&format!(
                "{TASK}oracle:\n  - noop\n  - fill: {{role: textbox, name: x, value: [1]}}\n"
            )),
        ),
        (
            "unknown method in node",
            task_refusal(
                "id: one\ngoal: g\nscorer:\n  mind2web_live:\n    nodes:\n      - url_included_match: {reference: a}\n      - element_path_exactly_match: {reference: a, netloc: b, method: css}\n",
            ),
        ),
        (
            "unknown key in node",
            task_refusal(
                "id: one\ngoal: g\nscorer:\n  mind2web_live:\n    nodes:\n      - url_included_match: {reference: a}\n      - url_included_match: {referense: a}\n",
            ),
        ),
        ("no nodes", task_refusal("id: one\ngoal: g\nscorer:\n  mind2web_live:\n    nodes: []\n")),
        ("not yaml", task_refusal("id: [one\ngoal: x\n")),
        ("two documents", task_refusal(&format!("{TASK}---\n{TASK}"))),
        ("empty", task_refusal("")),
        ("bad id", task_refusal(&TASK.replace("one", "../one"))),
        ("no goal", task_refusal(&TASK.replace("Find it.", ""))),
        ("no steps", task_refusal(&format!("{TASK}max_steps: 0\n"))),
        (
            "clock of a task without its offset",
            task_refusal(&format!("{TASK}clock: 2026-03-14T09:00:00\n")),
        ),
        (
            "snapshot of a task that is no list",
            task_refusal(&format!("{TASK}snapshots: web.wacz\n")),
        ),
        (
            "JSON of a task that is none",
            task_refusal("id: one\ngoal: g\nscorer:\n  warcbench:\n    json_matcher: '{a}'\n"),
        ),
        ("same id", refusal(&[("suite.yaml", WORLD), ("a.yaml", TASK), ("b.yaml", TASK)])),
        ("no tasks", refusal(&[("suite.yaml", WORLD)])),
        ("no world", refusal(&[("a.yaml", TASK)])),
        ("bad clock", refusal(&[("suite.yaml", &WORLD.replace("Z", "")), ("a.yaml", TASK)])),
        (
            "unknown key in world",
            refusal(&[("suite.yaml", &format!("{WORLD}  sed: 1\n")), ("a.yaml", TASK)]),
        ),
        (
            "bad match",
            refusal(&[("suite.yaml", &format!("{WORLD}  match: loose\n")), ("a.yaml", TASK)]),
        ),
        (
            "misspelt time zone",
            refusal(&[
                ("suite.yaml", &format!("{WORLD}  timezone: Europe/Londn\n")),
                ("a.yaml", TASK),
            ]),
        ),
        (
            "unknown locale",
            refusal(&[
                ("suite.yaml", &format!("{WORLD}  locale: xx-invalid-locale\n")),
                ("a.yaml", TASK),
            ]),
        ),
        (
            "time zone of a device",
            task_refusal(&format!("{TASK}device: {{timezone: Asia/Tokio}}\n")),
        ),
        ("locale of a device", task_refusal(&format!("{TASK}device:\n  locale: de_DE\n"))),
        ("empty name of a browser", task_refusal(&format!("{TASK}device: {{user_agent: ''}}\n"))),
        (
            "place that is none",
            task_refusal(&format!(
                "{TASK}device: {{geolocation: {{latitude: 91, longitude: 0}}}}\n"
            )),
        ),
        (
            "bad viewport",
            refusal(&[("suite.yaml", &format!("{WORLD}  viewport: [0, 720]\n")), ("a.yaml", TASK)]),
        ),
        (
            "search without a place for the query",
            refusal(&[
                ("suite.yaml", &format!("{WORLD}  search: http://find.test/?q=\n")),
                ("a.yaml", TASK),
            ]),
        ),
    ];
    let lines: Vec<String> = cases.iter().map(|(case, error)| format!("{case}: {error}")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn how_alike_requests_must_be_and_when_a_world_begins_have_defaults() {
    let world = |text: &str| {
        let (_folder, path) = suite(&[("suite.yaml", text), ("a.yaml", TASK)]);
        Suite::load(&path).map(|suite| suite.world).map_err(|error| error.to_string())
    };
    for (word, level) in [
        ("exact", MatchLevel::Exact),
        ("normalised", MatchLevel::Normalised),
        ("fuzzy", MatchLevel::Fuzzy { threshold: 0.5 }),
        ("fuzzy:0.8", MatchLevel::Fuzzy { threshold: 0.8 }),
    ] {
        let read = world(&format!("{WORLD}  match: {word}\n")).unwrap();
        assert_eq!(read.match_level, level);
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(written["match"], word);
    }
    for word in ["fuzzy:2", "fuzzy:", "fuzzy:NaN", "Exact"] {
        assert!(
            world(&format!("{WORLD}  match: '{word}'\n")).unwrap_err().contains("fuzzy:0.8"),
            "{word}"
        );
    }
    assert_eq!(world("world:\n  snapshots: [web.wacz]\n").unwrap().clock, tasks::UNDATED);
}
