//! The articles.

use axum::http::{Request, StatusCode, header};
use serde_json::json;
use tower::ServiceExt;

use super::visitor::{Visitor, copy};

/// The titles that a search shows, in order.
async fn titles(visitor: &mut Visitor, query: &str) -> Vec<String> {
    let body = visitor.get(&format!("/kb?id=kb_search&query={query}")).await.body;
    let links = body.split("<a class=\"kb-title\"").skip(1);
    links
        .map(|link| link.split_once('>').unwrap().1.split_once("</a>").unwrap().0.to_owned())
        .collect()
}

#[tokio::test]
async fn a_search_leads_to_an_article() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    for home in ["/kb?id=kb_home", "/$knowledge.do", "/%24knowledge.do", "/kb"] {
        let body = admin.get(home).await.body;
        assert_eq!(body.matches("role=\"textbox\"").count(), 1, "{home}");
        assert_eq!(body.matches("aria-label=\"Search\"").count(), 1, "{home}");
        assert!(body.contains("General Knowledge"), "{home}");
    }
    assert_eq!(
        titles(&mut admin, "%22wireless+network%22").await[0],
        "Connect to the wireless network"
    );
    assert_eq!(titles(&mut admin, "badge+PRINTER").await[0], "Print from a notebook");
    assert!(titles(&mut admin, "zebra").await.is_empty());
    let body = admin.get("/kb?id=kb_article_view&sysparm_article=KB0000001").await.body;
    assert!(body.contains("<p>Choose the network <b>harbour</b> and log in"), "{body}");
    assert_eq!(body.matches("role=\"textbox\"").count(), 1);
    let nowhere = admin.get("/kb?id=kb_article_view&sysparm_article=KB9").await;
    assert_eq!(nowhere.status, StatusCode::NOT_FOUND);
    let nowhere = admin.get("/kb?id=kb_article_view").await;
    assert_eq!(nowhere.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn drafts_are_not_found() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    for (title, state) in [("Zebras in drafts", "draft"), ("Zebras in print", "published")] {
        let fields = json!({"short_description": title, "text": "", "workflow_state": state});
        program.make("kb_knowledge", fields).await;
    }
    assert_eq!(titles(&mut admin, "zebras").await, ["Zebras in print"]);
}

#[tokio::test]
async fn articles_of_a_base_are_listed_in_pages() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let base = program.make("kb_knowledge_base", json!({"title": "Animals & more"})).await;
    let id = base["sys_id"].as_str().unwrap();
    for number in 1..=23 {
        let title = format!("Animal {number}");
        let fields = json!({"short_description": title, "kb_knowledge_base": id, "text": "x"});
        program.make("kb_knowledge", fields).await;
    }
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let of_base = format!("&kb_knowledge_base={id}");
    let first = titles(&mut admin, &of_base).await;
    assert_eq!((first.len(), first[0].as_str()), (20, "Animal 1"));
    let rest = titles(&mut admin, &format!("{of_base}&start=20")).await;
    assert_eq!(rest, ["Animal 21", "Animal 22", "Animal 23"]);
    assert!(titles(&mut admin, &format!("{of_base}&start=9999999999999999999")).await.len() <= 20);
    assert!(titles(&mut admin, &format!("{of_base}&start=100")).await.is_empty());
}

#[tokio::test]
async fn scripts_of_an_article_do_not_run() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let text = "<p>Read</p><script>alert(1)</script>";
    let fields = json!({"short_description": "</a><script>", "text": text, "number": "KB7"});
    program.make("kb_knowledge", fields).await;
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let page = "/kb?id=kb_article_view&sysparm_article=KB7";
    let body = admin.get(page).await.body;
    // The text is shown as it is; the policy keeps its scripts from running.
    assert!(body.contains(text) && body.contains("&lt;/a&gt;&lt;script&gt;"), "{body}");
    let request = Request::get(page).header(header::COOKIE, admin.cookie());
    let request = request.body(axum::body::Body::empty()).unwrap();
    let answer = copy.router().oneshot(request).await.unwrap();
    let policy = answer.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("script-src 'self'") && !policy.contains("inline"), "{policy}");
    let hits = admin.get("/kb?id=kb_search&query=%3Cscript%3E").await.body;
    assert!(!hits.contains("<script>"), "{hits}");
}
