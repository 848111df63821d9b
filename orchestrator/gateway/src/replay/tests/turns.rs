//! Responses that depend on earlier requests, and what the client learns about them.

use std::fs::OpenOptions;
use std::io::Write;

use snapshots::{Archive, Frame, FrameSide, RecordKind};

use super::*;

#[test]
fn the_nth_request_of_an_episode_gets_the_nth_answer_and_the_last_one_sticks() {
    let world = World::new();
    for n in 0..3 {
        world.get(X, 200, &[], format!("answer {n}").as_bytes());
    }
    let client = Client::of(&world);
    let answers: Vec<String> = (0..5).map(|_| client.get(X, &[]).text().to_owned()).collect();
    assert_eq!(answers, ["answer 0", "answer 1", "answer 2", "answer 2", "answer 2"]);
    assert_eq!(client.ask("HEAD", X, &[], "").header("content-length"), "8");
    let other = Client { episode: Episode::new(), ..client };
    assert_eq!(
        other.get(X, &[("range", "bytes=0-")]).text(),
        "answer 0",
        "a range looks, and does not advance"
    );
    assert_eq!(other.get(X, &[]).text(), "answer 0");
}

#[test]
fn an_event_stream_is_not_told_twice_to_the_same_listener() {
    let world = World::new();
    world.get(X, 200, &[("Content-Type", "text/event-stream")], b"id: 1\ndata: a\n\n");
    let client = Client::of(&world);
    assert_eq!(client.get(X, &[]).status, 200);
    let got = client.get(X, &[("last-event-id", "1")]);
    assert_eq!((got.status, got.answer.clone()), (204, synthesised("end of event stream")));
}

#[test]
fn answers_are_announced_only_when_asked() {
    let world = World::new();
    world.get(X, 200, &[], b"x");
    assert_eq!(Client::of(&world).get(X, &[]).header("sandbox-answer"), "");
    let client = Client::with(&world, ReplayOptions { announce: true, ..ReplayOptions::default() });
    assert_eq!(client.get(X, &[]).header("sandbox-answer"), "exact");
}

/// What is recorded is often what a task needs. A page that lists it would show agents the way.
#[test]
fn a_miss_lists_what_is_recorded_only_where_people_read_it() {
    let world = World::new();
    world.get("https://shop.test/find?q=kettle", 200, &[], b"x");
    let asks = [("sec-fetch-dest", "document"), ("accept", "text/html")];
    for lists in [true, false] {
        let client =
            Client::with(&world, ReplayOptions { list_nearest: lists, ..ReplayOptions::default() });
        let got = client.get("https://shop.test/find?q=", &asks);
        assert_eq!(got.status, 404);
        let page = String::from_utf8_lossy(&got.body).into_owned();
        assert_eq!(page.contains("kettle"), lists, "{page}");
        let Answer::Miss { near } = &got.answer else { panic!("{:?}", got.answer) };
        assert_eq!(near.len(), 1, "the ledger names it");
    }
}

#[test]
fn a_web_socket_is_played_with_all_its_records() {
    let world = World::new();
    let frame = |n: u64| Frame {
        at_ms: n,
        from: FrameSide::Server,
        text: (n < 3).then(|| format!("tick {n}")),
        base64: None,
        close: (n == 3).then_some(1000),
        reason: None,
    };
    let headers: Headers =
        [("Upgrade", "websocket"), ("Sec-WebSocket-Protocol", "v1"), ("Sec-WebSocket-Accept", "x")]
            .into_iter()
            .collect();
    let response = Response { status: 101, reason: String::new(), headers, body: Body::empty() };
    for _ in 0..2 {
        let opening = world.exchange(("GET", "https://a.test/live", "", ""), response.clone());
        world.recording.append_websocket(&opening, &[frame(1)]).unwrap();
    }
    // Other recorders split the frames of a long connection into several records.
    let data = world.recording.data_path();
    let records =
        Archive::open(&data).unwrap().records().map(|record| record.unwrap().1).collect::<Vec<_>>();
    let mut more = OpenOptions::new().append(true).open(&data).unwrap();
    for opening in records.iter().filter(|record| record.kind() == RecordKind::Response) {
        let id = opening.id().unwrap();
        let lines = [frame(2), frame(3)]
            .map(|frame| serde_json::to_string(&frame).unwrap() + "\n")
            .concat();
        let head = format!(
            "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <{id}-more>\r\nWARC-Date: 2026-01-01T00:00:09Z\r\n\
             WARC-Target-URI: wss://a.test/live\r\nWARC-Concurrent-To: <{id}>\r\n\
             Content-Type: application/x-websocket-frames+jsonl\r\nContent-Length: {}\r\n\r\n",
            lines.len()
        );
        write!(more, "{head}{lines}\r\n\r\n").unwrap();
    }
    let client = Client::of(&world);
    for _ in 0..3 {
        let (script, answer) =
            client.replay.socket(&head("GET", "wss://a.test/live", &[]), &client.episode).unwrap();
        assert_eq!((script.frames.len(), answer), (3, Answer::Exact));
        assert_eq!(script.headers.len(), 1);
        assert_eq!(script.headers["sec-websocket-protocol"], "v1");
    }
    assert!(
        client.replay.socket(&head("GET", "wss://a.test/other", &[]), &client.episode).is_err()
    );
    assert_eq!(client.get("https://a.test/live", &[]).status, 404, "a handshake is no page");
}
