//! Plays back a recorded WebSocket to a client.
//!
//! The server's frames up to the next client frame are sent at once. Then playback waits for a
//! client message, and goes on behind the recorded message that is equal to it. If that is not the
//! next one, or none is equal, the ledger says so. Recorded delays are not reproduced: a page under
//! virtual time would not notice them.

use futures_util::{SinkExt, StreamExt};
use in_flight::InFlight;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::sync::CancellationToken;

use super::script::{Heard, Position, SentWrite};
use super::{Payload, SocketScript, config};
use crate::replay::Standing;
use crate::{Answer, Entry, Episode};

/// Plays a connection to a client until it closes, or the gateway stops.
pub(crate) async fn play(
    client: impl AsyncRead + AsyncWrite + Unpin,
    script: &SocketScript,
    max_message: usize,
    context: PlaybackContext<'_>,
    cut: &CancellationToken,
) {
    let socket =
        WebSocketStream::from_raw_socket(client, Role::Server, Some(config(max_message))).await;
    tokio::select! {
        () = turns(socket, script, context) => {}
        () = cut.cancelled() => {}
    }
}

/// Where a playback reports.
pub(crate) struct PlaybackContext<'a> {
    pub(crate) in_flight: &'a InFlight,
    pub(crate) episode: &'a Episode,
    pub(crate) url: &'a str,
}

async fn turns<S>(
    mut socket: WebSocketStream<S>,
    script: &SocketScript,
    context: PlaybackContext<'_>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut position = Position::new(script);
    let mut turn = position.server_turn();
    context.in_flight.servers_released().await;
    let mut due = PendingFrames::new(context.in_flight, turn.len());
    loop {
        for payload in turn {
            let message = payload.into_message();
            let closing = message.is_close();
            context.in_flight.frames_released().await;
            if !closing {
                // Counted before it is sent, because the client may report the arrival before this
                // task continues.
                context.in_flight.frame_sent();
            }
            if socket.send(message).await.is_err() || closing {
                // After a close the client's reply is read, so that it sees a clean close.
                drop(due);
                while let Some(Ok(_)) = socket.next().await {}
                return;
            }
        }
        drop(due);
        let Some(said) = client_says(&mut socket).await else { return };
        let Heard { answer, write } =
            position.hear(&said, context.url, &context.episode.page_clock().now());
        turn = position.server_turn();
        due = PendingFrames::new(context.in_flight, turn.len());
        if let Some(write) = write {
            context.written(script, write);
        }
        // Counted only now, so that at no moment the client's message is counted but the frames
        // that follow it are not yet due.
        context.in_flight.frame_received();
        if let Some(answer) = answer {
            context.differed(&said, answer);
        }
    }
}

/// The client's next text or binary message; `None` when it closes.
async fn client_says<S>(socket: &mut WebSocketStream<S>) -> Option<Payload>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    loop {
        match socket.next().await? {
            Ok(Message::Close(_)) | Err(_) => {
                // Reading on brings the closing handshake to its end.
                while let Some(Ok(_)) = socket.next().await {}
                return None;
            }
            Ok(message) => {
                if let Some(payload) = Payload::of(&message) {
                    return Some(payload);
                }
            }
        }
    }
}

impl PlaybackContext<'_> {
    /// Notes a message that may change what its site shows.
    fn written(&self, script: &SocketScript, write: SentWrite) {
        let writes = &script.writes;
        self.episode.stand(&writes.site, Standing::at(&writes.before), |standing| match write {
            SentWrite::Known(number) => standing.make(number),
            SentWrite::Unknown => {
                standing.make_unknown(format!("SEND {} (not recorded)", self.url))
            }
        });
    }

    fn differed(&self, said: &Payload, answer: Answer) {
        let bytes = match said {
            Payload::Text(text) => text.len(),
            Payload::Binary(bytes) => bytes.len(),
            Payload::Close { .. } => 0,
        };
        tracing::warn!(url = self.url, bytes, "a WebSocket frame is not the recorded one");
        let ledger = self.episode.ledger();
        ledger.push(Entry {
            seq: ledger.next_seq(),
            method: "FRAME".to_owned(),
            url: self.url.to_owned(),
            status: 0,
            answer,
            capture: None,
            bytes: bytes as u64,
            destination: Some("websocket".to_owned()),
            took_ms: None,
        });
    }
}

