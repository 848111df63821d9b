//! Events of requests, sockets and navigations, and the state that follows from them.

use serde_json::json;

use super::*;

#[test]
fn answers_belong_in_the_order_of_the_asking() {
    let (page, worker) = (SessionId::from("page"), SessionId::from("worker 2"));
    let earlier = SessionId::from("worker 1");
    let mut traffic = Traffic::default();
    let mut ask = |session: &SessionId, id: &str, kind: &str, initiator: &str| {
        let request = json!({ "url": format!("https://a.test/{id}"), "method": "GET" });
        let initiator = json!({ "type": initiator });
        let pending =
            json!({ "requestId": id, "type": kind, "request": request, "initiator": initiator });
        traffic.on_event(session, "Network.requestWillBeSent", &pending);
    };
    ask(&worker, "w", "Fetch", "script");
    ask(&worker, "v", "Fetch", "script");
    // Its requests come before those of the worker behind it, whichever thread is faster.
    ask(&earlier, "x", "Fetch", "script");
    ask(&page, "b", "Script", "parser");
    ask(&page, "a", "Fetch", "script");
    ask(&page, "question", "Other", "preflight");
    ask(&page, "events", "EventSource", "other");
    ask(&page, "frame", "Document", "parser");
    // The target of a redirect has the rank of the first request.
    ask(&page, "b", "Script", "parser");
    let place =
        |session: &SessionId| session.strip_prefix("worker ").map(|place| place.parse().unwrap());
    let response_order = |traffic: &Traffic| -> Vec<String> {
        let response_order = traffic.response_order(place);
        response_order
            .into_iter()
            .map(|pending| pending.url.rsplit('/').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(response_order(&traffic), ["frame", "b", "a", "x", "w", "v", "question"]);
    let first = traffic.response_order(place).remove(1);
    assert!(first.is("https://a.test/b", "GET") && first.is("https://a.test/b", "OPTIONS"));
    assert!(!first.is("https://a.test/b", "POST") && !first.is("https://a.test/a", "GET"));
    traffic.defer(&first);
    let left = response_order(&traffic);
    assert_eq!(left[..3], ["frame", "a", "x"]);
}

#[test]
fn a_socket_is_on_its_way_until_it_is_open() {
    let session = SessionId::from("page");
    let mut traffic = Traffic::default();
    let socket = json!({ "requestId": "1", "url": "wss://a.test/" });
    assert!(traffic.on_event(&session, "Network.webSocketCreated", &socket));
    assert_eq!((traffic.without_response(), &*traffic.describe()), (1, "wss://a.test/"));
    assert_eq!(traffic.throttled(), 1);
    assert!(traffic.on_event(&session, "Network.webSocketWillSendHandshakeRequest", &socket));
    assert_eq!((traffic.without_response(), traffic.throttled()), (1, 0));
    traffic.on_event(&session, "Network.webSocketHandshakeResponseReceived", &socket);
    assert_eq!(traffic.without_response(), 0);
}

#[test]
fn a_refused_tunnel_ends_one_socket_that_waits_for_it() {
    let session = SessionId::from("page");
    let mut traffic = Traffic::default();
    for (id, url) in
        [("1", "ws://127.0.0.1:9999/"), ("2", "ws://127.0.0.1:9999/a"), ("3", "wss://a.test/")]
    {
        let socket = json!({ "requestId": id, "url": url });
        traffic.on_event(&session, "Network.webSocketCreated", &socket);
    }
    for (address, left) in [
        ("127.0.0.1:80", 3),
        ("127.0.0.1:9999", 2),
        ("127.0.0.1:9999", 1),
        ("127.0.0.1:9999", 1),
        ("a.test:443", 0),
    ] {
        traffic.end_answered_socket(address.to_owned());
        assert_eq!((traffic.throttled(), traffic.without_response()), (left, left), "{address}");
    }
}

#[test]
fn a_refused_socket_has_ended_whichever_news_comes_first() {
    let session = SessionId::from("page");
    let mut traffic = Traffic::default();
    let socket = |id: &str| json!({ "requestId": id, "url": "wss://a.test/s" });
    traffic.on_event(&session, "Network.webSocketCreated", &socket("1"));
    traffic.on_event(&session, "Network.webSocketWillSendHandshakeRequest", &socket("1"));
    traffic.end_answered_socket("wss://a.test/s".to_owned());
    assert_eq!(traffic.without_response(), 0);
    traffic.end_answered_socket("wss://a.test/s".to_owned());
    traffic.on_event(&session, "Network.webSocketCreated", &socket("2"));
    assert_eq!(traffic.without_response(), 0);
    traffic.on_event(&session, "Network.webSocketCreated", &socket("3"));
    assert_eq!(traffic.without_response(), 1, "one refusal ends one socket");
    // An answer that an event has told of already is not kept for the next socket.
    traffic.on_event(&session, "Network.webSocketHandshakeResponseReceived", &socket("3"));
    traffic.end_answered_socket("wss://a.test/s".to_owned());
    traffic.on_event(&session, "Network.webSocketCreated", &socket("4"));
    assert_eq!(traffic.without_response(), 1);
}
