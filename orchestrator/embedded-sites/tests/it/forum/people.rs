//! Tests of accounts: log-in, log-out, registration, messages.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use embedded_sites::forum::ACCOUNTS;

use crate::forum::visitor::{MEMBER, Visitor, copy};

#[tokio::test]
async fn every_written_down_account_can_log_in() {
    let copy = copy();
    for account in &ACCOUNTS {
        let mut visitor = Visitor::logged_in(&copy, account.username, account.password).await;
        assert!(
            visitor
                .get("/")
                .await
                .body
                .contains(&format!("<summary>{}</summary>", account.username))
        );
        assert_eq!(visitor.post("/logout", &[]).await.status, StatusCode::FOUND);
        assert!(visitor.get("/").await.body.contains("Log in"));
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let copy = copy();
    let mut visitor = Visitor::anonymous(&copy).await;
    for (name, password) in [
        (MEMBER, "test12345"),
        (MEMBER, ""),
        ("nobody", "test1234"),
        ("", ""),
        ("' or 1=1 --", "x"),
    ] {
        let answer =
            visitor.post("/login_check", &[("_username", name), ("_password", password)]).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(answer.body.contains("Invalid credentials"));
    }
    // The case of a name does not matter.
    Visitor::logged_in(&copy, "marvelsgrantman136", "test1234").await;
}

#[tokio::test]
async fn the_header_logs_in_without_a_form() {
    let mut visitor = Visitor::anonymous(&copy()).await;
    let request = |login: &str| {
        Request::get("/").header("X-Postmill-Auto-Login", login).body(Body::empty()).unwrap()
    };
    assert!(visitor.send(request("MarvelsGrantMan136:test1234")).await.body.contains(MEMBER));
    assert!(!visitor.send(request("MarvelsGrantMan136:wrong")).await.body.contains(MEMBER));
    assert!(!visitor.send(request("MarvelsGrantMan136")).await.body.contains(MEMBER));
}

#[tokio::test]
async fn somebody_new_registers_and_changes_the_password() {
    let copy = copy();
    let mut visitor = Visitor::anonymous(&copy).await;
    let fields = |name, first, second| {
        [
            ("user[username]", name),
            ("user[password][first]", first),
            ("user[password][second]", second),
        ]
    };
    for (name, first, second) in [
        ("a", "longenough", "longenough"),
        ("new one", "longenough", "longenough"),
        ("new_one", "short", "short"),
        ("new_one", "longenough", "longenougH"),
        ("MARVELSGRANTMAN136", "longenough", "longenough"),
    ] {
        let answer = visitor.post("/registration", &fields(name, first, second)).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{name} {first} {second}");
    }
    let (_, page) =
        visitor.submit("/registration", &fields("new_one", "longenough", "longenough")).await;
    assert!(page.inner().contains("new_one"));
    let changed =
        [("user[password][first]", "another-one"), ("user[password][second]", "another-one")];
    assert_eq!(visitor.post("/user/new_one/account", &changed).await.status, StatusCode::OK);
    Visitor::logged_in(&copy, "new_one", "another-one").await;
    // The account can be deleted again.
    let wrong = visitor.post("/user/new_one/delete_account", &[("user[name]", "x")]).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    visitor.submit("/user/new_one/delete_account", &[("user[name]", "new_one")]).await;
    assert_eq!(visitor.get("/user/new_one").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn messages_are_for_the_two_of_them() {
    let copy = copy();
    let mut sender = Visitor::member(&copy).await;
    let body = [("message[body]", "Shall we *meet*?")];
    let (thread, page) = sender.submit("/user/oldtram/compose_message", &body).await;
    assert!(page.inner().contains("Shall we meet?"));
    let mut receiver = Visitor::logged_in(&copy, "oldtram", "test1234").await;
    assert!(receiver.page("/messages").await.inner().contains("Shall we"));
    let (_, page) = receiver.submit(&thread, &[("message[body]", "Yes.")]).await;
    assert_eq!(page.all(".message__body").len(), 2);
    let mut other = Visitor::logged_in(&copy, "lena_marsh", "test1234").await;
    assert_eq!(other.get(&thread).await.status, StatusCode::NOT_FOUND);
    assert_eq!(other.post(&thread, &body).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_profile_shows_what_somebody_wrote() {
    let mut visitor = Visitor::anonymous(&copy()).await;
    let overview = visitor.page(&format!("/user/{MEMBER}")).await;
    assert!(!overview.all(".submission").is_empty() && !overview.all(".comment").is_empty());
    let submissions = visitor.page(&format!("/user/{MEMBER}/submissions")).await;
    assert!(submissions.all(".submission__submitter").iter().all(|node| node.inner() == MEMBER));
    let comments = visitor.page(&format!("/user/{MEMBER}/comments")).await;
    assert!(comments.all(".comment__user").iter().all(|node| node.inner() == MEMBER));
    assert!(comments.all(".comment .vote__net-score").len() > 3);
}
