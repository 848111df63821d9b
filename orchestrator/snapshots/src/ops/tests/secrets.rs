//! Secrets in more than seventy places of a snapshot: a scan names them, and a redaction of
//! credentials leaves none in any file of the container.

use super::*;

/// Paths that are searched by themselves, and how many secrets are planted there.
const PLACES: [(&str, usize); 10] = [
    ("key", 6),
    ("issued", 4),
    ("sent-as-text", 4),
    ("within", 3),
    ("answer-within", 3),
    ("cut", 1),
    ("form-answer", 1),
    ("flow", 3),
    ("cb", 3),
    ("cookies", 4),
];

/// Plants the secrets that it gives.
#[derive(Default)]
struct Planted(Vec<String>);

impl Planted {
    fn secret(&mut self) -> String {
        let secret = format!("clay-secret-{:03}", self.0.len());
        self.0.push(secret.clone());
        secret
    }
}

fn typed(url: &str, second: i64, media: &str, body: &str) -> Exchange {
    let mut exchange = post(url, second, body.as_bytes(), b"{}");
    exchange.request.headers = [("Content-Type", media)].into_iter().collect();
    exchange
}

/// Exchanges with secrets, each in a place of its own.
fn exchanges(planted: &mut Planted) -> Vec<Exchange> {
    let mut all = Vec::new();
    let mut second = 0..;
    let mut next = || second.next().unwrap();
    for name in [
        "password",
        "user%5Bpassword%5D",
        "new-passwd",
        "pwd",
        "passphrase",
        "api_key",
        "client_secret",
    ] {
        let body = format!("user=ann&{name}={}&x=1", planted.secret());
        all.push(typed("https://a.test/form", next(), "application/x-www-form-urlencoded", &body));
    }
    for name in ["password", "pass", "access_token"] {
        let secret = planted.secret();
        let body = format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{secret}\r\n--b\r\n\
             Content-Disposition: form-data; name=\"x\"\r\n\r\ny\r\n--b--\r\n"
        );
        all.push(typed("https://a.test/parts", next(), "multipart/form-data; boundary=b", &body));
    }
    for name in ["password", "Passwort", "token", "jwt", "refreshToken"] {
        let body = format!(r#"{{"user": "ann", "deep": [{{"{name}": "{}"}}]}}"#, planted.secret());
        all.push(typed("https://a.test/json", next(), "application/json", &body));
    }
    let body = format!(
        r#"{{"query": "mutation M($password: String!) {{ x }}", "variables": {{"password": "{}"}}}}"#,
        planted.secret()
    );
    all.push(typed("https://a.test/graphql", next(), "application/json", &body));
    for (name, start) in
        [("Authorization", "Bearer "), ("Proxy-Authorization", "Bearer "), ("X-Api-Key", "")]
    {
        let mut exchange = exchange("https://a.test/header", next(), "text/plain", b"x");
        exchange.request.headers.push(name, format!("{start}{}", planted.secret()));
        all.push(exchange);
    }
    for name in [
        "Private-Token",
        "X-Vault-Token",
        "X-Amz-Security-Token",
        "Ocp-Apim-Subscription-Key",
        "X-Forwarded-Access-Token",
        "X-Hasura-Admin-Secret",
    ] {
        let mut exchange = exchange("https://a.test/key", next(), "text/plain", b"x");
        exchange.request.headers.push(name, planted.secret());
        all.push(exchange);
    }
    for name in ["Authorization", "X-Auth-Token", "X-Subject-Token", "X-Refresh-Token"] {
        let mut exchange = exchange("https://a.test/issued", next(), "text/plain", b"x");
        exchange.response.headers.push(name, planted.secret());
        all.push(exchange);
    }
    for (media, start) in [
        ("text/plain", ""),
        ("text/plain", "user=ann&"),
        ("", "user=ann\r\n"),
        ("application/octet-stream", "x=1&"),
    ] {
        let body = format!("{start}password={}\r\n", planted.secret());
        all.push(typed("https://a.test/sent-as-text", next(), media, &body));
    }
    for (name, escapes) in [("password", 1), ("access_token", 1), ("jwt", 2)] {
        let mut body = format!(r#"{{"user": "ann", "{name}": "{}"}}"#, planted.secret());
        for _ in 0..escapes {
            body = serde_json::json!({ "id": 1, "body": body }).to_string();
        }
        all.push(typed("https://a.test/within", next(), "application/json", &body));
        let secret = planted.secret();
        let answer = serde_json::json!({ "body": serde_json::json!({ "access_token": secret }).to_string() });
        all.push(exchange(
            "https://a.test/answer-within",
            next(),
            "application/json",
            answer.to_string().as_bytes(),
        ));
    }
    let cut = format!(r#"{{"user": "ann", "password": "{}"#, planted.secret());
    all.push(typed("https://a.test/cut", next(), "application/json", &cut));
    let answer = format!("access_token={}&scope=repo&token_type=bearer", planted.secret());
    all.push(exchange(
        "https://a.test/form-answer",
        next(),
        "application/x-www-form-urlencoded",
        answer.as_bytes(),
    ));
    for fragment in ["access_token", "state=x&id_token", "/back?access_token"] {
        let mut exchange = exchange("https://a.test/flow", next(), "text/plain", b"x");
        exchange.response.status = 302;
        exchange
            .response
            .headers
            .push("Location", format!("https://a.test/cb#{fragment}={}&x=1", planted.secret()));
        all.push(exchange);
        let url = format!("https://a.test/cb#{fragment}={}&x=1", planted.secret());
        all.push(super::exchange(&url, next(), "text/html", b"x"));
    }
    for name in ["Referer", "X-Forwarded-Url", "Origin"] {
        let mut exchange = exchange("https://a.test/sent", next(), "text/plain", b"x");
        exchange.request.headers.push(name, format!("https://ann:{}@a.test/", planted.secret()));
        all.push(exchange);
    }
    for name in ["Location", "Link", "Content-Location", "X-Origin"] {
        let mut exchange = exchange("https://a.test/received", next(), "text/plain", b"x");
        exchange.response.headers.push(name, format!("https://ann:{}@a.test/", planted.secret()));
        all.push(exchange);
    }
    let mut cookies = exchange("https://a.test/cookies", next(), "text/plain", b"x");
    cookies.request.headers.push("Cookie", format!("theme=dark; sid={}", planted.secret()));
    cookies.response.headers.push("Set-Cookie", format!("session={}; Path=/", planted.secret()));
    cookies.request.headers.push("Cookie", format!("theme={}; x=1", planted.secret()));
    cookies.response.headers.push("Set-Cookie", format!("colour={}; Path=/", planted.secret()));
    all.push(cookies);
    for name in ["password", "access_token", "user[password]", "apikey"] {
        let url = format!("https://a.test/query?{name}={}&x=1", planted.secret());
        let mut exchange = exchange(&url, next(), "text/html", b"x");
        exchange.request.target = url.trim_start_matches("https://a.test").to_owned();
        all.push(exchange);
    }
    all.push(exchange(
        &format!("https://ann:{}@a.test/", planted.secret()),
        next(),
        "text/html",
        b"x",
    ));
    for (media, body) in [
        ("text/html", format!("<a href='https://ann:{}@a.test/'>x</a>", planted.secret())),
        ("text/javascript", format!(r#"x = "https:\/\/ann:{}@a.test\/""#, planted.secret())),
        ("application/json", format!(r#"{{"access_token": "{}"}}"#, planted.secret())),
        ("text/plain", format!("postgres://ann:{}@db.test/x", planted.secret())),
    ] {
        all.push(exchange("https://a.test/answer", next(), media, body.as_bytes()));
    }
    // Answers that repeat what was typed, as they are and compressed.
    let echo = planted.0[..8].join(" or ");
    all.push(exchange("https://a.test/echo", next(), "text/html", echo.as_bytes()));
    let mut coded = exchange("https://a.test/coded", next(), "text/html", &gzip(echo.as_bytes()));
    coded.response.headers.push("Content-Encoding", "gzip");
    all.push(coded);
    all.push(exchange(
        &format!("https://ann:{}@b.test/", planted.secret()),
        next(),
        "text/plain",
        b"x",
    ));
    all
}

/// All files of a container, decompressed.
fn contents(path: &Utf8Path) -> Vec<(String, Vec<u8>)> {
    let mut zip = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut all = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        let name = entry.name().unwrap().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        all.push(if name.ends_with(".gz") { (name, gunzip(&bytes)) } else { (name, bytes) });
    }
    // Bodies may have a content coding of their own.
    let decoded = bodies(path)
        .into_iter()
        .flat_map(|(url, body)| [url.into_bytes(), body])
        .collect::<Vec<_>>();
    all.push(("bodies".to_owned(), decoded.concat()));
    all
}

#[test]
fn no_secret_is_left_in_any_file() {
    let place = Place::new();
    let (path, out) = (place.join("a.wacz"), place.join("clean.wacz"));
    let mut planted = Planted::default();
    let exchanges = exchanges(&mut planted);
    let title = Some(format!("https://ann:{}@a.test/", planted.secret()));
    let recording =
        Recording::create(&path, RecordingOptions { title, ..RecordingOptions::default() })
            .unwrap();
    for exchange in &exchanges {
        recording.append(exchange).unwrap();
        recording.append_page(&Page::new(&exchange.url, exchange.started)).unwrap();
    }
    let mut page = Page::new(&exchanges[exchanges.len() - 1].url, exchanges[0].started);
    page.title = Some(format!("https://ann:{}@b.test/ is not there", planted.secret()));
    page.text = Some(format!("Go to https://ann:{}@b.test/", planted.secret()));
    page.extra
        .insert("source".to_owned(), format!("https://ann:{}@b.test/", planted.secret()).into());
    recording.append_page(&page).unwrap();
    recording.finish(&|_| ()).unwrap();
    assert!(planted.0.len() >= 70, "{}", planted.0.len());
    let holds = |files: &[(String, Vec<u8>)], secret: &str| -> Vec<String> {
        let has =
            |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        files.iter().filter(|(_, bytes)| has(bytes)).map(|(name, _)| name.clone()).collect()
    };
    let before = contents(&path);
    for secret in &planted.0 {
        assert!(!holds(&before, secret).is_empty(), "{secret} was not planted");
    }
    let scan = scan_secrets(&path, &mut quiet).unwrap();
    let found: u64 = scan.counts.values().sum();
    assert!(found >= planted.0.len() as u64, "{found} of {}: {:#?}", planted.0.len(), scan.counts);
    // Each of these places by itself.
    for (path, count) in PLACES {
        let url = format!("https://a.test/{path}");
        let found = scan.secrets.iter().filter(|secret| secret.url == url).count();
        assert!(found >= count, "{found} of {count} at {url}: {:#?}", scan.secrets);
    }
    let shown = serde_json::to_string(&scan).unwrap();
    assert!(!shown.contains("clay-secret"), "the scan shows a secret: {shown}");

    let what = Redaction { key: b"k".to_vec(), credentials: true, ..Redaction::default() };
    redact(&path, &out, &what, &mut quiet).unwrap();
    valid(&out);
    let after = contents(&out);
    let left: Vec<_> = planted.0.iter().map(|secret| (secret, holds(&after, secret))).collect();
    let left: Vec<_> = left.into_iter().filter(|(_, files)| !files.is_empty()).collect();
    assert!(left.is_empty(), "{left:#?}");
    let scan = scan_secrets(&out, &mut quiet).unwrap();
    assert!(scan.clean, "{:#?}", scan.secrets);
}

/// A recording that hides credentials does so in the same places.
#[test]
fn no_secret_gets_into_a_recording() {
    let mut planted = Planted::default();
    let filter = CredentialFilter::new(b"k");
    let mut seen = 0;
    for mut exchange in exchanges(&mut planted) {
        let path = exchange.url.trim_start_matches("https://a.test/").to_owned();
        if !PLACES.iter().any(|(place, _)| path.split(['?', '#']).next() == Some(*place)) {
            continue;
        }
        seen += 1;
        filter.exchange(&mut exchange).unwrap();
        let body = |body: &Body| String::from_utf8(body.to_vec(1 << 20).unwrap()).unwrap();
        let (request, response) = (&exchange.request, &exchange.response);
        let written = format!("{exchange:?} {} {}", body(&request.body), body(&response.body));
        let headers = request.headers.iter().chain(response.headers.iter());
        let headers: String =
            headers.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect();
        assert!(
            !written.contains("clay-secret") && !headers.contains("clay-secret"),
            "{path}: {written} {headers}"
        );
    }
    let page = filter
        .page(Page::new("https://a.test/cb#access_token=a-secret&x=1", Timestamp::from_millis(0)));
    assert!(
        page.url.contains("#access_token=redacted-") && page.url.ends_with("&x=1"),
        "{}",
        page.url
    );
    assert!(seen >= 29, "{seen}");
}
