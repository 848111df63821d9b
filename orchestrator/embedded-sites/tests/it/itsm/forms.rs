//! Forms: what they show, and what is stored when they are sent.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::visitor::{Answer, Visitor, copy};

/// What the form's script gets.
fn model(answer: &Answer) -> Value {
    let start =
        answer.body.find("<script id=\"form\"").unwrap_or_else(|| panic!("{}", answer.body));
    let json = &answer.body[start..][answer.body[start..].find('>').unwrap() + 1..];
    serde_json::from_str(&json[..json.find("</script>").unwrap()]).unwrap()
}

fn fields(model: &Value) -> Vec<&Value> {
    let sections = model["sections"].as_array().unwrap();
    sections.iter().flat_map(|section| section["fields"].as_array().unwrap()).collect()
}

fn value(model: &Value, name: &str) -> String {
    let found = fields(model).into_iter().find(|field| field["name"] == name);
    found.unwrap_or_else(|| panic!("{name}"))["value"].as_str().unwrap().to_owned()
}

async fn send(visitor: &mut Visitor, what: &str, sent: Value) -> Answer {
    visitor.send(Method::POST, &format!("/desk/{what}"), &sent.to_string()).await
}

/// The form of a new record, sent with these values.
async fn insert(visitor: &mut Visitor, table: &str, values: Value) -> (String, Answer) {
    let form = model(&visitor.get(&format!("/{table}.do?sys_id=-1")).await);
    let id = form["sys_id"].as_str().unwrap().to_owned();
    let sent = json!({"table": table, "sys_id": id, "is_new": true, "values": values});
    let answer = send(visitor, "save", sent).await;
    (id, answer)
}

async fn stored(program: &mut Visitor, table: &str, id: &str) -> Value {
    program.get(&format!("/api/now/table/{table}/{id}")).await.result()
}

