#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn get(url: &str) -> ReplayRequest<'_> {
    ReplayRequest::bare("GET", url)
}

fn post<'a>(content_type: &'a str, body: &'a str) -> ReplayRequest<'a> {
    ReplayRequest {
        method: "POST",
        url: "https://shop.test/api",
        content_type: Some(content_type),
        body: Payload::Bytes(body.as_bytes()),
    }
}

/// Equal at the normalised level, by exactly these rules; not equal at the exact level.
fn alike(a: ReplayRequest<'_>, b: ReplayRequest<'_>, rules: &[Rule]) {
    assert_eq!(normalised(&a).0, normalised(&b).0, "{a:?} {b:?}");
    assert_ne!(exact(&a), exact(&b), "{a:?} {b:?}");
    assert_eq!(rules_between(&a, &b).iter().collect::<Vec<_>>(), rules, "{a:?} {b:?}");
    assert_eq!(differences(&a, &b), [], "{a:?} {b:?}");
}

fn apart(a: ReplayRequest<'_>, b: ReplayRequest<'_>) {
    assert_ne!(exact(&a), exact(&b), "{a:?} {b:?}");
    assert_ne!(normalised(&a).0, normalised(&b).0, "{a:?} {b:?}");
    assert_ne!(differences(&a, &b), [], "{a:?} {b:?}");
}

#[test]
fn the_fragment_and_the_spelling_of_the_host_are_no_difference_at_all() {
    assert_eq!(exact(&get("https://Shop.test:443/a#top")), exact(&get("https://shop.test/a")));
    assert_eq!(exact(&get("https://shop.test")), exact(&get("https://shop.test/")));
    assert_ne!(exact(&get("https://shop.test/a")), exact(&get("https://shop.test/A")));
}

#[test]
fn queries_meet_by_the_rules() {
    let url = "https://shop.test/a?page=1&q=x";
    alike(get(url), get("https://shop.test/a?q=x&page=1"), &[Rule::QueryOrder]);
    alike(
        get(url),
        get("https://shop.test/a?page=1&q=x&utm_source=m&FBCLID=z"),
        &[Rule::TrackingParameters],
    );
    alike(get(url), get("https://shop.test/a?page=1&_=1767225600000&q=x"), &[Rule::CacheBusters]);
    alike(
        get("https://shop.test/a?_=1767225600001&q=x&page=1&gclid=1"),
        get("https://shop.test/a?page=1&_=1767225600000&q=x"),
        &[Rule::QueryOrder, Rule::TrackingParameters, Rule::CacheBusters],
    );
    alike(
        get("https://shop.test/%7Ea?q=%c3%a4"),
        get("https://shop.test/~a?q=%C3%A4"),
        &[Rule::PercentSpelling],
    );
    alike(
        get("https://shop.test/a?q=%7e"),
        get("https://shop.test/a?q=~"),
        &[Rule::PercentSpelling],
    );
    alike(get("https://shop.test/a?"), get("https://shop.test/a"), &[Rule::EmptyQuery]);
    alike(
        get("https://shop.test/a?utm_id=4"),
        get("https://shop.test/a"),
        &[Rule::TrackingParameters],
    );
}

#[test]
fn what_may_choose_content_keeps_requests_apart() {
    let url = "https://shop.test/a?page=1&q=x";
    apart(get(url), get("https://shop.test/a?page=2&q=x"));
    apart(get(url), get("https://shop.test/a?page=1&q=X"));
    apart(get(url), get("https://shop.test/a?page=1"));
    apart(get(url), get("https://shop.test/a?page=1&q=x&q=y"));
    apart(get(url), get("https://shop.test/a/?page=1&q=x"));
    apart(get(url), get("http://shop.test/a?page=1&q=x"));
    apart(get(url), get("https://shop.test:8443/a?page=1&q=x"));
    apart(get(url), ReplayRequest::bare("HEAD", url));
    apart(get("https://shop.test/a?t=1767225600000"), get("https://shop.test/a?t=1767225600001"));
    apart(get("https://shop.test/a?cb=render"), get("https://shop.test/a?cb=show"));
    apart(get("https://shop.test/a%2Fb"), get("https://shop.test/a/b"));
    assert_ne!(
        normalised(&get("https://shop.test/a?tag=1&tag=2")).0,
        normalised(&get("https://shop.test/a?tag=2&tag=1")).0,
        "the order within one name may matter"
    );
}

