//! Every page of the demo web, asked for without a network.

use std::collections::BTreeSet;

use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use origin::Web;
use origin::call::Call;
use origin::data::Variant;
use origin::reply::{Content, Reply};

fn web() -> Web {
    Web::new(Variant::Original).unwrap()
}

fn get(web: &Web, url: &str) -> Reply {
    web.answer(&Call::get(url).unwrap())
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body().to_vec()).unwrap()
}

fn post(url: &str, body: &str) -> Call {
    let mut call = Call::get(url).unwrap();
    call.method = Method::POST;
    call.body = body.to_owned().into();
    call
}

fn with(mut call: Call, name: HeaderName, value: &str) -> Call {
    call.headers.insert(name, HeaderValue::from_str(value).unwrap());
    call
}

/// The addresses in `href`, `src` and `<loc>`, made absolute.
fn addresses(base: &str, page: &str) -> BTreeSet<String> {
    let base = url::Url::parse(base).unwrap();
    let mut found = BTreeSet::new();
    for (opening, closing) in [("href=\"", "\""), (" src=\"", "\""), ("<loc>", "<")] {
        for part in page.split(opening).skip(1) {
            let address = part.split(closing).next().unwrap().replace("&amp;", "&");
            if !address.starts_with("data:") {
                found.insert(base.join(&address).unwrap().to_string());
            }
        }
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let web = web();
    let mut waiting: Vec<String> =
        ["www.aldria-rail.test", "www.cityscreen.test", "www.hearthside.test"]
            .iter()
            .flat_map(|host| [format!("https://{host}/"), format!("https://{host}/sitemap.xml")])
            .chain([
                "https://clock.meridian.test/determinism".to_owned(),
                "http://text.aldria-rail.test/".to_owned(),
            ])
            .chain(web.addresses())
            .collect();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut pages = BTreeSet::new();
    while let Some(address) = waiting.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let reply = get(&web, &address);
        let redirected = reply.status.is_redirection();
        let wanted =
            if address.ends_with("/nowhere") { StatusCode::NOT_FOUND } else { StatusCode::OK };
        assert!(
            redirected || reply.status == wanted,
            "{address}: {} {}",
            reply.status,
            text(&reply)
        );
        if let Some(location) = reply.headers.get(header::LOCATION) {
            let base = url::Url::parse(&address).unwrap();
            waiting.push(base.join(location.to_str().unwrap()).unwrap().to_string());
        }
        let media_type = reply
            .headers
            .get(header::CONTENT_TYPE)
            .map(|value| value.to_str().unwrap().to_owned())
            .unwrap_or_default();
        if media_type.starts_with("text/html") || media_type == "application/xml" {
            waiting.extend(addresses(&address, &text(&reply)));
        }
        if media_type.starts_with("text/html") {
            pages.insert(text(&reply));
        }
    }
    assert!(pages.len() >= 100, "{} distinct pages", pages.len());
}

#[test]
fn every_page_of_the_changed_variant_differs() {
    let (original, changed) = (web(), Web::new(Variant::Changed).unwrap());
    for address in [
        "https://www.aldria-rail.test/",
        "https://www.aldria-rail.test/trains/ic-101",
        "https://www.cityscreen.test/films/low-tide",
        "https://www.hearthside.test/guides/dunmere",
        "https://widgets.rateboard.test/film/low-tide",
        "https://clock.meridian.test/determinism",
    ] {
        assert_ne!(text(&get(&original, address)), text(&get(&changed, address)), "{address}");
    }
}

#[test]
fn the_same_variant_is_the_same_web() {
    let (one, two) = (web(), web());
    for address in [
        "https://www.aldria-rail.test/stations/ald",
        "https://cdn.staticmile.test/tiles/aldport.png",
    ] {
        assert_eq!(get(&one, address).body(), get(&two, address).body(), "{address}");
    }
}

