//! Requests that RFC 9112 calls malformed are answered 400 and nothing else, wherever they come.

use gateway::Limits;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::origin::PATIENCE;
use crate::world::{Setup, World};

/// What the first line of a request is followed by, and the fields that its head has besides.
struct Request {
    why: &'static str,
    head: &'static str,
    body: &'static str,
}

const fn request(why: &'static str, head: &'static str, body: &'static str) -> Request {
    Request { why, head, body }
}

const HOST: &str = "Host: shop.test\r\n";

/// `POST /echo`, each malformed in one way.
const MALFORMED: &[Request] = &[
    request("a bare line feed behind the first line", " HTTP/1.1\nHost: shop.test\r\n\r\n", ""),
    request("a bare line feed behind a field", " HTTP/1.1\r\nHost: shop.test\nX: y\r\n\r\n", ""),
    request("a bare line feed at the end", " HTTP/1.1\r\nHost: shop.test\r\n\n", ""),
    request("a bare carriage return", " HTTP/1.1\r\nHost: shop.test\rX: y\r\n\r\n", ""),
    request("no Host", " HTTP/1.1\r\n\r\n", ""),
    request("two Hosts", " HTTP/1.1\r\nHost: shop.test\r\nHost: other.test\r\n\r\n", ""),
    request("the same Host twice", " HTTP/1.1\r\nHost: shop.test\r\nHost: shop.test\r\n\r\n", ""),
    request("a Host that is none", " HTTP/1.1\r\nHost: shop test\r\n\r\n", ""),
    request("an empty Host", " HTTP/1.1\r\nHost:\r\n\r\n", ""),
    request("a space before a colon", " HTTP/1.1\r\nHost: shop.test\r\nX : y\r\n\r\n", ""),
    request("a folded line", " HTTP/1.1\r\nHost: shop.test\r\nX: y\r\n z\r\n\r\n", ""),
    request(
        "two lengths",
        " HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n",
        "abcde",
    ),
    request(
        "a list of lengths",
        " HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 4, 4\r\n\r\n",
        "abcd",
    ),
    request(
        "a signed length",
        " HTTP/1.1\r\nHost: shop.test\r\nContent-Length: +4\r\n\r\n",
        "abcd",
    ),
    request(
        "a length and chunks",
        " HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        "0\r\n\r\n",
    ),
    request(
        "chunks and a length",
        " HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        "0\r\n\r\n",
    ),
    request(
        "another coding",
        " HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "0\r\n\r\n",
    ),
    request(
        "chunked twice",
        " HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        "0\r\n\r\n",
    ),
    request(
        "chunks in HTTP/1.0",
        " HTTP/1.0\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n",
        "0\r\n\r\n",
    ),
    request("a chunk without a size", CHUNKED, "x\r\nabcd\r\n0\r\n\r\n"),
    request("a chunk that is longer than it says", CHUNKED, "3\r\nabcd\r\n0\r\n\r\n"),
    request("a chunk's size behind a bare line feed", CHUNKED, "4\nabcd\r\n0\r\n\r\n"),
    request("a chunk before a bare line feed", CHUNKED, "4\r\nabcd\n0\r\n\r\n"),
    request(
        "a chunk of more than there can be",
        CHUNKED,
        "ffffffffffffffffff\r\nabcd\r\n0\r\n\r\n",
    ),
    request("a trailer with a bare line feed", CHUNKED, "4\r\nabcd\r\n0\r\nX: y\nZ: z\r\n\r\n"),
];

const CHUNKED: &str = " HTTP/1.1\r\nHost: shop.test\r\nTransfer-Encoding: chunked\r\n\r\n";

/// `POST /echo` of `abcd`, each in order.
const RIGHT: &[Request] = &[
    request("a length", " HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 4\r\n\r\n", "abcd"),
    request(
        "the same length twice",
        " HTTP/1.1\r\nHost: SHOP.test\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\n",
        "abcd",
    ),
    request(
        "chunks with all that they may have",
        CHUNKED,
        "2;x=\"y\"\r\nab\r\n02\r\ncd\r\n0\r\nX: y\r\n\r\n",
    ),
    request("HTTP/1.0 without a Host", " HTTP/1.0\r\nContent-Length: 4\r\n\r\n", "abcd"),
];

/// The ways to the gateway.
#[derive(Clone, Copy, Debug)]
enum Way {
    Proxy,
    Tunnel,
    Tls,
}

