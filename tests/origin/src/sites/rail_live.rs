//! What moves at the railway: the live board (WebSocket), free seats (server-sent events) and the
//! text timetable (a slow, chunked page on plain HTTP).

use http::{StatusCode, header};
use serde_json::json;

use super::Web;
use crate::call::Call;
use crate::data::places::{self, STATIONS};
use crate::data::rail::{self, Train};
use crate::reply::{Content, Piece, Reply};

/// `live.aldria-rail.test/board/<CODE>`: first the bare board, then platform and status of each
/// train, then a last word.
pub(super) fn board(web: &Web, call: &Call) -> Reply {
    let segments = call.segments();
    let ["board", code] = segments.as_slice() else { return Reply::status(StatusCode::NOT_FOUND) };
    let Some(station) = places::station(code).filter(|station| station.board) else {
        return Reply::status(StatusCode::NOT_FOUND);
    };
    let departures = rail::board(&web.world.trains, station.code);
    let rows: Vec<_> = departures
        .iter()
        .map(|one| json!({ "time": one.time, "train": one.train, "slug": one.slug, "to": one.to }))
        .collect();
    let mut messages = vec![Piece::new(40, json!({ "kind": "board", "rows": rows }).to_string())];
    messages.extend(departures.iter().map(|one| {
        Piece::new(
            30,
            json!({ "kind": "update", "train": one.train, "platform": one.platform, "status": one.status })
                .to_string(),
        )
    }));
    messages
        .push(Piece::new(40, json!({ "kind": "settled", "count": departures.len() }).to_string()));
    Reply::with_content("", Content::WebSocket(messages))
}

/// One event a coach, then `done`, at which the page closes the stream.
pub(super) fn seats(train: &Train) -> Reply {
    let mut events = vec![Piece::new(0, "retry: 60000\n\n")];
    for (nth, coach) in train.coaches.iter().enumerate() {
        let data = json!({ "letter": coach.letter, "kind": coach.kind, "seats": coach.seats, "free": coach.free });
        events.push(Piece::new(60, format!("id: {nth}\nevent: coach\ndata: {data}\n\n")));
    }
    events.push(Piece::new(60, "event: done\ndata: {}\n\n"));
    Reply::with_content("text/event-stream", Content::Pieces(events))
        .header(header::CACHE_CONTROL, "no-store")
}

/// `text.aldria-rail.test`: the whole timetable as plain text, for telephones with buttons.
pub(super) fn text(web: &Web) -> Reply {
    let pieces = STATIONS
        .iter()
        .map(|station| {
            let mut text = format!("{}\n", station.name.to_uppercase());
            for row in rail::board(&web.world.trains, station.code) {
                text.push_str(&format!("  {}  {}  {}\n", row.time, row.train, row.to));
            }
            Piece::new(5, text + "\n")
        })
        .collect();
    Reply::with_content("text/plain; charset=utf-8", Content::Pieces(pieces))
        .header(header::CACHE_CONTROL, "no-cache")
}
