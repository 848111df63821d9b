//! Tests of resets: they restore the golden state after any change, and copies are independent.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::http::StatusCode;
use embedded_sites::{Clock, Options, forum};
use serde_json::json;

use crate::forum::visitor::{MEMBER, Visitor, copy, golden};

/// Makes a few hundred changes of every kind. Returns all answers in one text.
async fn live_a_little(visitor: &mut Visitor, rounds: usize) -> String {
    let mut transcript = String::new();
    for round in 0..rounds {
        let number = (round * 37 % 4000 + 1).to_string();
        let text = format!("Zeppelin {round} of *many*");
        let forum = format!("forum_{round}");
        let field = format!("reply_to_submission_{number}[comment]");
        let place = visitor.location_of(&number).await;
        let steps: [(String, Vec<(&str, &str)>); 7] = [
            (format!("/sv/{number}"), vec![("choice", ["1", "-1", "0"][round % 3])]),
            (format!("/cv/{number}"), vec![("choice", ["-1", "1"][round % 2])]),
            (
                "/submit".into(),
                vec![
                    ("submission[forum]", "books"),
                    ("submission[title]", &text),
                    ("submission[body]", &text),
                ],
            ),
            (format!("{place}/-/comment"), vec![(&field, &text)]),
            (format!("/user/{MEMBER}/edit_biography"), vec![("user_biography[biography]", &text)]),
            (
                format!(
                    "/f/{}/{}",
                    ["space", "books", "DIY"][round % 3],
                    ["subscribe", "unsubscribe"][round / 3 % 2]
                ),
                vec![],
            ),
            (
                "/create_forum".into(),
                vec![
                    ("forum[name]", &forum),
                    ("forum[title]", &text),
                    ("forum[description]", &text),
                    ("forum[sidebar]", &text),
                ],
            ),
        ];
        for (path, fields) in steps {
            let answer = visitor.post(&path, &fields).await;
            assert_eq!(answer.status, StatusCode::FOUND, "{path}: {}", answer.body);
            let page = visitor.get(&answer.location).await;
            transcript += &format!("{path} {} {}\n", answer.location, page.body);
        }
    }
    transcript
}

