//! Which recorded connection a page gets, and what its messages do.

use in_flight::InFlight;
use snapshots::{Frame, FrameSide};

use super::states::{DAY, SHOP, Site};
use super::*;
use crate::socket::{PlaybackContext, play};

const CHAT: &str = "https://shop.test/chat";

fn frame(at_ms: u64, from: FrameSide, text: &str) -> Frame {
    Frame { at_ms, from, text: Some(text.to_owned()), base64: None, close: None, reason: None }
}

/// Records a connection that is opened now.
fn connect(site: &Site, frames: &[Frame]) {
    let answer = Response {
        status: 101,
        reason: String::new(),
        headers: Headers::new(),
        body: Body::empty(),
    };
    let opening = site.0.exchange(("GET", CHAT, "", ""), answer);
    site.0.recording.append_websocket(&opening, frames).unwrap();
}

/// Opens the connection, says these and hears as many answers. Nothing is said where one is empty.
fn talk(client: &Client, says: &[&str]) -> Vec<String> {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::tungstenite::Message;
    use tokio_tungstenite::tungstenite::protocol::Role;
    let head = head("GET", "wss://shop.test/chat", &[("origin", "https://shop.test")]);
    let (script, _) = client.replay.socket(&head, &client.episode).unwrap();
    let (in_flight, cut) = (InFlight::default(), tokio_util::sync::CancellationToken::new());
    let context =
        PlaybackContext { in_flight: &in_flight, episode: &client.episode, url: &head.url };
    let (near, far) = tokio::io::duplex(1 << 16);
    let talk = async {
        let mut socket =
            tokio_tungstenite::WebSocketStream::from_raw_socket(near, Role::Client, None).await;
        let mut heard = Vec::new();
        for say in says {
            if !say.is_empty() {
                socket.send(Message::text(*say)).await.unwrap();
            }
            heard.push(socket.next().await.unwrap().unwrap().into_text().unwrap().to_string());
        }
        socket.close(None).await.unwrap();
        while let Some(Ok(_)) = socket.next().await {}
        heard
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::join!(play(far, &script, 1 << 20, context, &cut), talk).1 })
}

/// A chat whose page shows what was said; the connection also asks for who is there.
fn chat(beats: bool) -> Site {
    use FrameSide::{Client, Server};
    let site = Site::new();
    site.page(SHOP, "nobody has said anything");
    let mut frames = vec![frame(10, Client, "join"), frame(11, Server, "joined")];
    if beats {
        for at in [4000, 8000, 12_000] {
            frames.extend([frame(at, Client, "beat"), frame(at + 1, Server, "beats")]);
        }
    }
    for (at, word) in [(14_000, "hello"), (15_100, "bye")] {
        frames.extend([frame(at, Client, word), frame(at + 1, Server, &format!("you: {word}"))]);
    }
    connect(&site, &frames);
    site.after(16_000).page(SHOP, "hello, bye");
    site
}

#[test]
fn a_message_is_a_write_where_the_page_is_another_one_after_it() {
    for beats in [false, true] {
        let site = chat(beats);
        let client = site.client();
        assert_eq!(client.enter(SHOP), "nobody has said anything");
        assert_eq!(talk(&client, &["join"]), ["joined"]);
        if beats {
            assert_eq!(talk(&client, &["join", "beat", "beat"]), ["joined", "beats", "beats"]);
        }
        assert_eq!(client.follow(SHOP, SHOP), "nobody has said anything", "nothing was said");
        assert_eq!(talk(&client, &["join", "hello"]), ["joined", "you: hello"]);
        let got = client.get(SHOP, &[]);
        assert_eq!(
            got.answer.level(),
            "other_state",
            "hello alone was not recorded: {:?}",
            got.text()
        );
        assert_eq!(talk(&client, &["join", "bye"]), ["joined", "you: bye"]);
        let got = client.get(SHOP, &[]);
        assert_eq!((got.text(), &got.answer), ("hello, bye", &Answer::Exact));
    }
}

#[test]
fn messages_after_which_nothing_changed_are_no_writes() {
    let site = Site::new();
    site.page(SHOP, "prices").page("https://shop.test/cart", "empty");
    connect(&site, &[frame(900, FrameSide::Client, "lamp"), frame(901, FrameSide::Server, "20")]);
    site.after(2000).page(SHOP, "prices");
    let client = site.client();
    client.enter(SHOP);
    assert_eq!(talk(&client, &["lamp"]), ["20"]);
    assert_eq!(client.get(SHOP, &[]).answer, Answer::Exact);
}

