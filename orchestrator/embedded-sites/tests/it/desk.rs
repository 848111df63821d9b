//! Tests of the desk, as a browser sees it.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use embedded_sites::desk::{ListedAccount, ListedSite, SiteList};
use embedded_sites::{Clock, EmbeddedInstance, Golden, Options, desk};
use tower::ServiceExt;

fn town() -> SiteList {
    let account = ListedAccount {
        username: "ada".into(),
        password: "<secret>".into(),
        role: "customer".into(),
    };
    let shop = ListedSite {
        title: "Shop & more".into(),
        url: "https://shop.test/".into(),
        about: "Things to buy".into(),
        accounts: vec![account],
    };
    SiteList { sites: vec![shop] }
}

fn copy() -> EmbeddedInstance {
    let folder = tempfile::tempdir().unwrap();
    let golden = Golden::open(folder.path()).unwrap();
    let clock = Clock::fixed("2023-06-15T09:00:00Z".parse().unwrap());
    desk::start(&golden, &Options::new(clock), &town().into()).unwrap()
}

async fn send(copy: &EmbeddedInstance, request: Request<Body>) -> (StatusCode, String) {
    let answer = copy.router().oneshot(request).await.unwrap();
    let status = answer.status();
    let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn get(copy: &EmbeddedInstance, path: &str) -> (StatusCode, String) {
    send(copy, Request::get(path).body(Body::empty()).unwrap()).await
}

async fn post(copy: &EmbeddedInstance, path: &str, form: &str) -> StatusCode {
    let (_, page) = get(copy, "/scratchpad.html").await;
    let token = page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let request = Request::post(path).body(Body::from(format!("token={token}&{form}"))).unwrap();
    send(copy, request).await.0
}

#[tokio::test]
async fn the_home_page_lists_the_town() {
    let copy = copy();
    let (status, page) = get(&copy, "/").await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("Shop &amp; more") && page.contains("href=\"https://shop.test/\""));
    let (_, page) = get(&copy, "/password.html").await;
    assert!(page.contains("ada") && page.contains("&lt;secret&gt;"));
    assert_eq!(get(&copy, "/calculator.html").await.0, StatusCode::OK);
    let (status, page) = get(&copy, "/nowhere").await;
    assert!(status == StatusCode::NOT_FOUND && page.contains("404"));
}

#[tokio::test]
async fn every_manual_is_there_and_leads_to_the_next() {
    let copy = copy();
    let (_, list) = get(&copy, "/manuals/").await;
    let links: Vec<&str> = list
        .split("href=\"/manuals/")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let pages: Vec<&&str> = links.iter().filter(|link| link.ends_with(".html")).collect();
    assert!(pages.len() >= 20, "{links:?}");
    for (at, page) in pages.iter().enumerate() {
        let (status, text) = get(&copy, &format!("/manuals/{page}")).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        assert!(text.contains("<h1>"), "{page}");
        if let Some(next) = pages.get(at + 1) {
            assert!(text.contains(&format!("href=\"/manuals/{next}\"")), "{page}");
        }
    }
    assert_eq!(get(&copy, "/manuals/none.html").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn notes_stay_until_a_reset() {
    let copy = copy();
    assert_eq!(
        post(&copy, "/scratchpad.html", "title=&body=Buy+%3Cb%3Emilk%3C%2Fb%3E").await,
        StatusCode::FOUND
    );
    let (_, page) = get(&copy, "/scratchpad.html").await;
    assert!(page.contains("Buy &lt;b&gt;milk&lt;/b&gt;"));
    assert_eq!(post(&copy, "/notes/1", "title=Shopping&body=Bread").await, StatusCode::FOUND);
    assert!(get(&copy, "/notes/1").await.1.contains("Bread"));
    assert_eq!(post(&copy, "/scratchpad.html", "body=+").await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(post(&copy, "/notes/2/delete", "").await, StatusCode::NOT_FOUND);
    assert_ne!(copy.digest().unwrap(), copy.pristine());
    assert_eq!(copy.query("select title from notes", &[]).unwrap()[0]["title"], "Shopping");
    assert_eq!(post(&copy, "/notes/1/delete", "").await, StatusCode::FOUND);
    copy.reset().unwrap();
    assert_eq!(copy.digest().unwrap(), copy.pristine());
    assert!(get(&copy, "/scratchpad.html").await.1.contains("No notes yet"));
}