#[test]
fn json_bodies_meet_by_white_space_and_key_order_only() {
    let json = "application/json";
    let a = post(json, r#"{"op":"list","page":{"n":1,"size":20}}"#);
    alike(
        a,
        post(json, "{ \"page\": {\"size\":20,\n\"n\":1}, \"op\":\"list\" }"),
        &[Rule::JsonSpelling],
    );
    apart(a, post(json, r#"{"op":"list","page":{"n":2,"size":20}}"#));
    apart(a, post(json, r#"{"op":"list","page":{"n":"1","size":20}}"#));
    apart(a, post(json, r#"{"op":"list","page":{"n":1.0,"size":20}}"#));
    apart(post(json, "[1,2]"), post(json, "[2,1]"));
    apart(
        post(json, "100000000000000000000000000001"),
        post(json, "100000000000000000000000000002"),
    );
    apart(post(json, r#"{"a":1,"a":2}"#), post(json, r#"{"a":2}"#));
    apart(post(json, r#"{"a":1}"#), post(json, "{\"a\":1"));
    alike(
        post("text/plain", r#"{"a":1}"#),
        post("text/plain;charset=UTF-8", r#"{"a": 1}"#),
        &[Rule::JsonSpelling],
    );
    assert_eq!(
        exact(&post(json, "{}")),
        exact(&post("application/json; charset=utf-8", "{}")),
        "parameters of the type are no difference"
    );
    assert_ne!(exact(&post(json, "{}")), exact(&post("text/plain", "{}")));
}

#[test]
fn forms_and_multipart_bodies_meet_by_their_rules() {
    let form = "application/x-www-form-urlencoded";
    alike(post(form, "a=1&b=2&a=3"), post(form, "b=2&a=1&a=3"), &[Rule::FormOrder]);
    apart(post(form, "a=1&b=2"), post(form, "a=2&b=2"));
    assert_ne!(normalised(&post(form, "a=1&a=3")).0, normalised(&post(form, "a=3&a=1")).0);

    let parts = |boundary: &str, value: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\n{value}\r\n--{boundary}--\r\n"
        )
    };
    let (one, two, other) = (parts("aaa", "x"), parts("bbb", "x"), parts("aaa", "y"));
    let type_a = "multipart/form-data; boundary=aaa";
    alike(
        post(type_a, &one),
        post("multipart/form-data; boundary=\"bbb\"", &two),
        &[Rule::MultipartBoundary],
    );
    apart(post(type_a, &one), post(type_a, &other));
    let named = differences(&post(type_a, &one), &post(type_a, &other));
    assert_eq!(named[0].what, "body field q");
}

#[test]
fn a_spooled_body_matches_by_its_digest() {
    let held = post("application/octet-stream", "abc");
    let spooled = ReplayRequest { body: Payload::Hashed(held.body.sha256()), ..held };
    assert_eq!(exact(&held), exact(&spooled));
    assert_eq!(normalised(&held).0, normalised(&spooled).0);
}

#[test]
fn scores_count_equal_values() {
    let request = get("https://shop.test/a?page=2&q=x&_=1767225600000");
    assert_eq!(score(&request, &get("https://shop.test/a?page=1&q=x")), 0.5);
    assert_eq!(score(&request, &get("https://shop.test/a?q=x&page=2")), 1.0);
    assert_eq!(score(&request, &get("https://shop.test/b?q=x&page=2")), 0.0);
    assert_eq!(score(&request, &ReplayRequest::bare("POST", request.url)), 0.0);
    let json = "application/json";
    assert_eq!(
        score(&post(json, r#"{"a":1,"b":[2,3]}"#), &post(json, r#"{"a":1,"b":[2,4]}"#)),
        2.0 / 3.0
    );
}

#[test]
fn differences_name_the_parameter_the_field_the_method_and_the_scheme() {
    let texts = |a: ReplayRequest<'_>, b: ReplayRequest<'_>| -> Vec<String> {
        differences(&a, &b)
            .into_iter()
            .map(|d| {
                format!(
                    "{}: {} / {}",
                    d.what,
                    d.requested.unwrap_or("-".into()),
                    d.recorded.unwrap_or("-".into())
                )
            })
            .collect()
    };
    assert_eq!(
        texts(
            get("http://a.test/x?page=2&new=1"),
            ReplayRequest::bare("POST", "https://a.test/x?page=1")
        ),
        [
            "method: GET / POST",
            "scheme: http / https",
            "parameter new: 1 / -",
            "parameter page: 2 / 1"
        ]
    );
    let json = "application/json";
    assert_eq!(
        texts(post(json, r#"{"v":{"user":42}}"#), post(json, r#"{"v":{"user":7}}"#)),
        ["body field v.user: 42 / 7"]
    );
}

proptest! {
    #[test]
    fn any_order_of_distinct_names_is_one_request(
        mut names in proptest::collection::btree_set("[a-z]{3,6}q", 1..8), values in proptest::collection::vec("[a-z0-9]{0,5}", 8)
    ) {
        names.retain(|name| !rules::is_tracking(name));
        let mut pieces: Vec<String> = names.iter().zip(&values).map(|(n, v)| format!("{n}={v}")).collect();
        let one = format!("https://h.test/p?{}", pieces.join("&"));
        pieces.reverse();
        let two = format!("https://h.test/p?{}", pieces.join("&"));
        prop_assert_eq!(normalised(&get(&one)).0, normalised(&get(&two)).0);
    }

    #[test]
    fn a_changed_value_is_another_request(q in "[a-z0-9 ]{0,12}", r in "[a-z0-9 ]{0,12}") {
        let (a, b) = (format!("https://h.test/p?q={q}"), format!("https://h.test/p?q={r}"));
        prop_assert_eq!(whole_url(&a) == whole_url(&b), normalised(&get(&a)).0 == normalised(&get(&b)).0);
    }

    #[test]
    fn no_bytes_break_it(url in ".{0,60}", kind in ".{0,40}", body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let request = ReplayRequest { method: "POST", url: &url, content_type: Some(&kind), body: Payload::Bytes(&body) };
        for kind in [kind.as_str(), "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"] {
            let request = ReplayRequest { content_type: Some(kind), ..request };
            exact(&request);
            prop_assert_eq!(score(&request, &request), 1.0);
            prop_assert_eq!(normalised(&request).0, normalised(&request).0);
            prop_assert!(differences(&request, &request).is_empty());
        }
    }

    #[test]
    fn json_survives_its_canonical_form(document in json_text()) {
        let once = json::parse(document.as_bytes()).unwrap().canonical();
        let twice = json::parse(&once).unwrap().canonical();
        prop_assert_eq!(&once, &twice);
        let read = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        prop_assert_eq!(read(document.as_bytes()), read(&once));
    }
}

fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        "[a-z\\\\\"é ]{0,8}".prop_map(|s| serde_json::to_string(&s).unwrap()),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[ {}]", items.join(" ,"))),
            proptest::collection::btree_map("[a-z]{1,4}", inner, 0..5).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().rev().map(|(k, v)| format!("\"{k}\" : {v}")).collect();
                format!("{{{}\n}}", members.join(","))
            }),
        ]
    })
}
