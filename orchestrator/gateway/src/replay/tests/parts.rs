//! Ranges and large bodies.

use super::*;

#[test]
fn ranges_are_cut_from_a_whole_answer() {
    let world = World::new();
    world.get(X, 200, &[("ETag", "\"v1\""), ("Content-Type", "video/mp4")], b"0123456789");
    world.get("https://a.test/gone", 404, &[], b"nothing here");
    let client = Client::of(&world);
    for (range, status, body, content_range) in [
        ("bytes=0-3", 206, "0123", "bytes 0-3/10"),
        ("bytes=8-", 206, "89", "bytes 8-9/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=5-99", 206, "56789", "bytes 5-9/10"),
        ("bytes=10-", 416, "", "bytes */10"),
        ("bytes=0-1,4-5", 200, "0123456789", ""),
        ("lines=1-2", 200, "0123456789", ""),
    ] {
        let got = client.get(X, &[("range", range)]);
        assert_eq!(
            (got.status, got.text(), got.header("content-range")),
            (status, body, content_range),
            "{range}"
        );
        assert_eq!(got.header("content-length"), body.len().to_string(), "{range}");
    }
    assert_eq!(client.get(X, &[("range", "bytes=0-3")]).answer, synthesised("range"));
    assert_eq!(client.get(X, &[("range", "bytes=0-3"), ("if-range", "\"v1\"")]).status, 206);
    assert_eq!(client.get(X, &[("range", "bytes=0-3"), ("if-range", "\"v0\"")]).status, 200);
    assert_eq!(client.get("https://a.test/gone", &[("range", "bytes=0-3")]).status, 404);
    let head = client.ask("HEAD", X, &[("range", "bytes=0-3")], "");
    assert_eq!((head.status, head.header("content-length"), head.text()), (206, "4", ""));
}

#[test]
fn ranges_are_put_together_from_recorded_ones() {
    let world = World::new();
    for (first, bytes) in [(0, &b"0123"[..]), (4, b"4567"), (8, b"89")] {
        let range = format!("bytes {first}-{}/12", first + bytes.len() - 1);
        world.get(X, 206, &[("Content-Range", &range), ("Content-Type", "video/mp4")], bytes);
    }
    let client = Client::of(&world);
    for (range, body, content_range, what) in [
        ("bytes=4-7", "4567", "bytes 4-7/12", None),
        ("bytes=1-2", "12", "bytes 1-2/12", Some("range")),
        ("bytes=2-9", "23456789", "bytes 2-9/12", Some("range")),
        ("bytes=5-", "56789", "bytes 5-9/12", Some("range")),
    ] {
        let got = client.get(X, &[("range", range)]);
        assert_eq!(
            (got.status, got.text(), got.header("content-range")),
            (206, body, content_range),
            "{range}"
        );
        assert_eq!(got.answer, what.map_or(Answer::Exact, synthesised), "{range}");
    }
    for range in ["bytes=9-10", "bytes=10-", "bytes=-1", "bytes=12-"] {
        assert!(
            matches!(client.get(X, &[("range", range)]).answer, Answer::Miss { .. }),
            "{range}"
        );
    }
    assert!(matches!(client.get(X, &[]).answer, Answer::Miss { .. }), "the whole was not recorded");

    let whole = World::new();
    whole.get(X, 206, &[("Content-Range", "bytes 0-3/6")], b"0123");
    whole.get(X, 206, &[("Content-Range", "bytes 2-5/6")], b"2345");
    let got = Client::of(&whole).get(X, &[]);
    assert_eq!((got.status, got.text(), got.header("content-range")), (200, "012345", ""));
    assert_eq!(got.answer, synthesised("whole from ranges"));
}

#[test]
fn big_bodies_are_streamed_and_cut() {
    let big: Vec<u8> = (0..6_000_000_u32).map(|n| (n / 7) as u8).collect();
    let world = World::new();
    world.get(X, 200, &[("Content-Type", "video/mp4")], &big);
    let client = Client::of(&world);
    let stored = client.replay.stored(client.replay.set.exact(&exact_key(X)).unwrap()[0]).unwrap();
    assert!(matches!(stored.content, stored::Content::Streamed(_)));
    let got = client.get(X, &[]);
    assert_eq!((got.header("content-length"), got.body == big), ("6000000", true));
    let got = client.get(X, &[("range", "bytes=5000000-5000999")]);
    assert_eq!((got.status, got.body == big[5_000_000..5_001_000]), (206, true));
}

fn exact_key(url: &str) -> snapshots::matching::Key {
    snapshots::matching::exact(&ReplayRequest::bare("GET", url))
}
