//! The browser state: copied from file to file, counted, redacted and scanned.

use serde_json::json;

use super::*;
use crate::BrowserState;

const TOKEN: &str = "tok-5f0c9a7b1e24d863";

fn state() -> BrowserState {
    let description = json!({ "browserState": {
        "cookies": [
            { "name": "theme", "value": "dark", "domain": ".a.test", "path": "/", "sameSite": "Lax" },
            { "name": "auth_session", "value": TOKEN, "domain": "a.test", "path": "/" },
        ],
        "localStorage": {
            "https://a.test": { "basket": "[\"two pears\"]", "apiKey": "k3y-8d21f6a90b7c4e55", "user": "{\"password\": \"pears-and-plums\"}" },
        },
        "sessionStorage": { "https://b.test": { "tab": "x", "seen": format!("with {TOKEN}") } },
    } });
    BrowserState::read(&description)
}

fn of(path: &Utf8Path) -> BrowserState {
    BrowserState::of(&Archive::open(path).unwrap())
}

/// A snapshot recorded with that browser state.
fn recorded(path: &Utf8Path) {
    let recording = Recording::create(path, RecordingOptions::default()).unwrap();
    for exchange in usual() {
        recording.append(&exchange).unwrap();
    }
    recording.set_browser_state(&BrowserState::default()).unwrap();
    recording.set_browser_state(&state()).unwrap();
    recording.finish(&|_| ()).unwrap();
}

#[test]
fn it_is_kept_from_file_to_file() {
    let place = Place::new();
    let (path, plain) = (place.join("a.wacz"), place.join("plain.wacz"));
    recorded(&path);
    valid(&path);
    assert_eq!(of(&path), state());
    snapshot(&plain, &usual());
    assert!(of(&plain).is_empty());

    let imported = place.join("imported.wacz");
    import(&[plain.clone(), path.clone()], &imported, &ImportOptions::default(), &mut quiet)
        .unwrap();
    assert_eq!(of(&imported), state());
    let merged = place.join("merged.wacz");
    merge(&[path.clone(), plain], &merged, &mut quiet).unwrap();
    assert_eq!(of(&merged), state());
    let redacted = place.join("redacted.wacz");
    redact(
        &path,
        &redacted,
        &Redaction { values: vec!["nowhere".into()], ..Redaction::default() },
        &mut quiet,
    )
    .unwrap();
    assert_eq!(of(&redacted), state());

    let bytes = fs::read(&path).unwrap();
    for (number, whole) in [&bytes[..], &bytes[..bytes.len() - 30]].into_iter().enumerate() {
        let (bad, mended) =
            (place.join(&format!("bad{number}")), place.join(&format!("mended{number}.wacz")));
        fs::write(&bad, whole).unwrap();
        repair(&bad, &mended, &mut quiet).unwrap();
        assert_eq!(of(&mended), state(), "{number}");
    }
    let killed = place.join("killed.wacz");
    let recording = Recording::create(&killed, RecordingOptions::default()).unwrap();
    recording.append(&usual()[0]).unwrap();
    recording.set_browser_state(&state()).unwrap();
    drop(recording);
    repair(&killed, &place.join("left.wacz"), &mut quiet).unwrap();
    assert_eq!(of(&place.join("left.wacz")), state());
}

#[test]
fn it_is_counted_and_no_value_is_told() {
    let place = Place::new();
    let path = place.join("a.wacz");
    recorded(&path);
    let report = serde_json::to_value(inspect(&path, &mut quiet).unwrap()).unwrap();
    assert_eq!(
        report["browser_state"],
        json!({
            "cookies": { ".a.test": 1, "a.test": 1 },
            "local_storage": { "https://a.test": 3 },
            "session_storage": { "https://b.test": 2 },
        })
    );
    assert_eq!(report["credentials"]["kept"], 4);
    assert!(!report.to_string().contains(TOKEN));
    assert_eq!(count_credentials(&path).unwrap().kept, 4);
}

#[test]
fn it_is_searched_for_secrets_and_cleaned() {
    let place = Place::new();
    let path = place.join("a.wacz");
    recorded(&path);
    let scan = scan_secrets(&path, &mut quiet).unwrap();
    let found: Vec<(SecretKind, &str)> = scan
        .secrets
        .iter()
        .filter(|secret| {
            ["cookie", "localStorage", "sessionStorage"].contains(&secret.place.as_str())
        })
        .map(|secret| (secret.kind, secret.place.as_str()))
        .collect();
    // All that is counted as kept.
    let expect = [
        (SecretKind::Cookie, "cookie"),
        (SecretKind::SessionCookie, "cookie"),
        (SecretKind::StoredSecret, "localStorage"),
        (SecretKind::StoredSecret, "localStorage"),
    ];
    assert_eq!(found, expect);

    let named = place.join("named.wacz");
    let what = Redaction {
        key: b"key".to_vec(),
        cookies: vec!["auth_session".into()],
        fields: vec!["apikey".into()],
        ..Redaction::default()
    };
    let report = redact(&path, &named, &what, &mut quiet).unwrap();
    assert!(report.state_changed, "{report:#?}");
    let clean = serde_json::to_string(&of(&named)).unwrap();
    assert!(!clean.contains(TOKEN) && !clean.contains("k3y-8d21"), "{clean}");
    assert!(clean.contains("pears-and-plums") && clean.contains("\"dark\""), "{clean}");

    let shared = place.join("shared.wacz");
    let what = Redaction { key: b"key".to_vec(), credentials: true, ..Redaction::default() };
    redact(&path, &shared, &what, &mut quiet).unwrap();
    let clean = serde_json::to_string(&of(&shared)).unwrap();
    for secret in ["dark", "k3y-8d21", "pears-and-plums"] {
        assert!(!clean.contains(secret), "{secret}: {clean}");
    }
    assert!(clean.contains("two pears"), "{clean}");
    assert_eq!(count_credentials(&shared).unwrap().kept, 0);
}
