//! Which of several captures a request gets by who asks: by the account, the settings that scripts
//! keep, and the page from which it is asked.

use super::states::{CART, FORM, HTML, SHOP, Site, other};
use super::*;

/// A site with a log-in, in which something is done before the log-out.
fn accounts() -> Site {
    let site = Site::new();
    let leads_home = |set: &'static str| [("Location", "/"), ("Set-Cookie", set)];
    let form = |path: &str, set: &'static str| {
        let url = format!("https://shop.test{path}");
        site.0.record(("POST", &url, FORM, "n=1"), 303, &leads_home(set), b"");
    };
    site.page(SHOP, "stranger");
    form("/login", "session=1; Path=/");
    site.page(SHOP, "emma").page(CART, "empty").post("/add").page(CART, "1 item");
    form("/logout", "session=; Max-Age=0; Path=/");
    site.page(CART, "whose cart?");
    form("/login", "session=2; Path=/");
    site.page(CART, "1 item");
    site
}

#[test]
fn nobody_sees_what_is_shown_to_who_is_logged_in() {
    let site = accounts();
    let client = site.client();
    client.enter(SHOP);
    client.post("/login");
    assert_eq!(client.follow(SHOP, SHOP), "emma");
    client.post("/logout");
    // Nobody has logged out of an account without a cart; of what was seen, this is the nearest.
    let got = client.get(SHOP, &[]);
    assert_eq!((got.text(), got.answer.clone()), ("stranger", other(&[], &["/login", "/logout"])));
    assert_eq!(client.follow(CART, SHOP), "whose cart?");
    client.post("/login");
    assert_eq!(client.follow(CART, SHOP), "empty");
    client.post("/add");
    assert_eq!(client.follow(CART, SHOP), "1 item");
}

#[test]
fn what_leads_back_to_who_asked_is_a_guess_for_others() {
    let site = Site::new();
    for page in ["list", "item"] {
        let url = format!("https://shop.test/{page}");
        site.page(&url, page);
        let response = Response {
            status: 302,
            reason: String::new(),
            headers: [("Location", format!("/{page}").as_str())].into_iter().collect(),
            body: Body::empty(),
        };
        let mut exchange =
            site.0.exchange(("POST", "https://shop.test/add", FORM, "n=1"), response);
        exchange.request.headers.push("Referer", url.as_str());
        site.0.recording.append(&exchange).unwrap();
    }
    let client = site.client();
    let ask = |page: &str| {
        let referer = format!("https://shop.test/{page}");
        let headers = [("content-type", FORM), ("referer", referer.as_str())];
        let got = client.ask("POST", "https://shop.test/add", &headers, "n=1");
        (got.header("location").to_owned(), got.answer.is_guess())
    };
    client.enter(SHOP);
    assert_eq!(ask("item"), ("/item".to_owned(), false));
    assert_eq!(ask("list"), ("/list".to_owned(), false));
    assert!(ask("sale").1, "nobody asked from there");
}

#[test]
fn pages_are_told_apart_by_the_settings_that_scripts_keep() {
    let site = Site::new();
    let asked = |cookie: &str, text: &str, headers: &[(&str, &str)]| {
        let response = Response {
            status: 200,
            reason: String::new(),
            headers: headers.iter().copied().chain(HTML).collect(),
            body: Body::from(text.as_bytes().to_vec()),
        };
        let mut exchange = site.0.exchange(("GET", SHOP, "", ""), response);
        exchange.request.headers.push("Cookie", cookie);
        site.0.recording.append(&exchange).unwrap();
    };
    asked("visitor=1", "8 pounds", &[]);
    asked("visitor=1; currency=eur", "9 euros", &[]);
    asked("visitor=1; currency=usd", "10 dollars", &[]);
    let client = site.client();
    let got = |cookie: &str| {
        let got = client.get(SHOP, &[("cookie", cookie), ("sec-fetch-site", "none")]);
        (got.text().to_owned(), got.answer)
    };
    for _ in 0..2 {
        assert_eq!(got("visitor=1; currency=eur"), ("9 euros".to_owned(), Answer::Exact));
        assert_eq!(got("visitor=1"), ("8 pounds".to_owned(), Answer::Exact));
        assert_eq!(got("currency=usd; visitor=1"), ("10 dollars".to_owned(), Answer::Exact));
    }
    assert!(got("visitor=1; currency=yen").1.is_guess(), "what was not recorded");
}

#[test]
fn cookies_that_answers_set_are_no_settings() {
    let site = Site::new();
    let set = [("Content-Type", "text/html"), ("Set-Cookie", "seen=1; Path=/")];
    let asked = |cookie: &str, text: &str, headers: &[(&str, &str)]| {
        let headers: Headers = headers.iter().copied().collect();
        let response = Response {
            status: 200,
            reason: String::new(),
            headers,
            body: Body::from(text.as_bytes().to_vec()),
        };
        let mut exchange = site.0.exchange(("GET", SHOP, "", ""), response);
        exchange.request.headers.push("Cookie", cookie);
        site.0.recording.append(&exchange).unwrap();
    };
    asked("", "empty", &set);
    site.post("/add");
    asked("seen=1", "1 item", &HTML);
    let client = site.client();
    client.enter(SHOP);
    let got = client.get(SHOP, &[("cookie", "seen=1"), ("sec-fetch-site", "none")]);
    assert_eq!((got.text(), &got.answer), ("empty", &Answer::Exact), "nothing was added");
}