#[test]
fn redirects_of_every_kind() {
    let web = web();
    let check = |call: Call, status: u16, location: &str| {
        let reply = web.answer(&call);
        let to =
            reply.headers.get(header::LOCATION).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(
            (reply.status.as_u16(), to.as_deref()),
            (status, Some(location)),
            "{}{}",
            call.host,
            call.path
        );
    };
    let get = |url| Call::get(url).unwrap();
    check(
        get("http://www.cityscreen.test/search?q=low+tide"),
        301,
        "https://www.cityscreen.test/search?q=low+tide",
    );
    check(get("https://aldria-rail.test/fares"), 301, "https://www.aldria-rail.test/fares");
    check(get("https://www.aldria-rail.test/timetable"), 301, "/lines");
    check(get("https://www.aldria-rail.test/go/dun"), 302, "/stations/dun");
    check(
        get("https://www.aldria-rail.test/account"),
        302,
        "https://id.passgate.test/authorize?client=aldria-rail",
    );
    check(
        get("https://id.passgate.test/continue?client=aldria-rail"),
        302,
        "https://www.aldria-rail.test/account/callback?code=guest-7f3a",
    );
    check(
        get("https://www.aldria-rail.test/account/callback?code=guest-7f3a"),
        302,
        "/account/trips",
    );
    check(
        post("https://id.passgate.test/authorize", "email=a%40b.test"),
        303,
        "/authorize?client=aldria-rail&failed=1",
    );
    let home = web.world().homes[0].id;
    let form = format!("home={home}&day=2026-03-14&time=11%3A30&name=Ada");
    check(
        post("https://www.hearthside.test/viewings", &form),
        303,
        &format!("/viewings/V-{home}-0314-1130"),
    );
}

#[test]
fn signing_in_sets_a_session_that_opens_the_trips() {
    let web = web();
    let callback = get(&web, "https://www.aldria-rail.test/account/callback?code=guest-7f3a");
    let cookie = callback.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("Max-Age=1800") && cookie.contains("HttpOnly"), "{cookie}");
    let trips = Call::get("https://www.aldria-rail.test/account/trips").unwrap();
    assert_eq!(web.answer(&trips).status, StatusCode::FOUND);
    let session = cookie.split(';').next().unwrap();
    let page = web.answer(&with(trips, header::COOKIE, session));
    assert!(text(&page).contains("QK7-204"));
}

#[test]
fn consent_is_remembered_until_a_date() {
    let web = web();
    let reply = web.answer(&post("https://www.cityscreen.test/consent", "choice=accept"));
    assert_eq!(reply.status, StatusCode::NO_CONTENT);
    assert!(
        reply.headers[header::SET_COOKIE].to_str().unwrap().starts_with("consent=accept; Expires=")
    );
    assert_eq!(
        web.answer(&post("https://www.cityscreen.test/consent", "choice=perhaps")).status,
        StatusCode::BAD_REQUEST
    );
}