/// Frames counted as due until they are sent or given up.
struct PendingFrames<'a> {
    in_flight: &'a InFlight,
    frames: usize,
}

impl<'a> PendingFrames<'a> {
    fn new(in_flight: &'a InFlight, frames: usize) -> Self {
        in_flight.add_frames(frames);
        Self { in_flight, frames }
    }
}

impl Drop for PendingFrames<'_> {
    fn drop(&mut self) {
        self.in_flight.remove_frames(self.frames);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::super::script::BY_COUNT;
    use super::super::{Side, SocketFrame};
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    fn text(from: Side, text: &str) -> SocketFrame {
        SocketFrame { at_ms: 0, from, payload: Payload::Text(text.to_owned()) }
    }

    fn close() -> SocketFrame {
        let payload = Payload::Close { code: 1000, reason: "done".to_owned() };
        SocketFrame { at_ms: 0, from: Side::Server, payload }
    }

    /// Plays `frames` to a client that sends `says` one by one, each after it has read the frames
    /// recorded before it. Checks what it read, and the answers in the ledger.
    async fn check(frames: Vec<SocketFrame>, says: &[&str], expect: &[&str], noted: &[Answer]) {
        let (client, server) = tokio::io::duplex(1 << 16);
        let (in_flight, episode, cut) =
            (InFlight::default(), Episode::new(), CancellationToken::new());
        let context =
            PlaybackContext { in_flight: &in_flight, episode: &episode, url: "wss://shop.test/" };
        let turns: Vec<usize> = frames
            .split(|frame| frame.from == Side::Client)
            .map(|turn| turn.iter().filter(|frame| frame.from == Side::Server).count())
            .collect();
        let talk = async {
            let mut socket = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
            let mut read = Vec::new();
            for (turn, count) in turns.iter().enumerate() {
                for _ in 0..*count {
                    let message = timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap();
                    read.push(
                        message.to_text().map_or_else(|_| "binary".to_owned(), str::to_owned),
                    );
                }
                if let Some(say) = says.get(turn) {
                    socket.send(Message::text(*say)).await.unwrap();
                }
            }
            let _ = socket.close(None).await;
            while let Some(Ok(_)) = socket.next().await {}
            read
        };
        let script = SocketScript { frames, ..SocketScript::default() };
        let played = play(server, &script, 1 << 20, context, &cut);
        let ((), read) = timeout(PATIENCE, async { tokio::join!(played, talk) }).await.unwrap();
        assert_eq!(read, expect);
        let answers: Vec<_> =
            episode.ledger().entries().into_iter().map(|entry| entry.answer).collect();
        assert_eq!(answers, noted);
        in_flight.idle(PATIENCE).await.unwrap();
    }

    #[tokio::test]
    async fn the_servers_frames_come_up_to_the_clients_turn() {
        use Side::{Client, Server};
        let frames = vec![
            text(Server, "welcome"),
            text(Server, "tick"),
            text(Client, "buy"),
            text(Server, "bought"),
            close(),
        ];
        check(frames, &["buy"], &["welcome", "tick", "bought", "done"], &[]).await;
    }

    #[tokio::test]
    async fn a_frame_that_differs_is_taken_and_noted() {
        use Side::{Client, Server};
        let frames = vec![text(Client, "buy 1"), text(Server, "bought 1")];
        let by_count = Answer::Normalised { rules: vec![BY_COUNT.to_owned()] };
        check(frames, &["buy 2"], &["bought 1"], &[by_count]).await;
    }

    #[tokio::test]
    async fn a_frame_beyond_the_recording_is_a_miss() {
        let frames = vec![text(Side::Server, "welcome")];
        check(frames, &["hello?"], &["welcome"], &[Answer::Miss { near: Vec::new() }]).await;
    }

    #[tokio::test]
    async fn the_gateways_end_ends_a_waiting_playback() {
        let (_client, server) = tokio::io::duplex(1 << 16);
        let (in_flight, episode, cut) =
            (InFlight::default(), Episode::new(), CancellationToken::new());
        let context =
            PlaybackContext { in_flight: &in_flight, episode: &episode, url: "wss://shop.test/" };
        cut.cancel();
        let frames = vec![text(Side::Client, "never")];
        let script = SocketScript { frames, ..SocketScript::default() };
        let played = play(server, &script, 1 << 20, context, &cut);
        timeout(PATIENCE, played).await.unwrap();
    }
}
