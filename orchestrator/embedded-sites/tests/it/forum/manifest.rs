//! Tests of `sites/forum/site.yaml`: its accounts log in by its form, and its probes work.

use axum::http::StatusCode;
use embedded_sites::forum::ACCOUNTS;
use serde_json::{Value, json};

use crate::forum::visitor::{Visitor, copy};

fn manifest() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sites/forum/site.yaml");
    serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[tokio::test]
async fn every_account_logs_in_as_the_manifest_says() {
    let (manifest, copy) = (manifest(), copy());
    let accounts = manifest["accounts"].as_object().unwrap();
    assert_eq!(accounts.len(), ACCOUNTS.len());
    for (key, account) in accounts {
        let (login, text) =
            (&manifest["login"][key], |value: &Value| value.as_str().unwrap().to_owned());
        let mut visitor = Visitor::anonymous(&copy).await;
        let page = visitor.page(&text(&login["form"]["page"])).await;
        let form = page.one(&format!("form#{}", text(&login["form"]["action"])));
        let check = text(&login["check"]["get"]);
        let said = text(&login["check"]["contains"]);
        assert!(!visitor.get(&check).await.body.contains(&said), "{key}");
        let (username, password) = (text(&account["username"]), text(&account["password"]));
        let fields = login["form"]["fields"].as_object().unwrap();
        let filled: Vec<(&str, String)> = fields
            .iter()
            .map(|(name, value)| {
                (
                    name.as_str(),
                    text(value).replace("{username}", &username).replace("{password}", &password),
                )
            })
            .collect();
        let filled: Vec<(&str, &str)> =
            filled.iter().map(|(name, value)| (*name, value.as_str())).collect();
        visitor.submit(form.attribute("action").unwrap(), &filled).await;
        let answer = visitor.get(&check).await;
        assert!(answer.status == StatusCode::OK && answer.body.contains(&said), "{key}");
    }
}

#[tokio::test]
async fn every_condition_and_probe_holds() {
    let (manifest, copy) = (manifest(), copy());
    let mut visitor = Visitor::anonymous(&copy).await;
    for ready in manifest["ready"].as_object().unwrap().values() {
        let answer = visitor.get(ready["get"].as_str().unwrap()).await;
        assert!(answer.body.contains(ready["contains"].as_str().unwrap()));
    }
    let parameters = [
        ("user", json!("marvelsgrantman136")),
        ("forum", json!("BOOKS")),
        ("submission", json!(4000)),
    ];
    for (name, probe) in manifest["probes"].as_object().unwrap() {
        let rows = copy.query(probe["query"].as_str().unwrap(), &parameters).unwrap();
        assert!(!rows.is_empty() || name == "comments_on", "{name}");
    }
}
