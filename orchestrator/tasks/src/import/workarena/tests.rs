#![allow(clippy::unwrap_used)]

use scoring::workarena::KINDS;

use super::*;

/// Files of our own making, in the published form.
const FILES: [(&str, &str); 8] = [
    (
        "all-menu",
        r#"[{"application": "Tools", "module": "Lists > Hammers", "url": "/now/nav/ui/classic/params/target/tool_list.do"}]"#,
    ),
    ("impersonation", r#"["Orla Finch", "Ned Moss"]"#),
    (
        "knowledge-base-search",
        r#"[{"item": "tea break", "question": "When is tea?", "value": "at four", "alternative_answers": ["16:00"]}]"#,
    ),
    (
        "filter-asset-list",
        r#"[{"filter_columns": ["state", "owner"], "filter_kind": "AND", "filter_values": ["In use", "Orla Finch"],
          "list_info": {"columns": {
            "state": {"label": "State", "type": "choice", "choices": {"1": "In use", "2": "Lost"}, "max_length": 40},
            "owner": {"label": "Owned by", "type": "reference", "reference": "sys_user",
                      "reference_attributes": {"display_field": "name"}},
            "note": {"label": "Note", "type": "string"}}}}]"#,
    ),
    (
        "sort-user-list",
        r#"[{"goal": "Sort the \"users\" list by the following fields:\n - Name (full) (ascending)\n - Age (descending)",
          "sort_dirs": ["asc", "desc"], "sort_fields": ["name", "age"]}]"#,
    ),
    (
        "create-user",
        r#"[{"fields": {"user_name": "User ID", "first_name": "First name", "last_name": "Last name", "email": "Email", "title": "Title"},
          "task_fields": ["user_name", "email", "last_name", "first_name", "title"],
          "template_record": {"user_name": "o.f", "first_name": "Orla", "last_name": "Finch", "email": "o@f.test", "title": "Smith",
                              "company": {"display_value": "Forge", "link": "https://x.test/1"}, "age": null}}]"#,
    ),
    (
        "order-ipad-pro",
        r#"[{"item": "Kettle", "description": "A kettle", "quantity": 3, "configuration":
          {"Which colour?": ["radio", "Red"], "With lid": ["checkbox", true], "Anything else": ["textarea", "It's \"urgent\""]}}]"#,
    ),
    (
        "single-chart-value-retrieval",
        r#"[{"url": "/report.do%3Fquery=REPORT_DATE_FILTER", "chart_title": "", "chart_series": "Open", "question": "value; count; A, b"}]"#,
    ),
];

fn setup() -> Setup {
    let mut setup = Setup::default();
    let articles = r#"[{"article": "<p>Tea is at four.</p>", "item": "tea", "value": "four", "questions": [], "alternative_answers": []}]"#;
    setup.read_articles(articles).unwrap();
    for (table, _) in FORMS {
        setup.read_form(table, r#"["title"]"#).unwrap();
    }
    setup
}

fn wanted() -> TaskOptions {
    TaskOptions { seed: 7, ..TaskOptions::new("desk", "https://desk.test/") }
}

fn kind(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).unwrap()
}

fn import(name: &str, json: &str) -> Result<Import, ImportError> {
    let mut import = Import::default();
    workarena(kind(name), Some(json), &setup(), &wanted(), &mut import)?;
    Ok(import)
}

#[test]
fn goals_are_rendered_and_tasks_load_again() {
    let goals: [&[&str]; 8] = [
        &["Navigate to the \"Lists > Hammers\" module of the \"Tools\" application."],
        &["Impersonate the user Orla Finch.", "Impersonate the user Ned Moss."],
        &["Answer the following question using the knowledge base: \"When is tea?\""],
        &[
            "Create a filter for the list to extract all entries where:\n    - \"State\" is \"In use\" and \n    - \"Owned by\" is \"Orla Finch\"",
        ],
        &[
            "Sort the \"users\" list by the following fields:\n - Name (full) (ascending)\n - Age (descending)",
        ],
        &[],
        &[
            "Go to the hardware store and order 3 \"Kettle\" with configuration {'Which colour?': 'Red', 'With lid': True, 'Anything else': 'It\\'s \"urgent\"'}",
        ],
        &["What is the value of \"A, b\" in the \"Open\" series of the chart (in count)?"],
    ];
    for ((name, json), expect) in FILES.into_iter().zip(goals) {
        let import = import(name, json).unwrap();
        let found: Vec<&str> = import
            .tasks
            .iter()
            .filter_map(|task| match &task.goal {
                GoalText::Words(words) => Some(words.as_str()),
                GoalText::Page(_) => None,
            })
            .collect();
        if !expect.is_empty() {
            assert_eq!(found, expect, "{name}");
        }
        for task in &import.tasks {
            let yaml = serde_yaml::to_string(task).unwrap();
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).unwrap(), task, "{yaml}");
        }
    }
}

