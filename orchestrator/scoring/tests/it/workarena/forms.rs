//! Records that are made and things that are ordered.

use super::*;

#[test]
fn new_record() {
    let record = |table: &str, fields: Value| {
        config(json!({"new_record": {"table": table, "fields": fields, "form": ["a", "b"]}}))
    };
    let field = |column: &str, label: &str, value: &str| json!({"column": column, "label": label, "value": value});
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
            json!([
                field("model", "Model", "Anvil 3"),
                field("serial_number", "Serial number", "SN-1")
            ]),
        ),
        record("problem", json!([field("short_description", "Problem statement", "No tea")])),
        record(
            "sys_user",
            json!([
                field("first_name", "First name", "Ada-Femi"),
                field("active", "Active", "true")
            ]),
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
                        let change = [(task.fields[0].column.clone(), json!("another"))]
                            .into_iter()
                            .collect();
                        let sent = desk.page.sent.clone().unwrap();
                        assert!(
                            now(desk.tables.update(&task.table, &sent, &change)).unwrap().is_some()
                        );
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
                        let (label, value) =
                            (task.fields[0].label.clone(), task.fields[0].value.clone());
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
        let nears: [NearMiss; 5] = [
            ("nothing", |desk, _, _| desk.page.url += "%3Fsysparm_sys_id%3Dnonesuch", false),
            (
                "more",
                |desk, config, visit| {
                    desk.solve(config, visit);
                    desk.take(
                        config,
                        &Move::Fill { label: "Quantity".to_owned(), value: "7".to_owned() },
                    );
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
        assert_eq!(
            other.validate(&task, &visit).unwrap().reward,
            f64::from(u8::from(answers.is_empty()))
        );
        desk.solve(&task, &visit);
        assert_eq!(desk.validate(&task, &visit).unwrap().reward, 1.0);
        desk.end(&task, visit);
        // What was asked belongs to the catalogue, and is all that stays.
        let left: Vec<&str> = desk
            .tables
            .tables()
            .map(|(name, _)| name)
            .filter(|name| name.starts_with("sc_"))
            .collect();
        assert_eq!(left, [""; 0]);
    }
}
