//! Tests of every expression that WebArena's checks evaluate on a forum, on served pages.

use crate::forum::visitor::{MEMBER, Visitor, copy};

const NEW: [(&str, &str); 3] = [
    ("submission[forum]", "pics"),
    ("submission[title]", "Fireworks over the river"),
    ("submission[body]", "note: from /f/landscapes"),
];

#[tokio::test]
async fn votes_are_classes_of_the_form() {
    let mut visitor = Visitor::member(&copy()).await;
    let list = visitor.page("/f/books/new").await;
    let link = list.one(".submission__comments").attribute("href").unwrap().to_owned();
    let vote = |page: &crate::forum::page::Node| {
        page.one("div.submission__vote").one("form").attribute("class").unwrap().to_owned()
    };
    let action = list.one("form.vote").attribute("action").unwrap().to_owned();
    assert_eq!(vote(&list), "vote");
    for (choice, class) in
        [("1", "vote vote--user-upvoted"), ("-1", "vote vote--user-downvoted"), ("0", "vote")]
    {
        let (_, page) = visitor.submit(&action, &[("choice", choice), ("back", &link)]).await;
        assert_eq!(vote(&page), class);
    }
}

#[tokio::test]
async fn a_submission_shows_title_body_and_links() {
    let mut visitor = Visitor::member(&copy()).await;
    let (address, page) = visitor.submit("/submit", &NEW).await;
    assert_eq!(page.one(".submission__title").inner(), "Fireworks over the river");
    assert_eq!(page.one(".submission__body").inner(), "note: from /f/landscapes");
    let inner = page.one(".submission__inner").inner();
    assert!(
        inner.contains("Fireworks over the river") && inner.contains("note: from /f/landscapes"),
        "{inner}"
    );
    // The evaluator cuts the URL to forum and number.
    let cut = address.rsplit_once('/').unwrap().0;
    for path in [cut.to_owned(), format!("{cut}/")] {
        assert_eq!(
            visitor.page(&path).await.one(".submission__title").inner(),
            "Fireworks over the river"
        );
    }

    let url = "https://pictures.example/b02113033af3.jpg";
    let fields = [NEW[0], ("submission[title]", "A bald eagle"), ("submission[url]", url)];
    let (_, page) = visitor.submit("/submit", &fields).await;
    let links: Vec<&str> = page
        .all(".submission__inner a")
        .into_iter()
        .filter_map(|node| node.attribute("href").or(node.attribute("src")))
        .collect();
    assert!(links.contains(&url), "{links:?}");
    assert!(page.all(".submission__body").is_empty());
}

#[tokio::test]
async fn the_page_after_a_comment_begins_with_it() {
    let mut visitor = Visitor::member(&copy()).await;
    let list = visitor.page("/f/books/most_commented?t=all").await;
    let thread = list.one(".submission__comments").attribute("href").unwrap().to_owned();
    let page = visitor.page(&thread).await;
    let form = page.one("form.comment-form");
    let field = form.one("textarea").attribute("name").unwrap();
    let action = form.attribute("action").unwrap();
    let (address, shown) =
        visitor.submit(action, &[(field, "I am a big fan of the bookorg")]).await;
    assert_eq!(shown.one(".comment__body").inner(), "I am a big fan of the bookorg");
    assert!(address.contains("/-/comment/"), "{address}");

    let parent = page.one(".comment");
    let reply = parent.one("form.comment-form");
    let field = reply.one("textarea").attribute("name").unwrap();
    let number = reply
        .all("input")
        .into_iter()
        .find(|input| input.attribute("name") == Some("parent"))
        .unwrap()
        .value();
    let (_, shown) = visitor.submit(action, &[(field, "???"), ("parent", &number)]).await;
    assert_eq!(shown.one(".comment__body").inner(), "???");
    // The page of the parent comment shows it as well.
    let permalink = parent.one(".comment__permalink").attribute("href").unwrap();
    assert!(visitor.get(permalink).await.body.contains("???"));
}

#[tokio::test]
async fn a_biography_is_shown() {
    let mut visitor = Visitor::member(&copy()).await;
    let field = "user_biography[biography]";
    let (_, page) =
        visitor.submit(&format!("/user/{MEMBER}/edit_biography"), &[(field, "I am a robot")]).await;
    assert_eq!(page.one(".user-bio__biography").inner(), "I am a robot");
    let form = visitor.page(&format!("/user/{MEMBER}/edit_biography")).await;
    assert_eq!(form.one("#user_biography_biography").value(), "I am a robot");
}

#[tokio::test]
async fn a_forums_edit_form_holds_what_was_written() {
    let mut visitor = Visitor::member(&copy()).await;
    let sidebar = "New\nClassic\nMovies";
    let fields = [
        ("forum[name]", "sci_fi"),
        ("forum[title]", "Sci-fi"),
        ("forum[description]", "A wild place for sci-fi enthusiasts"),
        ("forum[sidebar]", sidebar),
    ];
    visitor.submit("/create_forum", &fields).await;
    for path in ["/f/sci_fi/edit", "/f/SCI_FI/edit"] {
        let page = visitor.page(path).await;
        assert_eq!(page.one("#forum_description").value(), "A wild place for sci-fi enthusiasts");
        assert_eq!(page.one("#forum_sidebar").value(), sidebar);
    }
}

#[tokio::test]
async fn subscriptions_are_the_first_section_of_the_side() {
    let mut visitor = Visitor::member(&copy()).await;
    let first = |page: &crate::forum::page::Node| page.one("#sidebar > section").inner();
    assert!(!first(&visitor.page("/").await).contains("space"));
    let (_, page) = visitor.submit("/f/space/subscribe", &[("back", "/")]).await;
    assert!(first(&page).contains("space"), "{}", first(&page));
    let (_, page) = visitor.submit("/f/Space/unsubscribe", &[("back", "/")]).await;
    assert!(!first(&page).contains("space"));
}

#[tokio::test]
async fn the_log_in_page_has_one_of_each() {
    let mut visitor = Visitor::anonymous(&copy()).await;
    let page = visitor.page("/login").await;
    let labels: Vec<String> = page.all("label").into_iter().map(|label| label.inner()).collect();
    for label in ["Username", "Password"] {
        assert_eq!(labels.iter().filter(|text| text.contains(label)).count(), 1, "{labels:?}");
        let node = page.all("label").into_iter().find(|node| node.inner() == label).unwrap();
        let field = format!("input#{}", node.attribute("for").unwrap());
        assert_eq!(page.all(&field).len(), 1);
    }
    assert_eq!(page.all("button").iter().filter(|button| button.inner() == "Log in").count(), 1);
    // The log-in script's test for being logged in.
    let account = format!("/user/{MEMBER}/account");
    assert!(!visitor.get(&account).await.body.contains("Delete"));
    let mut member = Visitor::member(&copy()).await;
    assert!(member.get(&account).await.body.contains("Delete"));
}