#[test]
fn what_has_to_be_unique_is_and_follows_from_the_seed() {
    let (name, json) = FILES[5];
    let twice = format!("[{0}, {0}]", &json[1..json.len() - 1]);
    let found = import(name, &twice).unwrap();
    let values = |task: &Task| match &task.scorer {
        Scorer::WorkArena(Config::NewRecord(new)) => {
            new.fields.iter().map(|field| field.value.clone()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let (first, second) = (values(&found.tasks[0]), values(&found.tasks[1]));
    assert_ne!(first[0], second[0]);
    assert_eq!(first[1], format!("{}.{}@workarena.com", first[3], first[2]).to_lowercase());
    assert_eq!((first[4].as_str(), first[3].contains('-')), ("Smith", true));
    assert_eq!(found.tasks, import(name, &twice).unwrap().tasks);
}

#[test]
fn some_of_many_are_taken_and_a_missing_file_is_told() {
    let users =
        serde_json::to_string(&(0..50).map(|n| format!("User {n}")).collect::<Vec<_>>()).unwrap();
    let mut few = Import::default();
    let wanted = TaskOptions { per_kind: Some(4), ..wanted() };
    workarena(kind("impersonation"), Some(&users), &setup(), &wanted, &mut few).unwrap();
    workarena(kind("all-menu"), None, &setup(), &wanted, &mut few).unwrap();
    let ids: Vec<&str> = few.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids.len(), 4);
    assert_ne!(
        ids,
        ["0", "1", "2", "3"].map(|n| format!("workarena-impersonation-{n}")),
        "not the first"
    );
    assert_eq!(few.skipped[0].id, "workarena-all-menu");
    assert!(few.skipped[0].reason.contains("task_configs/all_menu.json"), "{:?}", few.skipped);
}

#[test]
fn published_tasks_are_named_by_their_seeds_and_drawn_as_the_package_draws_them() {
    let users: Vec<String> = (0..600).map(|n| format!("User {n}")).collect();
    let json = serde_json::to_string(&users).unwrap();
    let import = |per_kind, seed| {
        let mut import = Import::default();
        let desk = TaskOptions {
            selection: Selection::Published,
            prefix: DESK,
            per_kind,
            seed,
            ..wanted()
        };
        workarena(kind("impersonation"), Some(&json), &setup(), &desk, &mut import).unwrap();
        workarena(kind("create-user"), Some(FILES[5].1), &setup(), &desk, &mut import).unwrap();
        import.tasks
    };
    let tasks = import(None, 7);
    assert_eq!(tasks.len(), 20);
    assert_eq!(tasks[0].id, "workarena-desk-impersonation.330");
    // numpy draws 503 of 600 from the seed 330.
    assert_eq!(tasks[0].goal, GoalText::Words("Impersonate the user User 503.".to_owned()));
    let goals: std::collections::BTreeSet<String> =
        tasks[10..].iter().map(|task| format!("{:?}", task.goal)).collect();
    assert_eq!(goals.len(), 10, "each makes a user of its own, of the one configuration");
    assert_eq!(import(Some(2), 7), [&tasks[..2], &tasks[10..12]].concat());
    assert_eq!(import(None, 8)[..10], tasks[..10], "the seed decides nothing but unique values");
}

#[test]
fn what_nobody_knows_is_refused_with_its_key() {
    for (place, from, to, says) in [
        (0, "\"url\"", "\"urls\"", "[0].urls: unknown field `urls`"),
        (2, "\"at four\"", "4", "[0].value: invalid type: integer `4`"),
        (
            3,
            "\"max_length\"",
            "\"max_width\"",
            "[0].list_info.columns.state.max_width: unknown field `max_width`",
        ),
        (3, "\"owner\": {", "\"other\": {", "[0]: `list_info` has no column `owner`"),
        (3, "\"AND\"", "\"NOR\"", "unknown variant `NOR`"),
        (4, "Sort the", "Sort all", "[0]: its goal is not as goals of its kind are"),
        (5, "\"title\": \"Smith\"", "\"title\": null", "[0]: template_record.title is no text"),
        (6, "\"radio\"", "\"dial\"", "[0]: configuration.Which colour?: unknown variant `dial`"),
        (7, "value; count", "sum; count", "[0]: the question \"sum; count; A, b\" is not known"),
    ] {
        let (name, json) = FILES[place];
        assert!(json.contains(from), "{from}");
        let error = import(name, &json.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
