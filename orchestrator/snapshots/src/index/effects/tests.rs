#![allow(clippy::unwrap_used)]

use super::*;

const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

struct Case<'a> {
    method: &'a str,
    url: &'a str,
    sent: &'a [(&'a str, &'a str)],
    body: (&'a str, &'a str),
    status: u16,
    answer: &'a [(&'a str, &'a str)],
}

fn effect(case: &Case<'_>) -> Effect {
    let headers = |list: &[(&str, &str)]| -> Headers { list.iter().copied().collect() };
    let (kind, bytes) = case.body;
    let body = SentBody {
        content_type: (!kind.is_empty()).then_some(kind),
        bytes: Some(bytes.as_bytes()),
    };
    let asked = RequestSigns::of(case.method, case.url, &headers(case.sent), &body);
    judge(&asked, case.status, &ResponseSigns::of(&headers(case.answer)))
}

fn post(url: &str, kind: &str, body: &str) -> Effect {
    effect(&Case { method: "POST", url, sent: &[], body: (kind, body), status: 200, answer: &[] })
}

const WRITE: Effect = Effect::Write(WriteReason::Method);

#[test]
fn what_changes_a_site_is_a_write() {
    for (url, kind, body) in [
        ("https://a.test/cart/add", FORM, "id=7"),
        ("https://a.test/api/cart", JSON, r#"{"id":7}"#),
        ("https://a.test/api/votes/7/up", "", ""),
        ("https://a.test/checkout/step2", FORM, "name=x"),
        ("https://a.test/login", FORM, "user=x&pass=y"),
        ("https://a.test/oauth/token", FORM, "grant_type=password&username=x"),
        ("https://a.test/graphql", JSON, r#"{"query":"mutation { addToCart(id: 7) { count } }"}"#),
        ("https://a.test/graphql", JSON, r#"[{"query":"{a}"},{"query":"mutation M {b}"}]"#),
        (
            "https://a.test/graphql",
            JSON,
            r#"{"query":"query A {a} mutation B {b}","operationName":"B"}"#,
        ),
        ("https://a.test/rpc", JSON, r#"{"jsonrpc":"2.0","method":"cart.addItem","id":1}"#),
        ("https://a.test/blog/comments", FORM, "text=hello"),
        ("https://a.test/search/saved/new", FORM, "q=x"),
        ("https://a.test/api/todos", JSON, r#"{"query":"milk"}"#),
        ("https://a.test/upload", "multipart/form-data; boundary=x", "--x--"),
    ] {
        assert_eq!(post(url, kind, body), WRITE, "{url} {body}");
    }
    for method in ["PUT", "PATCH", "DELETE"] {
        let url = "https://a.test/api/items/7";
        let sent = [("Sec-Fetch-Mode", "cors")];
        let case = Case { method, url, sent: &sent, body: ("", ""), status: 204, answer: &[] };
        assert_eq!(effect(&case), WRITE);
    }
}

#[test]
fn what_asks_counts_or_reports_is_none() {
    for (url, kind, body, reason) in [
        ("https://a.test/graphql", JSON, r#"{"query":"{ cart { count } }"}"#, ReadReason::Query),
        (
            "https://a.test/graphql",
            JSON,
            r#"{"query":"query mutation_log { a }"}"#,
            ReadReason::Query,
        ),
        ("https://a.test/graphql", JSON, "{\"query\":\"# mutation\\n{ a }\"}", ReadReason::Query),
        (
            "https://a.test/graphql",
            JSON,
            r#"{"query":"query A {a} mutation B {b}","operationName":"A"}"#,
            ReadReason::Query,
        ),
        (
            "https://a.test/graphql",
            JSON,
            r#"{"operationName":"Cart","extensions":{"persistedQuery":{"version":1}}}"#,
            ReadReason::Query,
        ),
        ("https://a.test/graphql", "application/graphql", "{ cart }", ReadReason::Query),
        (
            "https://a.test/rpc",
            JSON,
            r#"{"jsonrpc":"2.0","method":"eth.getBalance"}"#,
            ReadReason::Query,
        ),
        ("https://a.test/api/search", JSON, r#"{"q":"x"}"#, ReadReason::Search),
        ("https://a.test/products/_msearch", JSON, "{}", ReadReason::Search),
        ("https://a.test/api/getSuggestions", FORM, "q=x", ReadReason::Search),
        ("https://a.test/g/collect", "text/plain", "v=2", ReadReason::Log),
        ("https://a.test/api/v1/metrics", JSON, "[]", ReadReason::Log),
        ("https://a.test/r", "application/csp-report", "{}", ReadReason::Beacon),
        ("https://a.test/auth/refresh", JSON, "{}", ReadReason::Token),
        (
            "https://a.test/oauth/token",
            FORM,
            "grant_type=refresh_token&refresh_token=x",
            ReadReason::Token,
        ),
    ] {
        assert_eq!(post(url, kind, body), Effect::Read(reason), "{url} {body}");
    }
    let sent = [("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "empty")];
    let url = "https://a.test/anything";
    let mut case =
        Case { method: "POST", url, sent: &sent, body: ("", "x"), status: 204, answer: &[] };
    assert_eq!(effect(&case), Effect::Read(ReadReason::Beacon));
    (case.sent, case.status) = (&[], 422);
    assert_eq!(effect(&case), Effect::Read(ReadReason::Refused));
    // A search that the site keeps, or that leads to a page of its own.
    let kept = [("Set-Cookie", "last=x")];
    let mut case = Case { url: "https://a.test/search", status: 200, answer: &kept, ..case };
    assert_eq!(effect(&case), WRITE);
    (case.status, case.answer) = (303, &[]);
    assert_eq!(effect(&case), WRITE);
}

#[test]
fn a_get_is_a_write_if_it_ends_or_begins_a_log_in() {
    let get = |url, cookie: &str, set: &str| {
        let (sent, answer) = ([("Cookie", cookie)], [("Set-Cookie", set)]);
        effect(&Case {
            method: "GET",
            url,
            sent: &sent,
            body: ("", ""),
            status: 302,
            answer: &answer,
        })
    };
    let out = "https://a.test/bye";
    assert_eq!(
        get(out, "a=1; sessionid=7", "sessionid=; Path=/"),
        Effect::Write(WriteReason::LogOut)
    );
    assert_eq!(
        get(out, "PHPSESSID=7", "PHPSESSID=deleted; Max-Age=0"),
        Effect::Write(WriteReason::LogOut)
    );
    let past = "connect.sid=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT";
    assert_eq!(get(out, "connect.sid=7", past), Effect::Write(WriteReason::LogOut));
    assert_eq!(get(out, "a=1", past), Effect::None, "it had none");
    assert_eq!(get(out, "flash_token=7", "flash_token=; Max-Age=0"), Effect::None);
    let log_in = Effect::Write(WriteReason::LogIn);
    assert_eq!(get("https://a.test/auth/callback?code=x", "", "session=7"), log_in);
    assert_eq!(get("https://a.test/wp?action=sign-in", "", "user=7"), log_in);
    assert_eq!(get("https://a.test/", "", "session=7"), Effect::None, "every first visit");
    let page = |url| {
        let answer = [("Set-Cookie", "session=8"), ("Content-Type", "text/html; charset=utf-8")];
        let sent = [("Cookie", "session=7")];
        effect(&Case {
            method: "GET",
            url,
            sent: &sent,
            body: ("", ""),
            status: 200,
            answer: &answer,
        })
    };
    assert_eq!(page("https://a.test/login"), Effect::None, "nobody is logged in by a page alone");
    assert_eq!(page("https://a.test/Logout.html"), Effect::Write(WriteReason::LogOut));
}

#[test]
fn addresses_say_what_may_be_asked_for_again() {
    for url in [
        "https://a.test/cart/add/7",
        "https://a.test/?action=logout",
        "https://a.test/?add-to-cart=7",
        "https://a.test/account/sign-out",
        "https://a.test/logout/now/please",
        "https://a.test/unsubscribe/me",
        "https://a.test/orders/7/cancelOrder",
        "https://a.test/reset?token=abc",
        "https://a.test/api/csrf",
        "https://a.test/vote?id=7&dir=up",
        "https://a.test/cart/empty",
        "https://a.test/?empty-cart=1",
        "https://a.test/cart/inc/3",
        "https://a.test/panier/vider",
        "https://a.test/warenkorb/leeren",
        "https://a.test/notifications/mark-all-read",
        "https://a.test/account/impersonate?u=3",
        "not an address",
    ] {
        assert!(may_act(url), "{url}");
    }
    for (url, action) in [
        (
            "https://a.test/Ticket/Display.html?Action=Take&id=178",
            "a.test/Ticket/Display.html?Action=Take",
        ),
        ("https://a.test/cart/remove/8", "a.test/cart/remove?"),
        ("https://a.test/?add-to-cart=12", "a.test/?add-to-cart"),
        ("https://a.test/download/linux/x86", "a.test/download/linux/x86?"),
        ("https://a.test/go?to=3&at=5", "a.test/go?at&to"),
        ("https://a.test/topic?start=15&x=1", "a.test/topic?start&x"),
    ] {
        assert_eq!(action_of(url), action, "{url}");
    }
    for (url, shows) in [
        ("https://a.test/cart", true),
        ("https://a.test/my/wishlist", true),
        ("https://a.test/api/v2/orders?page=2", true),
        ("https://a.test/de/warenkorb.html", true),
        ("https://a.test/products/blue-lamp", false),
        ("https://a.test/admin/auth/group/", false),
        ("https://a.test/address-book", false),
    ] {
        assert!(!may_act(url), "{url}");
        assert_eq!(shows_state(url), shows, "{url}");
    }
    for (url, only) in [
        ("https://a.test/my-cart", true),
        ("https://a.test/de/warenkorb.html", true),
        ("https://a.test/account/", true),
        ("https://a.test/cart?qty=0", false),
        ("https://a.test/account/x7", false),
        ("https://a.test/cart/settle", false),
    ] {
        assert_eq!(only_shows_state(url), only, "{url}");
    }
}
