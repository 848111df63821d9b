//! Lists and the frame page around them.

use axum::http::{Method, StatusCode};
use serde_json::Value;

use super::visitor::{Visitor, copy};

fn model(body: &str) -> Value {
    let start = body.find("<script id=\"list\"").unwrap();
    let json = &body[start..][body[start..].find('>').unwrap() + 1..];
    serde_json::from_str(&json[..json.find("</script>").unwrap()]).unwrap()
}

#[tokio::test]
async fn a_list_has_no_order_and_no_filter_of_its_own() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let page = model(&admin.get("/incident_list.do").await.body);
    assert_eq!((&page["query"], &page["orders"]), (&"".into(), &Value::Array(Vec::new())));
    assert!(page["total"].as_u64().unwrap() > 0);
    let address = "/incident_list.do?sysparm_query=impact%3D1%5EORimpact%3D2%5EORDERBYDESCnumber\
                   &sysparm_first_row=1";
    let page = model(&admin.get(address).await.body);
    assert_eq!(page["query"], "impact=1^ORimpact=2");
    assert_eq!(page["orders"][0]["column"], "number");
    assert_eq!(page["orders"][0]["descending"], true);
    let rows = page["rows"].as_array().unwrap();
    assert_eq!((&rows[0]["or"], &rows[1]["or"]), (&false.into(), &true.into()));
}

#[tokio::test]
async fn what_people_typed_is_text() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut program = Visitor::admin(&copy);
    let name = "</script><img src=x onerror=alert(1)>";
    program.make("incident", serde_json::json!({"short_description": name, "number": name})).await;
    for address in ["/incident_list.do", "/incident_list.do?sysparm_query=number%3D%3C%2Fscript%3E"]
    {
        let body = admin.get(address).await.body;
        assert!(!body.contains("<img src=x"), "{address}");
        model(&body);
    }
}

#[tokio::test]
async fn the_frame_decodes_its_target_once() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let table = [
        (
            "incident_list.do%3Fsysparm_query%3Dactive%253Dtrue",
            "/incident_list.do?sysparm_query=active%3Dtrue",
        ),
        ("kb?id=kb_home", "/kb?id=kb_home"),
        (
            "a.do%3Fx%3D1%26y=%3Cjavascript:b('c')%5EEQ",
            "/a.do?x=1&amp;y=&lt;javascript:b(&#39;c&#39;)^EQ",
        ),
        ("%2F%2Fevil.test%2F", "/evil.test/"),
        ("%5Cevil.test", "/evil.test"),
    ];
    for (target, source) in table {
        let page = admin.get(&format!("/now/nav/ui/classic/params/target/{target}")).await.body;
        assert!(page.contains(&format!("src=\"{source}\"")), "{target}: {page}");
    }
}

#[tokio::test]
async fn pages_are_for_those_who_have_logged_in() {
    let copy = copy();
    let mut nobody = Visitor::program(&copy, "", "");
    for path in ["/", "/incident_list.do", "/now/nav/ui/home", "/desk/complete?table=sys_user"] {
        let answer = nobody.get(path).await;
        assert_eq!((answer.status, &*answer.location), (StatusCode::FOUND, "/login.do"), "{path}");
    }
    let wrong = nobody.get("/login.do?user_name=admin&user_password=x").await;
    assert!(wrong.body.contains("is wrong"), "{}", wrong.body);
}

#[tokio::test]
async fn administrators_act_as_others() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let users = Visitor::admin(&copy).table("sys_user?sysparm_query=user_name!=admin").await;
    let (id, name) = (users[0]["sys_id"].as_str().unwrap(), users[0]["name"].as_str().unwrap());
    let form = format!("user={id}");
    assert_eq!(admin.send(Method::POST, "/desk/impersonate", &form).await.status, StatusCode::OK);
    let page = admin.get("/now/nav/ui/home").await.body;
    assert!(page.contains(&format!("Acting as {name}")), "{page}");
    // The other one is no administrator, but who acts still is.
    admin.send(Method::POST, "/desk/impersonate", "user=").await;
    assert!(!admin.get("/now/nav/ui/home").await.body.contains("Acting as"));
    let answer = admin.send(Method::POST, "/desk/impersonate", "user=nonesuch").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_name_that_was_typed_whole_is_among_the_first() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut program = Visitor::admin(&copy);
    for number in 0..30 {
        let group = serde_json::json!({"name": format!("IT {number:02}")});
        program.make("sys_user_group", group).await;
    }
    program.make("sys_user_group", serde_json::json!({"name": "IT"})).await;
    let found = admin.get("/desk/complete?table=sys_user_group&text=it").await.json();
    assert_eq!(found["rows"].as_array().unwrap().len(), 15);
    assert_eq!(found["rows"][0]["title"], "IT");
    let found = admin.get("/desk/complete?table=sys_user_group&text=It&exact=true").await.json();
    assert_eq!(found["rows"].as_array().unwrap().len(), 1);
}
