//! Tests of malicious and invalid requests.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use proptest::prelude::{Strategy, any, proptest};
use proptest::test_runner::Config;

use crate::forum::visitor::{Visitor, copy};

const SCRIPTS: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'); drop table users; --",
    "[x](javascript:alert(1))",
    "</textarea><script>alert(1)</script>",
    "{{ 7 * 7 }}{% raw %}",
];

#[tokio::test]
async fn nothing_that_is_written_runs() {
    let copy = copy();
    let mut visitor = Visitor::member(&copy).await;
    for text in SCRIPTS {
        let fields = [
            ("submission[forum]", "books"),
            ("submission[title]", text),
            ("submission[body]", text),
        ];
        let (address, page) = visitor.submit("/submit", &fields).await;
        assert_eq!(page.one(".submission__title").inner(), text);
        let base = address.rsplit_once('/').unwrap().0;
        let question = format!(
            "/search?q={}",
            url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>()
        );
        for path in [&address, &format!("{base}/-/edit"), "/f/books/new", &question] {
            let body = visitor.get(path).await.body;
            let plain =
                body.replace("<script src=\"/assets/forum.js\" defer></script>", "").to_lowercase();
            assert!(!plain.contains("<script"), "{path}: {text}");
            assert!(!plain.contains("<img src=x"), "{path}: {text}");
            assert!(!plain.contains("href=\"javascript"), "{path}: {text}");
        }
    }
    for url in ["javascript:alert(1)", "data:text/html,x", "//x", "x", "ftp://a.example/"] {
        let fields =
            [("submission[forum]", "books"), ("submission[title]", "t"), ("submission[url]", url)];
        assert_eq!(
            visitor.post("/submit", &fields).await.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_form_without_the_right_token_does_nothing() {
    let copy = copy();
    let mut visitor = Visitor::member(&copy).await;
    let stranger = Visitor::anonymous(&copy).await;
    for token in ["", "x", stranger.token.as_str()] {
        let answer = visitor.post_with("/sv/1", token, &[("choice", "1")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{token}");
    }
    assert_eq!(copy.digest().unwrap(), copy.pristine());
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let copy = copy();
    let mut visitor = Visitor::member(&copy).await;
    let huge = "a".repeat(300 * 1024);
    assert_eq!(
        visitor.post("/submit", &[("submission[body]", &huge)]).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let (title, body) = ("t".repeat(301), "b".repeat(25_001));
    for (title, body) in [(title.as_str(), ""), ("t", body.as_str()), ("", "b")] {
        let fields = [
            ("submission[forum]", "books"),
            ("submission[title]", title),
            ("submission[body]", body),
        ];
        assert_eq!(visitor.post("/submit", &fields).await.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(copy.digest().unwrap(), copy.pristine());
}

#[tokio::test]
async fn a_form_never_leads_to_another_site() {
    let mut visitor = Visitor::member(&copy()).await;
    for back in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/a\r\nset-cookie: x=y",
        "javascript:1",
        "/ä",
    ] {
        let answer = visitor.post("/sv/1", &[("choice", "1"), ("back", back)]).await;
        assert_eq!((answer.status, answer.location.as_str()), (StatusCode::FOUND, "/"), "{back}");
    }
}

#[tokio::test]
async fn deep_talk_is_still_a_page() {
    let mut visitor = Visitor::member(&copy()).await;
    let fields =
        [("submission[forum]", "books"), ("submission[title]", "Deep"), ("submission[body]", "")];
    let (address, _) = visitor.submit("/submit", &fields).await;
    let base = address.rsplit_once('/').unwrap().0.to_owned();
    let id = base.rsplit_once('/').unwrap().1.to_owned();
    let mut field = format!("reply_to_submission_{id}[comment]");
    let mut parent = String::new();
    for _ in 0..60 {
        let answer = visitor
            .post(&format!("{base}/-/comment"), &[(&field, "deeper"), ("parent", &parent)])
            .await;
        parent = answer.location.rsplit_once('/').unwrap().1.to_owned();
        field = format!("reply_to_comment_{parent}[comment]");
    }
    assert!(visitor.page(&address).await.all(".comment__body").len() >= 40);
    let last = visitor.page(&format!("{base}/-/comment/{parent}")).await;
    assert_eq!(last.one(".comment__body").inner(), "deeper");
}

/// Paths made of valid parts and of arbitrary text.
fn paths() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "f",
        "books",
        "1",
        "-",
        "comment",
        "edit",
        "user",
        "MarvelsGrantMan136",
        "new",
        "top",
        "%27",
        "%3Cscript%3E",
        "..",
        "search",
        "messages",
        "thread",
        "submit",
        "account",
        "sv",
        "99999999999",
        "%ff",
        "\u{2603}",
    ]);
    (proptest::collection::vec(part, 0..7), any::<String>()).prop_map(|(parts, question)| {
        let question: String = url::form_urlencoded::byte_serialize(question.as_bytes()).collect();
        format!("/{}?q={question}&page={question}&t={question}", parts.join("/"))
    })
}

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]
    #[test]
    fn no_request_breaks_the_site(path in paths(), body in any::<Vec<u8>>(), sent in any::<bool>()) {
        thread_local! {
            static SITE: (tokio::runtime::Runtime, Visitor) = {
                let runtime = tokio::runtime::Runtime::new().unwrap();
                let visitor = runtime.block_on(Visitor::member(&copy()));
                (runtime, visitor)
            };
        }
        SITE.with(|(runtime, member)| runtime.block_on(async {
            let Ok(uri) = path.parse::<axum::http::Uri>() else { return };
            let mut visitor = member.moved_to(member.copy());
            let method = if sent { "POST" } else { "GET" };
            let request = Request::builder()
                .method(method)
                .uri(uri)
                .header("cookie", visitor.cookie().to_owned())
                .body(Body::from(body))
                .unwrap();
            let answer = visitor.send(request).await;
            assert!(!answer.status.is_server_error(), "{method} {path}: {}", answer.body);
        }));
    }
}
