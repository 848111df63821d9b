//! Tests of lists: order, periods, pages, and the search.

use axum::http::StatusCode;
use serde_json::json;

use crate::forum::page::Node;
use crate::forum::visitor::{Visitor, copy};

fn scores(page: &Node) -> Vec<i64> {
    page.all(".submission .vote__net-score")
        .into_iter()
        .map(|node| node.inner().replace(',', "").parse().unwrap())
        .collect()
}

fn counts(page: &Node) -> Vec<i64> {
    let number = |text: String| text.split(' ').next().unwrap().replace("No", "0").parse().unwrap();
    page.all(".submission__comments").into_iter().map(|node| number(node.inner())).collect()
}

fn times(page: &Node) -> Vec<String> {
    page.all(".submission__info > time")
        .into_iter()
        .map(|node| node.attribute("datetime").unwrap().to_owned())
        .collect()
}

fn falling<T: PartialOrd>(values: &[T]) -> bool {
    !values.is_empty() && values.windows(2).all(|pair| pair[0] >= pair[1])
}

#[tokio::test]
async fn lists_are_in_the_order_that_their_name_says() {
    let mut visitor = Visitor::anonymous(&copy()).await;
    for base in ["", "/all", "/featured", "/f/technology"] {
        assert!(falling(&times(&visitor.page(&format!("{base}/new")).await)), "{base}");
        assert!(falling(&scores(&visitor.page(&format!("{base}/top?t=all")).await)), "{base}");
        assert!(
            falling(&counts(&visitor.page(&format!("{base}/most_commented?t=all")).await)),
            "{base}"
        );
        for sort in ["hot", "active", "controversial?t=year"] {
            assert!(
                !scores(&visitor.page(&format!("{base}/{sort}")).await).is_empty(),
                "{base}/{sort}"
            );
        }
    }
    let hot = visitor.page("/f/technology/hot").await;
    assert_eq!(hot.one(".sorting summary").inner(), "Sort by: Hot");
}

#[tokio::test]
async fn a_span_of_time_leaves_out_what_is_older() {
    let mut visitor = Visitor::anonymous(&copy()).await;
    for (span, oldest) in
        [("hour", "2023-06-15T08:00"), ("day", "2023-06-14T09:00"), ("week", "2023-06-08T09:00")]
    {
        let page = visitor.page(&format!("/all/top?t={span}")).await;
        assert!(times(&page).iter().all(|time| time.as_str() >= oldest), "{span}");
    }
    // The default period is a day, as the page shows.
    let page = visitor.page("/all/top").await;
    assert_eq!(page.all(".sorting summary")[1].inner(), "From: Past 24 hours");
    assert_eq!(visitor.get("/all/top?t=century").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn more_leads_through_all_of_a_list() {
    let copy = copy();
    let mut visitor = Visitor::anonymous(&copy).await;
    let mut seen = Vec::new();
    let mut path = "/f/coffee/top?t=all".to_owned();
    loop {
        let page = visitor.page(&path).await;
        seen.extend(
            page.all(".submission")
                .into_iter()
                .map(|node| node.attribute("id").unwrap().to_owned()),
        );
        let next = page.all(".pagination a").into_iter().find(|node| node.inner() == "More");
        let Some(next) = next else { break };
        path = format!("/f/coffee/top{}", next.attribute("href").unwrap());
    }
    let sql = "select count(*) as n from submissions s join forums f on f.id = s.forum where f.name = :name";
    let all =
        copy.query(sql, &[("name", json!("coffee"))]).unwrap()[0]["n"].as_u64().unwrap() as usize;
    let mut different = seen.clone();
    different.sort();
    different.dedup();
    assert_eq!((seen.len(), different.len()), (all, all));
}

#[tokio::test]
async fn names_of_forums_have_no_case() {
    let mut visitor = Visitor::anonymous(&copy()).await;
    let [one, other] = [
        visitor.page("/f/MachineLearning/new").await,
        visitor.page("/f/machinelearning/new").await,
    ];
    assert_eq!(one.one(".submission__title").inner(), other.one(".submission__title").inner());
    let link = one.one(".submission__comments").attribute("href").unwrap().to_lowercase();
    visitor.page(&link).await;
    let names: Vec<String> =
        visitor.page("/forums/all").await.all(".columns a").into_iter().map(Node::inner).collect();
    assert!(names.contains(&"MachineLearning".to_owned()) && names.len() >= 30, "{names:?}");
    assert!(visitor.page("/forums").await.all(".forum-row").len() >= 30);
}

#[tokio::test]
async fn what_is_not_there_says_404() {
    let mut visitor = Visitor::member(&copy()).await;
    let id = {
        let page = visitor.page("/f/books/new").await;
        page.one(".submission__comments")
            .attribute("href")
            .unwrap()
            .split('/')
            .nth(3)
            .unwrap()
            .to_owned()
    };
    let foreign = format!("/f/news/{id}");
    for path in [
        "/nowhere",
        "/f/nosuchforum",
        "/f/books/0",
        "/f/books/999999999",
        "/f/books/-1",
        "/f/books/1e3",
        "/f/books/x/y",
        "/f/books/99999999999999999999999/a",
        "/user/nobody_at_all",
        "/user/nobody_at_all/account",
        &foreign,
        "/f/books/1/-/comment/zzz",
        "/f/nosuchforum/edit",
        "/submit/nosuchforum",
        "/messages/thread/999",
        "/submission_images/x.svg",
        "/f/%00/new",
        "/f/books/%F0%9F%98%80",
    ] {
        let answer = visitor.get(path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer.body.contains("404"), "{path}");
    }
}

#[tokio::test]
async fn the_search_finds_every_word_and_nothing_else() {
    let mut visitor = Visitor::member(&copy()).await;
    let fields = [
        ("submission[forum]", "books"),
        ("submission[title]", "A zeppelin over the marmalade factory"),
        ("submission[body]", "quixotic"),
    ];
    let (address, _) = visitor.submit("/submit", &fields).await;
    for question in ["zeppelin+marmalade", "QUIXOTIC", "zeppelin%20factory!"] {
        let page = visitor.page(&format!("/search?q={question}")).await;
        assert_eq!(page.all(".submission").len(), 1, "{question}");
        assert_eq!(page.one(".submission__comments").attribute("href"), Some(address.as_str()));
    }
    assert!(visitor.page("/search?q=zeppelin+nonesuchword").await.all(".submission").is_empty());
    // The search finds edited texts, and no deleted ones.
    let (base, _) = address.rsplit_once('/').unwrap();
    let edited = [("submission[title]", "A glider"), ("submission[body]", "")];
    visitor.submit(&format!("{base}/-/edit"), &edited).await;
    assert!(visitor.page("/search?q=zeppelin").await.all(".submission").is_empty());
    visitor.submit(&format!("{base}/-/delete"), &[]).await;
    assert!(visitor.page("/search?q=glider").await.all(".submission").is_empty());
}

#[tokio::test]
async fn pictures_are_the_sites_own() {
    let mut visitor = Visitor::anonymous(&copy()).await;
    let page = visitor.page("/f/landscapes/top?t=all").await;
    let picture = page.one(".submission__thumb img").attribute("src").unwrap().to_owned();
    let answer = visitor.get(&picture).await;
    assert_eq!((answer.status, answer.kind.as_str()), (StatusCode::OK, "image/svg+xml"));
    crate::forum::page::parse(&answer.body);
}
