//! Requests for what was not recorded: of other entities, days, pages, users and languages, in the
//! shapes in which interfaces of the web ask. None may be answered as if it had been recorded.

use super::*;

/// How many requests are made in each shape, beyond those that are recorded.
const ASKED: usize = 50;
const FIRST_ASKED: usize = 3;

/// A request for the entity with this number.
struct Ask {
    method: &'static str,
    url: String,
    kind: &'static str,
    body: String,
    headers: Vec<(&'static str, String)>,
}

type Shape = (&'static str, fn(usize) -> Ask);

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

fn get(url: String) -> Ask {
    Ask { method: "GET", url, kind: "", body: String::new(), headers: Vec::new() }
}

fn post(url: &str, kind: &'static str, body: String) -> Ask {
    Ask { method: "POST", url: url.to_owned(), kind, body, headers: Vec::new() }
}

fn with(ask: Ask, name: &'static str, value: String) -> Ask {
    Ask { headers: vec![(name, value)], ..ask }
}

fn api(path: String) -> String {
    format!("https://api.test/{path}")
}

/// A number that looks like an identifier.
fn digest(n: usize) -> String {
    hex::encode(Key::of("entity", &[&n.to_le_bytes()]).0)
}

fn uuid(n: usize) -> String {
    let text = digest(n);
    format!(
        "{}-{}-4{}-a{}-{}",
        &text[..8],
        &text[8..12],
        &text[13..16],
        &text[17..20],
        &text[20..32]
    )
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
}

fn day(n: usize) -> String {
    format!("2026-{:02}-{:02}", 1 + n / 28 % 12, 1 + n % 28)
}

fn language(n: usize) -> String {
    let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
    format!("{}{}", letter(n), letter(n / 26 + 3))
}

/// The time at which a page would ask, in seconds.
fn seconds(n: usize) -> i64 {
    RECORDED + n as i64 * 86_400
}

const SHAPES: [Shape; 44] = [
    ("id in the path", |n| get(api(format!("products/{}", 100 + n)))),
    ("slug in the path", |n| get(api(format!("products/blue-lamp-{n}")))),
    ("uuid in the path", |n| get(api(format!("orders/{}", uuid(n))))),
    ("digest in the path", |n| get(api(format!("commits/{}", digest(n))))),
    ("tile", |n| get(api(format!("tiles/7/{}/{}.png", 60 + n, 40 + n / 2)))),
    ("day in the path", |n| get(api(format!("timetable/{}", day(n))))),
    ("language in the path", |n| get(api(format!("{}/home", language(n))))),
    ("language in the host", |n| get(format!("https://{}.api.test/home", language(n)))),
    ("matrix parameter", |n| get(api(format!("cars;colour={n}/list")))),
    ("file name with an id", |n| get(api(format!("v1/item-{n}.json")))),
    ("id in the query", |n| get(api(format!("product?id={n}")))),
    ("short id in the query", |n| get(api(format!("p?i={n}")))),
    ("session in a name", |n| get(api(format!("results?assessmentId={}", uuid(n))))),
    ("brand in a name", |n| get(api(format!("shop?brandId={n}")))),
    ("nonce in a word", |n| get(api(format!("denonced?announce={n}")))),
    ("page", |n| get(api(format!("list?page={n}")))),
    ("offset and limit", |n| get(api(format!("list?limit=20&offset={}", n * 20)))),
    ("cursor", |n| get(api(format!("feed?cursor={}", base64(&format!("post:{n}")))))),
    ("day in the query", |n| get(api(format!("prices?date={}", day(n))))),
    ("range of days", |n| get(api(format!("stays?from={}&to={}", day(n), day(n + 2))))),
    ("seconds of a day", |n| get(api(format!("departures?when={}", seconds(n))))),
    ("milliseconds", |n| get(api(format!("slots?start={}", seconds(n) * 1000)))),
    ("coordinates", |n| get(api(format!("near?lat=52.{n:03}&lon=13.4")))),
    ("currency", |n| get(api(format!("price?of=7&currency={}c", language(n))))),
    ("user", |n| get(api(format!("users/u{n}/posts?sort=new")))),
    ("user in the query", |n| get(api(format!("timeline?user={n}&auth=1")))),
    ("search", |n| get(api(format!("find?q=lamp+{n}")))),
    ("filters", |n| get(api(format!("rooms?beds={n}&wifi=true&wifi=false")))),
    ("list of ids", |n| get(api(format!("batch?ids=1,2,{n}")))),
    ("array of ids", |n| get(api(format!("batch?ids[]=1&ids[]={n}")))),
    ("json in the query", |n| get(api(format!("q?variables=%7B%22id%22%3A{n}%7D")))),
    ("base64 in the query", |n| get(api(format!("q?b={}", base64(&format!("{{\"id\":{n}}}")))))),
    ("persisted query", |n| get(api(format!("graphql?operationName=Item&sha={}", digest(n))))),
    ("odata", |n| get(api(format!("odata/Items?$filter=Id%20eq%20{n}")))),
    ("jsonp", |n| get(api(format!("suggest?callback=jQuery1_2&term=a{n}")))),
    ("json body", |n| post(&api("search".into()), JSON, format!("{{\"q\":{{\"id\":{n}}}}}"))),
    ("json text", |n| {
        post(&api("translate".into()), JSON, format!("{{\"text\":\"word {n}\",\"to\":\"de\"}}"))
    }),
    ("graphql", |n| {
        let query = "query Item($id: ID!) { item(id: $id) { name } }";
        post(
            &api("graphql".into()),
            JSON,
            format!("{{\"query\":\"{query}\",\"variables\":{{\"id\":{n}}}}}"),
        )
    }),
    ("batch of graphql", |n| {
        post(
            &api("batch".into()),
            JSON,
            format!("[{{\"id\":\"a\",\"variables\":{{\"page\":{n}}}}}]"),
        )
    }),
    ("json-rpc", |n| {
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"get\",\"params\":[{n}]}}");
        post(&api("rpc".into()), JSON, call)
    }),
    ("form", |n| post(&api("lookup".into()), FORM, format!("station={n}&csrf=abcdefgh12345678"))),
    ("other method", |n| Ask {
        method: "PUT",
        ..post(&api("note".into()), JSON, format!("{{\"n\":{n}}}"))
    }),
    ("language in a header", |n| with(get(api("news".into())), "accept-language", language(n))),
    ("tenant in a header", |n| with(get(api("dashboard".into())), "x-tenant", format!("t{n}"))),
];

/// Whether the ledger says that it may be the wrong one, or that there is none.
fn is_said(answer: &Answer) -> bool {
    matches!(answer, Answer::Miss { .. } | Answer::Search { .. }) || answer.is_guess()
}

#[test]
fn what_was_not_recorded_is_not_given_as_if_it_was() {
    let (mut asked, mut missed, mut wrong) = (0, 0, Vec::new());
    // Each alone, twice, and beside others of its kind.
    for recorded in [&[0][..], &[0, 0], &[0, 1, 2]] {
        for (name, shape) in SHAPES {
            let world = World::new();
            for n in recorded.iter().copied() {
                let Ask { method, url, kind, body, headers } = shape(n);
                let vary = if url.ends_with("news") || url.ends_with("dashboard") {
                    "Accept-Language, X-Tenant, Accept-Encoding"
                } else {
                    "Accept-Encoding"
                };
                let response = Response {
                    status: 200,
                    reason: String::new(),
                    headers: [("Content-Type", JSON), ("Vary", vary)].into_iter().collect(),
                    body: Body::from(format!("{{\"entity\":{n}}}").into_bytes()),
                };
                let mut exchange = world.exchange((method, &url, kind, &body), response);
                for (name, value) in &headers {
                    exchange.request.headers.push(*name, value.as_bytes());
                }
                world.recording.append(&exchange).unwrap();
            }
            let client = Client::of(&world);
            let answer = |n: usize| {
                let Ask { method, url, kind, body, headers } = shape(n);
                let mut sent = vec![("sec-fetch-dest", "empty"), ("sec-fetch-site", "same-origin")];
                if !kind.is_empty() {
                    sent.push(("content-type", kind));
                }
                sent.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
                client.ask(method, &url, &sent, &body).answer
            };
            assert_eq!(answer(0), Answer::Exact, "{name}");
            for n in FIRST_ASKED..FIRST_ASKED + ASKED {
                let answer = answer(n);
                asked += 1;
                missed += usize::from(matches!(answer, Answer::Miss { .. }));
                if !is_said(&answer) {
                    wrong.push(format!("{name}, {recorded:?} recorded, number {n}: {answer:?}"));
                }
            }
        }
    }
    println!("{asked} asked for, {missed} missed");
    assert!(
        wrong.is_empty(),
        "{} of {asked}, such as {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(12)]
    );
}
