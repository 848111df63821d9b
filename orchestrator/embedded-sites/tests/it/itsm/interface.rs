//! The interface for programs.

use axum::http::{Method, StatusCode};
use serde_json::json;

use super::visitor::{Visitor, copy};

#[tokio::test]
async fn only_known_users_are_answered() {
    let copy = copy();
    for (name, password) in [("admin", "wrong"), ("nobody", ""), ("admin", "")] {
        let answer = Visitor::program(&copy, name, password).get("/api/now/table/incident").await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert_eq!(answer.json()["status"], "failure");
    }
    let mut admin = Visitor::admin(&copy);
    let user = json!({"user_name": "ann", "first_name": "Ann", "last_name": "Reed",
        "user_password": "s3cret", "active": true});
    let user = admin.make("sys_user", user).await;
    assert_eq!((&user["name"], &user["active"]), (&json!("Ann Reed"), &json!("true")));
    let mut ann = Visitor::program(&copy, "ann", "s3cret");
    assert!(!ann.table("sys_user_role?sysparm_query=name=admin").await[0]["sys_id"].is_null());
    let path = format!("/api/now/table/sys_user/{}", user["sys_id"].as_str().unwrap());
    assert_eq!(admin.send(Method::DELETE, &path, "{}").await.status, StatusCode::NO_CONTENT);
    assert_eq!(ann.get("/api/now/table/incident").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(admin.send(Method::DELETE, &path, "{}").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_record_is_made_read_changed_and_removed() {
    let copy = copy();
    let mut admin = Visitor::admin(&copy);
    let given = json!({"short_description": " trailing blank ", "impact": 1, "urgency": "2",
        "category": {"value": "hardware"}, "description": null, "nonesuch": "x"});
    let made = admin.make("incident", given).await;
    assert_eq!(made["short_description"], " trailing blank ");
    assert_eq!((&made["priority"], &made["category"]), (&json!("2"), &json!("hardware")));
    assert!(made["number"].as_str().unwrap().starts_with("INC"));
    assert_eq!(made["task_effective_number"], made["number"]);
    assert_eq!((&made["description"], &made["nonesuch"]), (&json!(""), &json!(null)));
    assert_eq!(made["sys_created_by"], "admin");
    let id = made["sys_id"].as_str().unwrap();
    // The table that it extends has it, too; another one has not.
    let found = admin.table(&format!("task?sysparm_query=sys_id={id}&sysparm_fields=number")).await;
    assert_eq!(found, json!([{"number": made["number"]}]));
    let path = format!("/api/now/table/problem/{id}");
    assert_eq!(admin.get(&path).await.status, StatusCode::NOT_FOUND);
    let path = format!("/api/now/table/incident/{id}");
    let changed = admin.send(Method::PATCH, &path, r#"{"urgency": "1"}"#).await.result();
    assert_eq!((&changed["priority"], &changed["sys_mod_count"]), (&json!("1"), &json!("1")));
    assert_eq!(admin.send(Method::DELETE, &path, "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(admin.get(&path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn values_are_shown_as_they_are_asked_for() {
    let copy = copy();
    let mut admin = Visitor::admin(&copy);
    let me = admin.table("sys_user?sysparm_query=user_name=admin").await[0].clone();
    let id = me["sys_id"].as_str().unwrap();
    let given = json!({"short_description": "x", "caller_id": id, "impact": "1"});
    let made = admin.make("incident", given).await;
    let link = format!("http://desk.test/api/now/table/sys_user/{id}");
    assert_eq!(made["caller_id"], json!({"link": link, "value": id}));
    let query = format!("incident?sysparm_query=sys_id={}", made["sys_id"].as_str().unwrap());
    let fields = "&sysparm_fields=caller_id,impact,assigned_to,caller_id.user_name";
    let shown = admin.table(&format!("{query}{fields}&sysparm_display_value=True")).await;
    let expected = json!([{"caller_id": {"display_value": me["name"], "link": link},
        "impact": "1 - High", "assigned_to": "", "caller_id.user_name": "admin"}]);
    assert_eq!(shown, expected);
    let shown =
        admin.table(&format!("{query}&sysparm_fields=impact&sysparm_display_value=all")).await;
    assert_eq!(shown, json!([{"impact": {"display_value": "1 - High", "value": "1"}}]));
}

#[tokio::test]
async fn queries_are_read_as_far_as_they_are_known() {
    let copy = copy();
    let mut admin = Visitor::admin(&copy);
    for (number, text) in [("A1", "one"), ("A2", "two"), ("A3", "three")] {
        admin.make("problem", json!({"number": number, "short_description": text})).await;
    }
    let table = [
        ("numberSTARTSWITHA^short_description=TWO", "A2"),
        ("number=A1^ORnumber=A3", "A1 A3"),
        ("number=A1^NQnumber=A3", "A1 A3"),
        ("numberSTARTSWITHA^ORDERBYDESCnumber", "A3 A2 A1"),
        ("numberSTARTSWITHA^short_descriptionLIKEt^EQ", "A2 A3"),
        ("numberSTARTSWITHA^nonesuch=1^numberIS SOMETHING", "A1 A2 A3"),
        ("numberINA1,A2^", "A1 A2"),
        ("numberSTARTSWITHA^opened_by.nameISNOTEMPTY", ""),
    ];
    for (query, wanted) in table {
        let query = query.replace(' ', "%20").replace('^', "%5E");
        let found =
            admin.table(&format!("problem?sysparm_fields=number&sysparm_query={query}")).await;
        let numbers: Vec<&str> =
            found.as_array().unwrap().iter().map(|row| row["number"].as_str().unwrap()).collect();
        assert_eq!(numbers.join(" "), wanted, "{query}");
    }
    assert_eq!(admin.table("nonesuch").await, json!([]));
    let page = admin.table("problem?number=A2&sysparm_limit=1&sysparm_fields=number").await;
    assert_eq!(page, json!([{"number": "A2"}]));
}

#[tokio::test]
async fn a_reset_restores_all_and_the_same_requests_give_the_same_bytes() {
    let copy = copy();
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let mut admin = Visitor::admin(&copy);
        admin.make("incident", json!({"short_description": "x"})).await;
        bodies.push(admin.get("/api/now/table/incident").await.body);
        assert_ne!(copy.digest().unwrap(), copy.pristine());
        copy.reset().unwrap();
        assert_eq!(copy.digest().unwrap(), copy.pristine());
    }
    assert_eq!(bodies[0], bodies[1]);
}

#[tokio::test]
async fn hostile_requests_are_answered() {
    let copy = copy();
    let mut admin = Visitor::admin(&copy);
    for (method, path, body) in [
        (Method::POST, "/api/now/table/incident", "[]"),
        (Method::POST, "/api/now/table/incident", "{"),
        (Method::POST, "/api/now/table/nonesuch", "{}"),
        (Method::PUT, "/api/now/table/incident/'; drop table record; --", "{}"),
        (Method::TRACE, "/api/now/table/incident", ""),
        (Method::GET, "/api/now/nonesuch", ""),
        (Method::GET, "/api/now/table/incident/a/b", ""),
    ] {
        let path = path.replace(' ', "%20");
        let answer = admin.send(method, &path, body).await;
        assert!(answer.status.is_client_error(), "{path}: {}", answer.status);
        assert_eq!(answer.json()["status"], "failure");
    }
    let found = admin.table("incident?sysparm_limit=-1&sysparm_offset=99999999999999999999").await;
    assert!(!found.as_array().unwrap().is_empty());
}
