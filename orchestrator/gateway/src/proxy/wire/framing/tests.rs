use super::*;

/// Feeds the bytes whole and then one at a time; both must give the same result.
fn check(bytes: &str, expect: Verdict) {
    let (mut whole, mut single) = (Framing::default(), Framing::default());
    let (_, verdict) = whole.feed(bytes.as_bytes());
    assert_eq!(verdict, expect, "{bytes:?}");
    let (mut held, mut verdict) = (Vec::new(), Verdict::Right);
    for byte in bytes.bytes() {
        held.push(byte);
        let (settled, now) = single.feed(&held);
        held.drain(..settled);
        if now != Verdict::Right {
            verdict = now;
            break;
        }
    }
    assert_eq!(verdict, expect, "{bytes:?} byte by byte");
}

fn head(number: u64, reason: &'static str) -> Verdict {
    Verdict::WrongHead { number, reason, end: b"\r\n" }
}

#[test]
fn what_is_right_passes() {
    for bytes in [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\na\nbGET / HTTP/1.0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: CHUNKED\r\n\r\n3 ;x=\"y\"\r\na\nb\r\n0\r\nT: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n\n\n\r anything at all",
        "GET / HTTP/1.1\r\nX: \r\nY:\r\nContent-Length:0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    ] {
        check(bytes, Verdict::Right);
    }
}

#[test]
fn what_is_wrong_with_a_head_is_said_of_that_head() {
    for (bytes, number, reason) in [
        ("GET / HTTP/1.1\r\nHost: a\n\r\n", 0, BARE),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", 0, BARE),
        ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 0, BARE),
        ("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: a\n\r\n", 1, BARE),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 0, NO_LENGTH),
        ("POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 0, NO_LENGTH),
        ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 0, NO_LENGTH),
        ("POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 0, NO_LENGTH),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 0, NO_LENGTH),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 0, BOTH),
        ("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n", 0, BOTH),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 0, CODING),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", 0, CODING),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            0,
            CODING,
        ),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 0, CODING),
        ("POST / HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n", 0, NO_FIELD),
        ("GET / HTTP/1.1\r\nX: a\r\n folded: b\r\n\r\n", 0, NO_FIELD),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n", 0, NO_FIELD),
    ] {
        check(bytes, head(number, reason));
    }
    let first = Verdict::WrongHead { number: 0, reason: BARE, end: b"GET / HTTP/1.1\r\n\r\n" };
    check("GET / HTTP/1.1\nHost: a\r\n\r\n", first);
}

#[test]
fn what_is_wrong_with_a_chunk_is_said_of_the_body() {
    for (body, reason) in [
        ("3\nabc\r\n0\r\n\r\n", BARE),
        ("3\r\nabc\n0\r\n\r\n", BARE),
        ("3\r\nabcd\r\n0\r\n\r\n", NO_CHUNK),
        ("x\r\nabc\r\n0\r\n\r\n", NO_CHUNK),
        ("-3\r\nabc\r\n0\r\n\r\n", NO_CHUNK),
        ("0x3\r\nabc\r\n0\r\n\r\n", NO_CHUNK),
        ("\r\nabc\r\n0\r\n\r\n", NO_CHUNK),
        ("1000000000000003\r\nabc\r\n0\r\n\r\n", NO_CHUNK),
        ("3;a\nb\r\nabc\r\n0\r\n\r\n", BARE),
        ("0\r\nT: 1\n\r\n", BARE),
        ("0\r\nno field\r\n\r\n", NO_FIELD),
    ] {
        let end: &[u8] =
            if body.starts_with('0') && reason != NO_CHUNK { b":\r\n\r\n" } else { b"?" };
        check(
            &format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}"),
            Verdict::WrongBody { reason, end },
        );
    }
}

#[test]
fn lines_without_an_end_are_not_held_for_ever() {
    let mut framing = Framing::default();
    let long = vec![b'a'; MAX_HEAD + 1];
    assert_eq!(framing.feed(&long), (long.len(), Verdict::Right), "hyper refuses it");
    let mut framing = Framing::default();
    framing.feed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(framing.feed(&long), (0, Verdict::WrongBody { reason: NO_CHUNK, end: b"?" }));
}
