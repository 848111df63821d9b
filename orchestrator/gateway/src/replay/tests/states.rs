//! Which of several captures a request gets by what was done before, and by the day of its page.

use super::*;
use crate::{GivenCapture, SiteState};

pub(super) const SHOP: &str = "https://shop.test/";
pub(super) const CART: &str = "https://shop.test/cart";
pub(super) const FORM: &str = "application/x-www-form-urlencoded";
pub(super) const HTML: [(&str, &str); 1] = [("Content-Type", "text/html")];
pub(super) const DAY: i64 = 24 * 60 * 60 * 1000;

/// Writes pages and forms, one after the other.
pub(super) struct Site(pub(super) World);

impl Site {
    pub(super) fn new() -> Site {
        Site(World::new())
    }

    pub(super) fn page(&self, url: &str, text: &str) -> &Site {
        self.0.get(url, 200, &HTML, text.as_bytes());
        self
    }

    /// A page, or data, for which the document at `referer` asked.
    fn asked(&self, url: &str, referer: &str, kind: &str, text: &str) -> &Site {
        let response = Response {
            status: 200,
            reason: String::new(),
            headers: [("Content-Type", kind)].into_iter().collect(),
            body: Body::from(text.as_bytes().to_vec()),
        };
        let mut exchange = self.0.exchange(("GET", url, "", ""), response);
        exchange.request.headers.push("Referer", referer);
        self.0.recording.append(&exchange).unwrap();
        self
    }

    pub(super) fn post(&self, path: &str) -> &Site {
        let url = format!("https://shop.test{path}");
        self.0.record(("POST", &url, FORM, "n=1"), 303, &[("Location", "/cart")], b"");
        self
    }

    pub(super) fn after(&self, millis: i64) -> &Site {
        self.0.millis.set(self.0.millis.get() + millis);
        self
    }

    pub(super) fn client(&self) -> Client {
        self.with(StatePolicy::default())
    }

    fn with(&self, states: StatePolicy) -> Client {
        let options = ReplayOptions { states, ..ReplayOptions::default() };
        Client { replay: self.0.replay(options), episode: at(RECORDED * 1000 + 20) }
    }
}