impl Visitor {
    async fn location_of(&mut self, submission: &str) -> String {
        let rows = self.copy().query(
            "select '/f/' || f.name || '/' || s.id as path from submissions s join forums f on f.id = s.forum where s.id = :id",
            &[("id", json!(submission.parse::<i64>().unwrap()))],
        );
        rows.unwrap()[0]["path"].as_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn after_hundreds_of_changes_a_reset_is_complete() {
    let copy = copy();
    assert_eq!(copy.digest().unwrap(), copy.pristine());
    let mut visitor = Visitor::member(&copy).await;
    let front = visitor.get("/all/new").await.body;
    live_a_little(&mut visitor, 30).await;
    let changed = copy.digest().unwrap();
    assert_ne!(changed, copy.pristine());
    copy.reset().unwrap();
    assert_eq!(copy.digest().unwrap(), copy.pristine());
    // Compares the pages as well: the visitor is still logged in, and nothing else is left.
    assert_eq!(visitor.get("/all/new").await.body, front);
    assert!(visitor.get("/search?q=zeppelin").await.body.contains("No results"));
    // Ids start again at the same number.
    let again = live_a_little(&mut visitor, 1).await;
    copy.reset().unwrap();
    assert_eq!(live_a_little(&mut visitor, 1).await, again);
}

#[tokio::test]
async fn every_single_change_changes_the_digest() {
    let copy = copy();
    let mut visitor = Visitor::member(&copy).await;
    let biography = format!("/user/{MEMBER}/edit_biography");
    let steps: [(&str, &[(&str, &str)]); 4] = [
        ("/sv/5", &[("choice", "1")]),
        ("/f/space/subscribe", &[]),
        (&biography, &[("user_biography[biography]", "x")]),
        ("/user/oldtram/compose_message", &[("message[body]", "x")]),
    ];
    for (path, fields) in steps {
        visitor.submit(path, fields).await;
        assert_ne!(copy.digest().unwrap(), copy.pristine(), "{path}");
        copy.reset().unwrap();
        assert_eq!(copy.digest().unwrap(), copy.pristine(), "{path}");
    }
}

#[tokio::test]
async fn the_same_requests_give_the_same_bytes_on_two_copies() {
    let (one, other) = (copy(), copy());
    let (mut here, mut there) = (Visitor::member(&one).await, Visitor::member(&other).await);
    assert_eq!(live_a_little(&mut here, 10).await, live_a_little(&mut there, 10).await);
    assert_eq!(one.digest().unwrap(), other.digest().unwrap());
}

#[tokio::test]
async fn copies_are_independent() {
    let (one, other) = (copy(), copy());
    let mut here = Visitor::member(&one).await;
    live_a_little(&mut here, 2).await;
    assert_eq!(other.digest().unwrap(), other.pristine());
    other.reset().unwrap();
    assert_ne!(one.digest().unwrap(), one.pristine());
}

#[tokio::test]
async fn log_ins_hold_on_copies_of_the_same_seed_only() {
    let clock = Clock::fixed(crate::forum::visitor::START.parse().unwrap());
    let strange = forum::start(golden(), &Options { seed: 7, ..Options::new(clock) }).unwrap();
    let visitor = Visitor::member(&copy()).await;
    let mut moved = visitor.moved_to(&copy());
    assert!(moved.get("/").await.body.contains(MEMBER));
    let mut moved = visitor.moved_to(&strange);
    assert!(!moved.get("/").await.body.contains(&format!("<summary>{MEMBER}")));
}

#[tokio::test]
async fn time_is_what_the_clock_says_even_backwards() {
    let seconds = Arc::new(AtomicI64::new(1_686_819_600));
    let hand = Arc::clone(&seconds);
    let clock =
        Clock::new(move || jiff::Timestamp::from_second(hand.load(Ordering::SeqCst)).unwrap());
    let copy = forum::start(golden(), &Options::new(clock)).unwrap();
    let mut visitor = Visitor::member(&copy).await;
    let fields =
        [("submission[forum]", "books"), ("submission[title]", "Now"), ("submission[body]", "")];
    let (address, page) = visitor.submit("/submit", &fields).await;
    assert!(page.one(".submission__info").inner().contains("just now"));
    seconds.store(1_686_819_600 + 7200, Ordering::SeqCst);
    assert!(visitor.page(&address).await.one(".submission__info").inner().contains("2 hours ago"));
    assert_eq!(visitor.get("/login").await.date, "Thu, 15 Jun 2023 11:00:00 GMT");
    seconds.store(1_686_819_600 - 86_400, Ordering::SeqCst);
    assert!(visitor.page(&address).await.one(".submission__info").inner().contains("just now"));
}

#[test]
fn queries_only_read() {
    let copy = copy();
    let rows = copy
        .query(
            "select name from users where name_key = lower(:name)",
            &[("name", json!("OLDTRAM"))],
        )
        .unwrap();
    assert_eq!(serde_json::to_value(&rows).unwrap(), json!([{ "name": "oldtram" }]));
    for hostile in [
        "delete from users",
        "update users set name = 'x'",
        "attach ':memory:' as x",
        "pragma query_only = 0",
        "begin",
        "create table x (y)",
        "vacuum",
        "select load_extension('x')",
        "select 1; delete from users",
        "",
        "not sql",
        "insert into users (name) select name from users returning id",
    ] {
        let error = copy.query(hostile, &[]).unwrap_err().to_string();
        assert!(error.starts_with("run the query: "), "{hostile}: {error}");
    }
    let endless =
        "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) as m from n";
    assert!(copy.query(endless, &[]).is_err());
    assert_eq!(copy.digest().unwrap(), copy.pristine());
}