#[test]
fn what_was_never_said_leaves_no_state_known() {
    let site = chat(false);
    let client = site.client();
    client.enter(SHOP);
    // The answer to another message is a guess.
    assert_eq!(talk(&client, &["join", "good morning"]), ["joined", "you: hello"]);
    assert_eq!(client.episode.ledger().levels().guessed, 1);
    let Answer::OtherState { extra, .. } = client.get(SHOP, &[]).answer else { panic!() };
    assert_eq!(extra, ["SEND wss://shop.test/chat (not recorded)"]);
}

#[test]
fn messages_in_another_order_get_their_own_answers() {
    let client = chat(false).client();
    assert_eq!(talk(&client, &["bye", "hello", "hello"]), ["you: bye", "you: hello", "you: hello"]);
    let answers: Vec<Answer> =
        client.episode.ledger().entries().into_iter().map(|entry| entry.answer).collect();
    let of = |numbers: &[u32]| {
        numbers.iter().map(|n| format!("SEND wss://shop.test/chat (message {n})")).collect()
    };
    let other = |missing: &[u32], extra: &[u32]| Answer::OtherState {
        missing: of(missing),
        extra: of(extra),
        of: Box::new(Answer::Exact),
    };
    assert_eq!(answers, [other(&[2], &[]), other(&[], &[3]), other(&[], &[3, 2])]);
}

#[test]
fn a_page_of_one_day_gets_the_socket_of_that_day() {
    let site = Site::new();
    for day in [1, 2] {
        site.page(SHOP, &format!("home {day}"));
        connect(&site, &[frame(1, FrameSide::Server, &format!("day {day}"))]);
        site.after(DAY);
    }
    let opened = |client: &Client| {
        let head = head("GET", "wss://shop.test/chat", &[("origin", "https://shop.test")]);
        let (script, answer) = client.replay.socket(&head, &client.episode).unwrap();
        assert_eq!(answer, Answer::Exact);
        format!("{:?}", script.frames)
    };
    let client = site.client();
    client.enter(SHOP);
    let later = Client { episode: at(RECORDED * 1000 + 2 * DAY), ..site.client() };
    later.enter(SHOP);
    for _ in 0..2 {
        assert!(opened(&client).contains("day 1") && opened(&later).contains("day 2"));
    }
}

#[test]
fn a_connection_is_that_in_which_it_was_said() {
    use FrameSide::{Client, Server};
    let site = Site::new();
    site.page(SHOP, "room");
    for word in ["hello", "bye"] {
        connect(
            &site,
            &[
                frame(1, Server, "welcome"),
                frame(900, Client, word),
                frame(901, Server, &format!("you: {word}")),
            ],
        );
        site.after(5000);
    }
    let client = site.client();
    client.enter(SHOP);
    assert_eq!(talk(&client, &["", "bye"]), ["welcome", "you: bye"]);
    assert!(client.episode.ledger().entries().is_empty());
}

#[test]
fn what_a_new_connection_says_shows_what_messages_did() {
    use FrameSide::{Client, Server};
    let site = Site::new();
    site.page(SHOP, "room");
    connect(
        &site,
        &[
            frame(1, Server, "nothing yet"),
            frame(900, Client, "hello"),
            frame(901, Server, "you: hello"),
        ],
    );
    site.after(5000);
    connect(&site, &[frame(1, Server, "hello")]);
    let client = site.client();
    client.enter(SHOP);
    let greeting = |client: &super::Client| {
        let head = head("GET", "wss://shop.test/chat", &[("origin", "https://shop.test")]);
        let (script, answer) = client.replay.socket(&head, &client.episode).unwrap();
        assert_eq!(answer, Answer::Exact);
        format!("{:?}", script.frames[0].payload)
    };
    assert!(greeting(&client).contains("nothing yet") && greeting(&client).contains("nothing yet"));
    assert_eq!(talk(&client, &["", "hello"]), ["nothing yet", "you: hello"]);
    assert!(greeting(&client).contains("hello"));
}