impl Client {
    /// What a browser gets that follows a link.
    pub(super) fn follow(&self, url: &str, from: &str) -> String {
        let headers =
            [("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "document"), ("referer", from)];
        self.get(url, &headers).text().to_owned()
    }

    pub(super) fn enter(&self, url: &str) -> String {
        self.get(url, &[("sec-fetch-site", "none"), ("sec-fetch-dest", "document")])
            .text()
            .to_owned()
    }

    fn fetch(&self, url: &str, from: &str) -> String {
        let headers =
            [("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty"), ("referer", from)];
        self.get(url, &headers).text().to_owned()
    }

    /// What a browser sends from a form of a page.
    fn submit(&self, path: &str, from: &str) -> Answer {
        let headers = [("content-type", FORM), ("sec-fetch-dest", "document"), ("referer", from)];
        self.ask("POST", &format!("https://shop.test{path}"), &headers, "n=1").answer
    }

    pub(super) fn post(&self, path: &str) -> Answer {
        let headers = [("content-type", FORM), ("sec-fetch-site", "same-origin")];
        self.ask("POST", &format!("https://shop.test{path}"), &headers, "n=1").answer
    }
}

#[test]
fn what_is_shown_once_follows_its_redirect_alone() {
    let site = Site::new();
    site.page(SHOP, "shop").page(CART, "empty");
    let add = |text: &str| {
        site.post("/add").page(CART, text).after(60_000);
        site.page(CART, "1 item").after(60_000);
        site.post("/remove").page(CART, "empty").after(60_000);
    };
    add("Added! 1 item");
    add("Added! 1 item");
    let client = site.client();
    client.enter(SHOP);
    for round in 0..3 {
        client.submit("/add", SHOP);
        let texts =
            [client.follow(CART, SHOP), client.follow(CART, SHOP), client.follow(CART, CART)];
        assert_eq!(texts, ["Added! 1 item", "1 item", "1 item"], "round {round}");
        client.post("/remove");
        assert_eq!(client.follow(CART, SHOP), "empty");
    }
}

pub(super) fn other(missing: &[&str], extra: &[&str]) -> Answer {
    let names =
        |paths: &[&str]| paths.iter().map(|path| format!("POST https://shop.test{path}")).collect();
    Answer::OtherState { missing: names(missing), extra: names(extra), of: Box::new(Answer::Exact) }
}

#[test]
fn a_page_is_that_of_what_was_done() {
    let site = Site::new();
    site.page(SHOP, "shop").page(CART, "empty").post("/add").page(CART, "1 item");
    let client = site.client();
    client.enter(SHOP);
    assert_eq!([client.follow(CART, SHOP), client.follow(CART, SHOP)], ["empty", "empty"]);
    assert_eq!(client.post("/add"), Answer::Exact);
    assert_eq!([client.follow(CART, SHOP), client.follow(CART, SHOP)], ["1 item", "1 item"]);
    let hasty = site.client();
    hasty.enter(SHOP);
    hasty.post("/add");
    assert_eq!(hasty.follow(CART, SHOP), "1 item");
    // What was never recorded: a shop with something in the cart.
    let got = hasty.get(SHOP, &[]);
    assert_eq!((got.text(), got.answer.clone()), ("shop", other(&[], &["/add"])));
}

#[test]
fn a_font_is_one_whatever_its_server_calls_it() {
    let site = Site::new();
    let font = "https://shop.test/a.woff2";
    site.page(SHOP, "shop").page(CART, "empty").asked(font, CART, "text/plain", "font");
    site.post("/add").page(CART, "1 item");
    let client = site.client();
    client.enter(SHOP);
    client.post("/add");
    let asked = |destination: &str| client.get(font, &[("sec-fetch-dest", destination)]).answer;
    assert_eq!(asked("font"), Answer::Exact);
    assert_eq!(asked("empty"), other(&[], &["/add"]));
}

#[test]
fn what_is_given_is_told_with_its_state() {
    let site = Site::new();
    site.page(CART, "empty").post("/add").page(CART, "1 item");
    let client = site.client();
    let state = |got: Got| got.capture.and_then(|given| given.state);
    let after = |writes, last: &str| Some(SiteState { writes, last: Some(last.to_owned()) });
    assert_eq!(state(client.get(CART, &[])), Some(SiteState { writes: 0, last: None }));
    client.post("/add");
    let got = client.get(CART, &[]);
    let words = got.capture.as_ref().map(GivenCapture::words).unwrap_or_default();
    assert!(words.ends_with(", after 1 write: POST https://shop.test/add"), "{words}");
    assert_eq!(state(got), after(1, "POST https://shop.test/add"));
}

#[test]
fn writes_to_one_address_are_told_apart() {
    let site = Site::new();
    site.page(CART, "empty");
    for item in ["pen", "ink"] {
        let body = format!("item={item}");
        site.0.record(
            ("POST", "https://shop.test/add", FORM, &body),
            303,
            &[("Location", "/cart")],
            b"",
        );
        site.page(CART, item);
    }
    let client = site.client();
    client.enter(CART);
    client.ask("POST", "https://shop.test/add", &[("content-type", FORM)], "item=ink");
    // Ink alone was not recorded.
    let Answer::OtherState { missing, extra, .. } = client.get(CART, &[]).answer else { panic!() };
    assert_eq!(
        (missing, extra),
        (vec!["POST https://shop.test/add (body 1 of 2)".to_owned()], vec![])
    );
}

#[test]
fn what_is_undone_leads_back() {
    let site = Site::new();
    site.page(SHOP, "shop").page(CART, "empty").post("/add").page(CART, "1 item");
    site.post("/remove").page(CART, "empty").post("/pay").page(CART, "paid");
    let client = site.client();
    client.enter(SHOP);
    for _ in 0..3 {
        client.post("/add");
        assert_eq!(client.follow(CART, SHOP), "1 item");
        client.post("/remove");
        assert_eq!(client.get(CART, &[]).text(), "empty");
        assert_eq!(
            client.get(SHOP, &[]).answer,
            Answer::Exact,
            "the recording shows that it is undone"
        );
    }
    assert_eq!(client.post("/pay"), Answer::Exact);
    assert_eq!(client.follow(CART, SHOP), "paid");
}

#[test]
fn a_state_that_was_not_recorded_is_said_and_may_be_a_miss() {
    let site = Site::new();
    site.page(SHOP, "shop")
        .page(CART, "empty")
        .post("/a")
        .page(CART, "a")
        .post("/b")
        .page(CART, "a, b");
    let client = site.client();
    client.enter(SHOP);
    assert_eq!(client.post("/b"), other(&["/a"], &[]));
    let got = client.get(CART, &[]);
    assert_eq!(
        (got.text(), got.answer.clone()),
        ("a, b", other(&["/a"], &[])),
        "the last write counts most"
    );
    assert_eq!(client.post("/a"), other(&[], &["/b"]));
    let got = client.get(CART, &[]);
    assert_eq!((got.text(), got.answer.clone()), ("a, b", other(&[], &[])), "in another order");
    let levels = client.episode.ledger().levels();
    assert_eq!(levels.total(), 0, "entries are the proxy's to make");

    let strict = site.with(StatePolicy::Strict);
    strict.enter(SHOP);
    assert!(matches!(strict.post("/b"), Answer::Miss { .. }));
    assert_eq!([strict.post("/a"), strict.post("/b")], [Answer::Exact, Answer::Exact]);

    let ordered = site.with(StatePolicy::Order);
    let texts: Vec<String> = (0..4).map(|_| ordered.follow(CART, SHOP)).collect();
    assert_eq!(texts, ["empty", "a", "a, b", "a, b"]);
}

#[test]
fn after_a_write_that_was_not_recorded_no_state_is_right() {
    let site = Site::new();
    site.page(SHOP, "shop").page(CART, "empty").post("/add").page(CART, "1 item");
    let client = site.client();
    client.enter(SHOP);
    assert_eq!(client.get(CART, &[]).answer, Answer::Exact);
    assert!(matches!(client.post("/pay"), Answer::Miss { .. }));
    assert_eq!(client.get(CART, &[]).answer, other(&[], &["/pay"]));
}

#[test]
fn what_is_the_same_in_every_state_has_none() {
    let site = Site::new();
    site.page(SHOP, "shop").post("/add");
    for kind in ["text/javascript", "image/png", "font/woff2", "text/css; charset=utf-8"] {
        site.asked(&format!("https://shop.test/{}", kind.len()), SHOP, kind, "x");
    }
    site.asked("https://shop.test/data", SHOP, "application/json", "x");
    let client = site.client();
    client.enter(SHOP);
    for kind in ["text/javascript", "image/png", "font/woff2", "text/css; charset=utf-8"] {
        assert_eq!(
            client.get(&format!("https://shop.test/{}", kind.len()), &[]).answer,
            Answer::Exact
        );
    }
    assert_eq!(client.get("https://shop.test/data", &[]).answer, other(&["/add"], &[]));
}

#[test]
fn an_episode_stands_where_its_first_page_was_recorded() {
    let site = Site::new();
    site.page(SHOP, "shop").post("/log-in").page(CART, "mine").post("/add").page(CART, "1 item");
    let client = site.client();
    assert_eq!(client.enter(CART), "mine", "it begins in the state of the first page of the day");
    assert_eq!(client.post("/add"), Answer::Exact);
    assert_eq!(client.follow(CART, CART), "1 item");
}

#[test]
fn a_page_of_one_day_gets_the_data_of_that_day() {
    let site = Site::new();
    let (more, data) = ("https://shop.test/more", "https://shop.test/api/pos");
    for day in [1, 2, 3] {
        site.page(SHOP, &format!("home {day}"));
        site.asked(data, SHOP, "application/json", &format!("{day} of home"));
        site.asked(more, SHOP, "text/html", &format!("more {day}"));
        site.asked(data, more, "application/json", &format!("{day} of more"));
        site.after(DAY);
    }
    let client = site.client();
    assert_eq!([client.enter(SHOP), client.fetch(data, SHOP)], ["home 1", "1 of home"]);
    for _ in 0..3 {
        assert_eq!([client.follow(more, SHOP), client.fetch(data, more)], ["more 1", "1 of more"]);
        assert_eq!([client.follow(SHOP, more), client.fetch(data, SHOP)], ["home 1", "1 of home"]);
    }
    let later = Client { episode: at(RECORDED * 1000 + 2 * DAY), ..site.client() };
    assert_eq!([later.enter(SHOP), later.fetch(data, SHOP)], ["home 3", "3 of home"]);
    assert_eq!([later.follow(more, SHOP), later.fetch(data, more)], ["more 3", "3 of more"]);
}

#[test]
fn a_page_of_one_day_gets_the_film_of_that_day() {
    let film = "https://shop.test/film.mp4";
    let range = |from: usize| {
        [
            ("range", format!("bytes={from}-{}", from + 3)),
            ("referer", SHOP.to_owned()),
            ("sec-fetch-site", "same-origin".to_owned()),
        ]
    };
    let play = |client: &Client, from: usize| {
        let headers = range(from);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let got = client.get(film, &headers);
        (got.status == 206).then(|| got.text().to_owned())
    };
    for validators in
        [&[][..], &[("ETag", "\"a\"")], &[("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")]]
    {
        let site = Site::new();
        for (day, (name, value)) in
            [1, 2].into_iter().zip(validators.iter().chain([&("X-None", "")]).cycle())
        {
            site.page(SHOP, &format!("home {day}"));
            let value =
                value.replace('a', &format!("a{day}")).replace("01 Jan", &format!("0{day} Jan"));
            // The second part of the second day is missing.
            for from in [0, 4].into_iter().take(3 - day) {
                let held = format!("bytes {from}-{}/8", from + 3);
                let headers =
                    [("Content-Type", "video/mp4"), ("Content-Range", &held), (name, &value)];
                site.0.get(film, 206, &headers, format!("d{day}.{from}").as_bytes());
            }
            site.after(DAY);
        }
        let client = site.client();
        assert_eq!(client.enter(SHOP), "home 1");
        assert_eq!(
            [play(&client, 0), play(&client, 4)],
            ["d1.0", "d1.4"].map(|text| Some(text.to_owned()))
        );
        let later = Client { episode: at(RECORDED * 1000 + 2 * DAY), ..site.client() };
        assert_eq!(later.enter(SHOP), "home 2");
        assert_eq!(
            [play(&later, 0), play(&later, 4)],
            [Some("d2.0".to_owned()), None],
            "{validators:?}"
        );
    }
}

#[test]
fn a_page_that_is_asked_for_from_itself_is_the_next_one() {
    let site = Site::new();
    site.page(SHOP, "It is dropped.").asked(SHOP, SHOP, "text/html", "Nothing new.");
    let client = site.client();
    client.enter(SHOP);
    let texts = [client.follow(SHOP, SHOP), client.follow(SHOP, SHOP), client.follow(SHOP, SHOP)];
    assert_eq!(texts, ["Nothing new."; 3]);
}

#[test]
fn what_each_load_of_a_page_sends_at_once_is_no_write_unless_it_says_so() {
    const API: &str = "https://shop.test/api";
    // `page` is a load of the page, `again` is asked by the recorder, `wait` is time.
    let recorded = |steps: &str, url: &str, body: &str| -> bool {
        let site = Site::new();
        for step in steps.split(' ') {
            let request = match step {
                "wait" => {
                    site.after(20_000);
                    continue;
                }
                "send" => ("POST", url, "application/json", body),
                "delete" => ("POST", url, "application/json", r#"{"delete":1}"#),
                _ => ("GET", SHOP, "", ""),
            };
            let response = Response {
                status: 200,
                reason: String::new(),
                headers: HTML.into_iter().collect(),
                body: Body::from(b"page".to_vec()),
            };
            let mut exchange = site.0.exchange(request, response);
            (exchange.visit, exchange.asked_again) = (Some("v".to_owned()), step == "again");
            exchange.request.headers.push("Referer", SHOP);
            site.0.recording.append(&exchange).unwrap();
        }
        let replay = site.client().replay;
        !replay.set().history("shop.test").unwrap().is_empty()
    };
    let asks = r#"{"page":1}"#;
    assert!(!recorded("page send", API, asks));
    assert!(!recorded("page send wait page send send", API, asks));
    assert!(recorded("page send", API, r#"{"query":"mutation { add(item: 1) }"}"#), "a mutation");
    assert!(recorded("page send", "https://shop.test/api/add", asks), "its address says so");
    assert!(recorded("page wait again send", API, asks), "nobody saw what was asked again");
    assert!(recorded("page send wait page wait", API, asks), "the page does not send it by itself");
    assert!(recorded("page wait send", API, asks));
    assert!(!recorded("page send wait send", API, asks), "it asks for the same again");
    assert!(recorded("page send wait delete", API, asks), "the same address, for something else");
}

#[test]
fn polls_are_counted_within_one_document() {
    let site = Site::new();
    let poll = "https://shop.test/api/job";
    site.page(SHOP, "job");
    for text in ["waits", "runs", "done"] {
        site.after(2_000).asked(poll, SHOP, "application/json", text);
    }
    let client = site.client();
    for _ in 0..2 {
        client.enter(SHOP);
        let texts: Vec<String> = (0..4).map(|_| client.fetch(poll, SHOP)).collect();
        assert_eq!(texts, ["waits", "runs", "done", "done"]);
    }
}

#[test]
fn no_visit_ends_in_a_loop_of_redirects() {
    let site = Site::new();
    let away = [("Location", "https://auth.test/login")];
    site.page(SHOP, "welcome");
    site.0.get(SHOP, 307, &away, b"");
    let client = site.client();
    for visit in 0..5 {
        let texts = [client.enter(SHOP), client.enter(SHOP)];
        assert!(texts.iter().any(|text| text == "welcome"), "{visit}: {texts:?}");
    }
}