async fn say(mut io: impl AsyncRead + AsyncWrite + Unpin, text: &str) -> String {
    let _ = io.write_all(text.as_bytes()).await;
    let mut answer = Vec::new();
    // Over TLS the end may come without a farewell.
    let _ = timeout(PATIENCE, io.read_to_end(&mut answer)).await.expect("the gateway closes");
    String::from_utf8_lossy(&answer).into_owned()
}

impl Way {
    async fn world(self, record: bool) -> World {
        let setup = Setup { record, limits: Limits::default(), ..Setup::default() };
        if matches!(self, Way::Tls) { setup.tls(false).await } else { setup.plain().await }
    }

    /// Sends `POST /echo` and then, on the same connection, a request that must not be reached when
    /// the first is malformed.
    async fn say(self, world: &World, request: &Request) -> String {
        let target = if matches!(self, Way::Proxy) { "http://shop.test/echo" } else { "/echo" };
        let next = target.replace("echo", "hello");
        let text = format!(
            "POST {target}{}{}GET {next} HTTP/1.1\r\n{HOST}Connection: close\r\n\r\n",
            request.head, request.body
        );
        match self {
            Way::Proxy => {
                say(TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap(), &text)
                    .await
            }
            Way::Tunnel => say(world.client.tunnel("shop.test:80").await, &text).await,
            Way::Tls => say(world.client.tls("shop.test:443", &["http/1.1"]).await, &text).await,
        }
    }
}

async fn all_are_refused(way: Way, record: bool) {
    let world = way.world(record).await;
    let mut wrong = Vec::new();
    for request in MALFORMED {
        let answer = way.say(&world, request).await;
        let statuses: Vec<_> = answer.lines().filter(|line| line.starts_with("HTTP/1.")).collect();
        if statuses.len() != 1 || !statuses[0].contains(" 400 ") {
            wrong.push(format!("{}: {:?}", request.why, answer.lines().next()));
        }
    }
    assert!(wrong.is_empty(), "{way:?}:\n{}", wrong.join("\n"));
    if record {
        assert!(world.recorded().is_empty(), "nothing of it was kept");
    }
    for request in RIGHT {
        let answer = way.say(&world, request).await;
        assert!(
            answer.contains(" 200 OK") && answer.contains("abcd"),
            "{way:?}: {}: {answer}",
            request.why
        );
    }
}

#[tokio::test]
async fn what_is_malformed_is_refused_on_a_connection_to_the_proxy() {
    all_are_refused(Way::Proxy, false).await;
}

#[tokio::test]
async fn what_is_malformed_is_refused_in_a_tunnel() {
    all_are_refused(Way::Tunnel, false).await;
}

#[tokio::test]
async fn what_is_malformed_is_refused_behind_tls() {
    all_are_refused(Way::Tls, false).await;
}

#[tokio::test]
async fn what_is_malformed_is_not_recorded() {
    all_are_refused(Way::Tls, true).await;
}

#[tokio::test]
async fn a_host_that_is_not_the_targets_is_refused() {
    let world = Way::Proxy.world(false).await;
    for (text, status) in [
        ("GET http://shop.test/hello HTTP/1.1\r\nHost: other.test\r\n", "400"),
        ("GET http://shop.test/hello HTTP/1.1\r\nHost: shop.test:81\r\n", "400"),
        ("GET http://shop.test/hello HTTP/1.1\r\nHost: shop.test:80\r\n", "200"),
        ("CONNECT shop.test:443 HTTP/1.1\r\nHost: other.test:443\r\n", "400"),
        ("CONNECT shop.test:443 HTTP/1.1\r\n", "400"),
        ("CONNECT *.test:443 HTTP/1.1\r\nHost: *.test\r\n", "400"),
    ] {
        let tcp = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
        let answer = say(tcp, &format!("{text}Connection: close\r\n\r\n")).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{text}: {answer}");
    }
    let way = Way::Tls;
    let world = way.world(false).await;
    let tls = world.client.tls("shop.test:443", &["http/1.1"]).await;
    let answer = say(tls, "GET https://shop.test/hello HTTP/1.1\r\nHost: other.test\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn a_reason_is_told_and_entered_in_the_ledger() {
    let world = Way::Proxy.world(false).await;
    let tcp = TcpStream::connect(world.gateway.local_addr().unwrap()).await.unwrap();
    let answer =
        say(tcp, "GET http://shop.test/hello HTTP/1.1\r\nHost: shop.test\nX: y\r\n\r\n").await;
    assert!(answer.contains("sandbox-error: malformed") && answer.contains("CR LF"), "{answer}");
    world.gateway.in_flight().idle(PATIENCE).await.unwrap();
    let entries = world.gateway.ledger().entries();
    assert_eq!((entries.len(), entries[0].status), (1, 400), "{entries:?}");
}