#[tokio::test]
async fn a_new_record_has_the_id_and_the_number_with_which_its_form_was_opened() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut program = Visitor::admin(&copy);
    let me = program.table("sys_user?user_name=admin").await[0]["sys_id"].clone();
    let first = model(&admin.get("/incident.do").await);
    let second = model(&admin.get("/incident.do?sys_id=-1").await);
    assert_ne!(first["sys_id"], second["sys_id"]);
    assert_ne!(value(&first, "number"), value(&second, "number"));
    for (name, expected) in [("impact", "3"), ("urgency", "3"), ("state", "1"), ("priority", "5")] {
        assert_eq!(value(&first, name), expected, "{name}");
    }
    let id = first["sys_id"].as_str().unwrap();
    assert_eq!(program.get(&format!("/api/now/table/incident/{id}")).await.status, 404);
    let text = "  blanks stay \t";
    let values = json!({"number": value(&first, "number"), "caller_id": me, "short_description": text,
        "impact": "1", "urgency": "2", "description": "two\nlines", "priority": "5", "nonesuch": "x",
        "sys_created_by": "mallory", "sys_id": "0", "category": ""});
    let sent = json!({"table": "incident", "sys_id": id, "is_new": true, "values": values});
    let answer = send(&mut admin, "save", sent.clone()).await;
    assert_eq!(answer.json()["sys_id"], id, "{}", answer.body);
    let record = stored(&mut program, "incident", id).await;
    for (name, expected) in [
        ("short_description", text),
        ("description", "two\nlines"),
        ("priority", "2"),
        ("sys_created_by", "admin"),
        ("active", "true"),
        ("category", ""),
    ] {
        assert_eq!(record[name], expected, "{name}");
    }
    assert_eq!(record["number"], value(&first, "number"));
    assert_eq!(record["opened_by"]["value"], me);
    assert_eq!(send(&mut admin, "save", sent).await.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn an_old_record_keeps_what_its_form_did_not_change() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut program = Visitor::admin(&copy);
    let made = json!({"number": "A1", "short_description": "one", "impact": "2", "urgency": "2"});
    let made = program.make("problem", made).await;
    let id = made["sys_id"].as_str().unwrap();
    let form = model(&admin.get(&format!("/problem.do?sys_id={id}")).await);
    assert_eq!((value(&form, "number"), value(&form, "priority")), ("A1".into(), "3".into()));
    let other = program.make("problem", json!({"number": "A2"})).await;
    let values = json!({"urgency": "1", "duplicate_of": other["sys_id"], "opened_at": "2020-01-01 00:00:00"});
    let sent = json!({"table": "problem", "sys_id": id, "values": values});
    assert_eq!(send(&mut admin, "save", sent).await.status, StatusCode::OK);
    let record = stored(&mut program, "problem", id).await;
    assert_eq!(record["short_description"], "one");
    assert_eq!(record["priority"], "2");
    assert_eq!(record["duplicate_of"]["value"], other["sys_id"]);
    assert_eq!(record["opened_at"], made["opened_at"]);
    // Nothing changed: nothing is stored.
    let again = send(&mut admin, "save", json!({"table": "problem", "sys_id": id})).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(stored(&mut program, "problem", id).await["sys_mod_count"], "1");
    // A form of the table that it extends leads to its own.
    let answer = admin.get(&format!("/task.do?sys_id={id}")).await;
    assert_eq!(answer.location, format!("/problem.do?sys_id={id}"));
    let sent = json!({"table": "problem", "sys_id": id});
    assert_eq!(send(&mut admin, "remove", sent.clone()).await.status, StatusCode::OK);
    assert_eq!(send(&mut admin, "remove", sent.clone()).await.status, StatusCode::NOT_FOUND);
    assert_eq!(send(&mut admin, "save", sent).await.status, StatusCode::NOT_FOUND);
    assert_eq!(admin.get(&format!("/problem.do?sys_id={id}")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_cannot_be_stored_is_refused_and_named() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let before = copy.query("select count(*) as n from record", &[]).unwrap();
    for (table, values, word) in [
        ("incident", json!({"short_description": "x"}), "Caller"),
        ("problem", json!({"short_description": " "}), "mandatory"),
        ("change_request", json!({"start_date": "tomorrow"}), "moment"),
        ("alm_asset", json!({"warranty_expiration": "2025-02-30"}), "day"),
        ("sc_req_item", json!({"quantity": "two"}), "number"),
        ("problem", json!({"short_description": "x", "assigned_to": "Nobody"}), "record"),
    ] {
        let (_, answer) = insert(&mut admin, table, values).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{table} {word}");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.contains(word), "{error}");
    }
    assert_eq!(copy.query("select count(*) as n from record", &[]).unwrap(), before);
}

#[tokio::test]
async fn what_people_typed_is_text_in_forms() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut program = Visitor::admin(&copy);
    let text = "</script></textarea>\"'><img src=x onerror=alert(1)>";
    let given = json!({"number": text, "short_description": text, "description": text});
    let made = program.make("problem", given).await;
    let answer =
        admin.get(&format!("/problem.do?sys_id={}", made["sys_id"].as_str().unwrap())).await;
    assert!(!answer.body.contains("<img src=x"));
    assert_eq!(value(&model(&answer), "description"), text);
    let query = "sysparm_query=short_description%3D%3C%2Fscript%3E%3Cimg%20src%3Dx%3E";
    let list = "sysparm_list=/a%22onclick=%22alert(1)_list.do";
    let answer = admin.get(&format!("/incident.do?{query}&{list}")).await;
    assert!(!answer.body.contains("<img src=x") && !answer.body.contains("\"onclick"));
    for id in ["'", "%22%3E%3Cimg%20src=x%3E", "%27%20or%20%271%27=%271", "%00", "..%2F.."] {
        let answer = admin.get(&format!("/incident.do?sys_id={id}")).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{id}");
        assert!(!answer.body.contains("<img src=x"));
    }
    for sent in ["", "[]", "{}", "{\"table\": 1}", "{\"table\": \"nonesuch\", \"sys_id\": \"\"}"] {
        let answer = admin.send(Method::POST, "/desk/save", sent).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{sent}");
    }
    for id in ["", "x", "0123456789abcdef0123456789abcdeF", "0123456789abcdef0123456789abcdef0"] {
        let sent = json!({"table": "problem", "sys_id": id, "is_new": true,
            "values": {"short_description": "x"}});
        assert_eq!(send(&mut admin, "save", sent).await.status, StatusCode::BAD_REQUEST, "{id}");
    }
}

#[tokio::test]
async fn only_visitors_send_forms() {
    let copy = copy();
    let mut stranger = Visitor::admin(&copy);
    let sent = json!({"table": "problem", "sys_id": "0".repeat(32), "is_new": true,
        "values": {"short_description": "x"}});
    // A form has a session; the password of an interface is none.
    assert_eq!(send(&mut stranger, "save", sent).await.location, "/login.do");
    assert_eq!(copy.digest().unwrap(), copy.pristine());
}

#[tokio::test]
async fn the_address_gives_values_of_a_new_form() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let query = "short_description%3Da%20b%5Eimpact%3D1%5Eurgency%3D1%5Epriority%3D4%5Enonesuch%3D1\
                 %5Eassigned_to%3Djavascript%3Ags.getUserID()";
    let form = model(&admin.get(&format!("/incident.do?sys_id=-1&sysparm_query={query}")).await);
    assert_eq!(value(&form, "short_description"), "a b");
    assert_eq!(value(&form, "priority"), "1");
    let me = copy.query("select sys_id from sys_user where user_name = 'admin'", &[]).unwrap();
    assert_eq!(value(&form, "assigned_to"), me[0]["sys_id"].as_str().unwrap());
}