#[test]
fn posted_searches_answer_in_json() {
    let web = web();
    let search = |body: &str| web.answer(&post("https://www.cityscreen.test/api/search", body));
    let films: serde_json::Value =
        serde_json::from_slice(search("{\"q\":\"valdane CRIME\"}").body()).unwrap();
    assert_eq!(films[0]["slug"], "low-tide");
    assert_eq!(search("no json").status, StatusCode::UNPROCESSABLE_ENTITY);
    let journeys =
        |body: &str| web.answer(&post("https://www.aldria-rail.test/api/journeys", body));
    let found: serde_json::Value = serde_json::from_slice(
        journeys("{\"from\":\"ALD\",\"to\":\"EAS\",\"date\":\"2026-03-12\"}").body(),
    )
    .unwrap();
    assert_eq!(found["journeys"][0]["legs"].as_array().unwrap().len(), 2);
    assert_eq!(
        journeys("{\"from\":\"ALD\",\"to\":\"ALD\",\"date\":\"\"}").status,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert_eq!(
        get(&web, "https://www.aldria-rail.test/api/journeys").status,
        StatusCode::METHOD_NOT_ALLOWED
    );
}

#[test]
fn graphql_pages_by_cursor_to_the_end() {
    let web = web();
    let mut after = serde_json::Value::Null;
    let mut seen = Vec::new();
    loop {
        let body = serde_json::json!({
            "operationName": "Homes",
            "variables": { "city": "aldport", "rooms": 1, "sort": "newest", "first": 6, "after": after },
            "query": "",
        });
        let reply = web.answer(&post("https://www.hearthside.test/graphql", &body.to_string()));
        let answer: serde_json::Value = serde_json::from_slice(reply.body()).unwrap();
        let homes = &answer["data"]["homes"];
        seen.extend(
            homes["edges"]
                .as_array()
                .unwrap()
                .iter()
                .map(|edge| edge["node"]["id"].as_u64().unwrap()),
        );
        if homes["pageInfo"]["hasNextPage"] != true {
            break;
        }
        after = homes["pageInfo"]["endCursor"].clone();
    }
    let expected: Vec<u64> = web
        .world()
        .homes
        .iter()
        .filter(|home| home.city == "aldport")
        .map(|home| u64::from(home.id))
        .collect();
    assert_eq!(seen, expected);
}

#[test]
fn the_weather_wants_a_preflight_and_a_key() {
    let web = web();
    let mut preflight = Call::get("https://api.weatherfold.test/v1/forecast?city=dunmere").unwrap();
    preflight.method = Method::OPTIONS;
    let allowed = web.answer(&preflight);
    assert_eq!(allowed.headers[header::ACCESS_CONTROL_ALLOW_HEADERS], "x-api-key");
    let bare = Call::get("https://api.weatherfold.test/v1/forecast?city=dunmere").unwrap();
    assert_eq!(web.answer(&bare).status, StatusCode::UNAUTHORIZED);
    let keyed = web.answer(&with(bare, HeaderName::from_static("x-api-key"), "hearthside"));
    assert_eq!(keyed.headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "https://www.hearthside.test");
    assert!(text(&keyed).contains("\"city\":\"dunmere\""));
}

#[test]
fn unknown_addresses_get_the_sites_own_404() {
    let web = web();
    for address in [
        "https://www.aldria-rail.test/nowhere",
        "https://www.aldria-rail.test/stations/xxx",
        "https://www.aldria-rail.test/stations/lin/live",
        "https://www.cityscreen.test/films/unknown",
        "https://www.cityscreen.test/cinemas/regent?day=2031-01-01",
        "https://www.hearthside.test/homes/1",
        "https://www.hearthside.test/viewings/V-1-2",
        "https://cdn.staticmile.test/posters/unknown.svg",
    ] {
        assert_eq!(get(&web, address).status, StatusCode::NOT_FOUND, "{address}");
    }
    assert_eq!(get(&web, "https://elsewhere.test/").status, StatusCode::MISDIRECTED_REQUEST);
}

#[test]
fn each_site_prefers_an_encoding_of_its_own() {
    let web = web();
    let check = |address: &str, expected: Option<&str>| {
        let call =
            with(Call::get(address).unwrap(), header::ACCEPT_ENCODING, "gzip, deflate, br, zstd");
        let reply = web.answer(&call);
        let encoding =
            reply.headers.get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap());
        assert_eq!(encoding, expected, "{address}");
    };
    check("https://www.aldria-rail.test/", Some("br"));
    check("https://www.cityscreen.test/", Some("zstd"));
    check("https://www.hearthside.test/", Some("gzip"));
    check("https://cdn.staticmile.test/sounds/announcement.wav", None);
    check("https://cdn.staticmile.test/tiles/aldport.png", None);
}

#[test]
fn streams_end_with_a_word_of_their_own() {
    let web = web();
    let Content::Pieces(events) =
        get(&web, "https://www.aldria-rail.test/trains/ic-101/seats").content
    else {
        panic!("no stream")
    };
    assert!(String::from_utf8_lossy(&events.last().unwrap().data).starts_with("event: done"));
    let Content::WebSocket(messages) = get(&web, "https://live.aldria-rail.test/board/ALD").content
    else {
        panic!("no socket")
    };
    assert!(String::from_utf8_lossy(&messages.last().unwrap().data).contains("settled"));
}

#[test]
fn urls_txt_is_what_the_sites_say() {
    let expected = web().addresses().join("\n") + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/urls.txt");
    if std::env::var_os("UPDATE_URLS").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    let listed = std::fs::read_to_string(path).unwrap();
    assert!(
        listed == expected,
        "urls.txt is not what the sites say; run this test with UPDATE_URLS=1"
    );
}
