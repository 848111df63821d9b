//! Surveys of pages, also of those with barriers, and answers to banners about cookies.

use std::time::Duration;

use actions::Action;
use browser::{AccessBarrier, Launch, LinkKind, Session};
use in_flight::InFlight;

const PATIENCE: Duration = Duration::from_secs(20);

async fn open(session: &mut Session, url: &str) {
    session.act(&Action::Goto { url: url.to_owned() }).await.unwrap();
    session.settle(&InFlight::default(), PATIENCE).await.unwrap();
}

#[tokio::test]
async fn pages_are_surveyed_whatever_they_call_their_fields() {
    let web = crate::web::Web::serve(&[
        (
            "list.test/things",
            "<a href='http://'>broken</a><a href='/things?page=2'>2</a><a rel=next href='/more'>go on</a>
            <a href='/things?sort=price'>By price</a><a href='/about#x'>About</a><img name=forms>
            <form action='/find'><input name=action><input name=method><input name=elements>
            <input name=getAttribute><input type=hidden name=lang value=en><input type=search name=q></form>
            <form method=post action='/post'><input type=search name=q></form>",
        ),
        ("wall.test/", "<title>Just a moment...</title><div class=cf-turnstile></div>"),
        ("wall.test/in", "<title>Hello</title><form><input type=password name=p></form>"),
        (
            "form.test/",
            "<title>Join</title><select><option>Mr</select><input name=name><div class=g-recaptcha></div>",
        ),
        (
            "app.test/",
            "<title>Loading</title><div class=grecaptcha-badge><iframe src='http://app.test/recaptcha/api2/anchor?size=invisible'></iframe></div>",
        ),
        (
            "talk.test/",
            &format!(
                "<title>Contact</title><p>{}</p><div class=g-recaptcha></div>",
                "Write to us. ".repeat(90)
            ),
        ),
    ])
    .await;
    let mut session = Session::start(&Launch::new(web.address, "")).await.unwrap();
    open(&mut session, "http://list.test/things").await;
    let survey = session.survey().await.unwrap();
    let links: Vec<(&str, LinkKind)> =
        survey.links.iter().map(|link| (&*link.url, link.kind)).collect();
    assert_eq!(
        links,
        [
            ("http://list.test/things?page=2", LinkKind::Next),
            ("http://list.test/more", LinkKind::Next),
            ("http://list.test/things?sort=price", LinkKind::Filter),
            ("http://list.test/about", LinkKind::Link),
        ]
    );
    let [search] = &survey.searches[..] else { panic!("{survey:?}") };
    let url = search.url("blue kettle").unwrap();
    assert_eq!(
        url.as_str(),
        "http://list.test/find?action=&method=&elements=&getAttribute=&lang=en&q=blue+kettle"
    );
    assert_eq!(
        (survey.wall, survey.status, &*survey.address),
        (None, 200, "http://list.test/things")
    );
    for (url, wall) in [
        ("http://wall.test/", Some(AccessBarrier::Captcha)),
        ("http://wall.test/in", Some(AccessBarrier::Login)),
        ("http://talk.test/", None),
        ("http://form.test/", None),
        ("http://app.test/", None),
    ] {
        open(&mut session, url).await;
        assert_eq!(session.survey().await.unwrap().wall, wall, "{url}");
    }
    session.close().await.unwrap();
}

#[tokio::test]
async fn only_banners_about_cookies_are_answered() {
    let banner = |id: &str, words: &str| {
        format!(
            "<p id=said>nothing</p><div id={id}>{words}
            <button onclick=\"said.textContent = 'rejected'\">Reject all</button>
            <button onclick=\"said.textContent = 'accepted'\">Accept all</button></div>"
        )
    };
    let cookies = banner("cookie-notice", "We use cookies.");
    // A theme's class on the whole page, and a word that many things say.
    let page = "<body class=cookies-not-set><p id=said>nothing</p><p>Our privacy rules</p><form action='/buy'>
        <button>Continue</button><button>Accept</button></form><p>"
        .to_owned() + &"More text. ".repeat(500);
    let newsletter = "<p id=said>nothing</p><div role=dialog>News by mail? See our privacy rules.
        <button onclick=\"said.textContent = 'signed up'\">OK</button></div>";
    let web = crate::web::Web::serve(&[
        ("cookies.test/", &cookies),
        ("page.test/", &page),
        ("news.test/", newsletter),
    ])
    .await;
    let mut session = Session::start(&Launch::new(web.address, "")).await.unwrap();
    for (url, agree, label, said) in [
        ("http://cookies.test/", true, Some("Accept all"), "accepted"),
        ("http://cookies.test/", false, Some("Reject all"), "rejected"),
        ("http://page.test/", true, None, "nothing"),
        ("http://news.test/", true, None, "nothing"),
    ] {
        open(&mut session, url).await;
        assert_eq!(session.answer_consent(agree).await.unwrap().as_deref(), label, "{url}");
        assert!(session.page_text().await.unwrap().starts_with(said), "{url}");
    }
    session.close().await.unwrap();
}
