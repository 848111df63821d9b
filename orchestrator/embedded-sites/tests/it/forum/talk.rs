//! Tests of writing, changing, deleting, voting, and permissions.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::forum::visitor::{Visitor, copy};

const POST: [(&str, &str); 3] = [
    ("submission[forum]", "movies"),
    ("submission[title]", "A quiet film"),
    ("submission[body]", "First line."),
];

#[tokio::test]
async fn a_submission_is_edited_by_its_author_and_deleted_by_moderators() {
    let copy = copy();
    let mut author = Visitor::member(&copy).await;
    let (address, page) = author.submit("/submit/movies", &POST).await;
    assert!(page.all(".submission__nav a").iter().any(|node| node.inner() == "Edit"));
    let base = address.rsplit_once('/').unwrap().0.to_owned();
    let edited = [
        ("submission[title]", "A quiet film"),
        ("submission[body]", "First line.\n\nEDIT: aged well"),
    ];
    let (_, page) = author.submit(&format!("{base}/-/edit"), &edited).await;
    assert_eq!(page.one(".submission__body").inner(), "First line. EDIT: aged well");
    assert_eq!(page.all(".submission__edited").len(), 1);

    let mut stranger = Visitor::logged_in(&copy, "tallships", "test1234").await;
    assert_eq!(
        stranger.post(&format!("{base}/-/edit"), &edited).await.status,
        StatusCode::FORBIDDEN
    );
    assert_eq!(stranger.post(&format!("{base}/-/delete"), &[]).await.status, StatusCode::FORBIDDEN);
    assert_eq!(stranger.get("/f/movies/edit").await.status, StatusCode::FORBIDDEN);
    let mut keeper = Visitor::logged_in(&copy, "forum_keeper", "keeper1234").await;
    keeper.submit(&format!("{base}/-/delete"), &[]).await;
    assert_eq!(author.get(&address).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_comment_is_edited_and_leaves_a_place_when_it_was_answered() {
    let copy = copy();
    let mut visitor = Visitor::member(&copy).await;
    let (address, _) = visitor.submit("/submit", &POST).await;
    let base = address.rsplit_once('/').unwrap().0.to_owned();
    let id = base.rsplit_once('/').unwrap().1;
    let write = format!("{base}/-/comment");
    let field = format!("reply_to_submission_{id}[comment]");
    let (first, _) = visitor.submit(&write, &[(&field, "one")]).await;
    let (_, page) = visitor.submit(&format!("{first}/edit"), &[("comment[comment]", "two")]).await;
    assert_eq!(page.one(".comment__body").inner(), "two");
    let parent = first.rsplit_once('/').unwrap().1;
    let reply = format!("reply_to_comment_{parent}[comment]");
    let (second, _) = visitor.submit(&write, &[(&reply, "answer"), ("parent", parent)]).await;
    let page = visitor.page(&address).await;
    assert_eq!(page.one(".comment .comment .comment__body").inner(), "answer");
    assert_eq!(page.one(".submission__comments").inner(), "2 comments");
    let (_, page) = visitor.submit(&format!("{first}/delete"), &[]).await;
    assert_eq!(page.one(".comment__body").inner(), "[deleted]");
    assert_eq!(page.one(".submission__comments").inner(), "1 comment");
    visitor.submit(&format!("{second}/delete"), &[]).await;
    assert_eq!(visitor.get(&second).await.status, StatusCode::NOT_FOUND);
    let empty = visitor.post(&write, &[(&field, "  ")]).await;
    assert_eq!(empty.status, StatusCode::UNPROCESSABLE_ENTITY);
}

fn score(rows: &[serde_json::Map<String, Value>]) -> (i64, i64) {
    (rows[0]["up"].as_i64().unwrap(), rows[0]["down"].as_i64().unwrap())
}

#[tokio::test]
async fn votes_count_once_and_can_be_changed() {
    let copy = copy();
    let mut visitor = Visitor::member(&copy).await;
    for (table, path) in [("submissions", "/sv/100"), ("comments", "/cv/100")] {
        let sql = format!("select up, down from {table} where id = :id");
        let read = || score(&copy.query(&sql, &[("id", json!(100))]).unwrap());
        let (up, down) = read();
        for (choice, expected) in [
            ("1", (up + 1, down)),
            ("1", (up + 1, down)),
            ("-1", (up, down + 1)),
            ("0", (up, down)),
            ("0", (up, down)),
        ] {
            visitor.submit(path, &[("choice", choice), ("back", "/")]).await;
            assert_eq!(read(), expected, "{path} {choice}");
        }
        for nonsense in ["2", "", "x", "-9"] {
            assert_eq!(
                visitor.post(path, &[("choice", nonsense)]).await.status,
                StatusCode::NOT_FOUND
            );
        }
    }
}

#[tokio::test]
async fn the_script_gets_its_answer_as_json() {
    let mut visitor = Visitor::member(&copy()).await;
    // The visitor has the cookie; the header needs a request built by hand.
    visitor.get("/").await;
    let body = format!("choice=1&token={}", visitor.token);
    let cookie = visitor.cookie().to_owned();
    let request = Request::post("/sv/7")
        .header("cookie", cookie)
        .header("x-requested-with", "XMLHttpRequest")
        .body(Body::from(body))
        .unwrap();
    let answer = visitor.send(request).await;
    assert_eq!(answer.kind, "application/json");
    let value: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(value["choice"], 1);
    assert!(value["netScore"].is_i64());
}

#[tokio::test]
async fn nothing_is_written_by_nobody() {
    let copy = copy();
    let mut visitor = Visitor::anonymous(&copy).await;
    for path in [
        "/submit",
        "/sv/1",
        "/cv/1",
        "/create_forum",
        "/f/books/subscribe",
        "/f/books/edit",
        "/messages/thread/1",
    ] {
        let answer = visitor.post(path, &[("choice", "1")]).await;
        assert_eq!(
            (answer.status, answer.location.as_str()),
            (StatusCode::FOUND, "/login"),
            "{path}"
        );
    }
    assert_eq!(copy.digest().unwrap(), copy.pristine());
}