#[tokio::test]
async fn a_form_leads_back_to_the_list_from_which_it_was_opened() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let list = "/task_list.do?sysparm_query=active%3Dtrue%5EORDERBYnumber&sysparm_first_row=21";
    for (before, given, back) in [
        ("", "", "/incident_list.do"),
        (list, "", list),
        ("/now/nav/ui/classic/params/target/problem_list.do", "", "/incident_list.do"),
        (
            "/incident.do",
            "%2Fproblem_list.do%3Fsysparm_query%3D",
            "/problem_list.do?sysparm_query=",
        ),
        ("", "%2F%2Fevil.test%2Fa_list.do", "/incident_list.do"),
        ("", "https%3A%2F%2Fevil.test%2Fa_list.do", "/incident_list.do"),
        ("", "%2F%5Cevil_list.do", "/incident_list.do"),
    ] {
        admin.before =
            if before.is_empty() { String::new() } else { format!("http://desk.test{before}") };
        let form = model(&admin.get(&format!("/incident.do?sysparm_list={given}")).await);
        assert_eq!(form["back"], back, "{before} {given}");
    }
    // A new change goes by a page of its own, which knows the list, too.
    admin.before = "http://desk.test/change_request_list.do?sysparm_query=risk%3D3".to_owned();
    let landing = admin.get("/sn_chg_model_ui_landing.do").await.body;
    let normal = &landing[..landing.find(">Normal</a>").unwrap()];
    let link = normal.rsplit("href=\"").next().unwrap().trim_end_matches('"').replace("&amp;", "&");
    admin.before = "http://desk.test/sn_chg_model_ui_landing.do".to_owned();
    let form = model(&admin.get(&link).await);
    assert_eq!(form["back"], "/change_request_list.do?sysparm_query=risk%3D3");
    assert_eq!(value(&form, "type"), "normal");
}

#[tokio::test]
async fn lists_of_people_are_typed_as_names_and_passwords_are_not_shown() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut program = Visitor::admin(&copy);
    let user = json!({"user_name": "tulla", "first_name": "Tulla", "last_name": "Ring",
        "email": "tulla@example.com", "user_password": "tulip"});
    let user = program.make("sys_user", user).await;
    let id = user["sys_id"].as_str().unwrap();
    let values = json!({"requested_by": id, "watch_list": " tulla ring , someone@example.com,"});
    let (change, answer) = insert(&mut admin, "change_request", values).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    let record = stored(&mut program, "change_request", &change).await;
    assert_eq!(record["watch_list"], format!("{id},someone@example.com"));
    let form = model(&admin.get(&format!("/change_request.do?sys_id={change}")).await);
    assert_eq!(value(&form, "watch_list"), "Tulla Ring, someone@example.com");
    let form = model(&admin.get(&format!("/sys_user.do?sys_id={id}")).await);
    assert_eq!(value(&form, "user_password"), "");
    // A form that does not change it leaves it as it is.
    let sent = json!({"table": "sys_user", "sys_id": id, "values": {"title": "Lead"}});
    assert_eq!(send(&mut admin, "save", sent).await.status, StatusCode::OK);
    Visitor::logged_in(&copy, "tulla", "tulip").await;
}

#[tokio::test]
async fn every_table_has_a_form() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut program = Visitor::admin(&copy);
    let tables = program.table("sys_db_object?sysparm_fields=name").await;
    let tables = tables.as_array().unwrap();
    assert!(tables.len() > 50);
    for table in tables {
        let name = table["name"].as_str().unwrap();
        let answer = admin.get(&format!("/{name}.do")).await;
        assert_eq!(answer.status, StatusCode::OK, "{name}: {}", answer.body);
        let form = model(&answer);
        assert!(!fields(&form).is_empty(), "{name}");
        for field in fields(&form) {
            let label = format!("<label id=\"label.{name}.{}\"", field["name"].as_str().unwrap());
            assert_eq!(answer.body.matches(&label).count(), 1, "{label}");
        }
    }
    let answer = admin.get("/nonesuch.do?sys_id=-1").await;
    assert!(answer.status == StatusCode::OK && answer.body.contains("not set up"));
}
