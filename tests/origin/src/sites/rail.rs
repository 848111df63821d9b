//! `www.aldria-rail.test`: timetable, journey planner, fares and a guest account.

use http::{Method, StatusCode, header};
use serde::Deserialize;
use serde_json::json;

use super::{Web, not_allowed, rail_live, reads, robots, sitemap};
use crate::call::Call;
use crate::data::fares::{self, Ticket};
use crate::data::places::{self, LINES, Line, STATIONS, station_name};
use crate::data::rail::{self, Train};
use crate::reply::Reply;

const HOST: &str = "www.aldria-rail.test";
const POLICY: &str = "default-src 'self' https://cdn.staticmile.test; connect-src 'self' wss://live.aldria-rail.test; \
                      img-src 'self' data:; style-src 'self' 'unsafe-inline' https://cdn.staticmile.test";

/// Pairs of stations offered on the front page.
const POPULAR: [(&str, &str); 6] = [
    ("ALD", "BRW"),
    ("ALD", "DUN"),
    ("ALD", "EAS"),
    ("BRW", "ALD"),
    ("DUN", "ALD"),
    ("EAS", "ALD"),
];

const TOPICS: [(&str, &str, &[&str]); 4] = [
    (
        "bicycles",
        "Bicycles on trains",
        &[
            "A bicycle travels in coach E for 3.50 pounds on any train with free seats there.",
            "Folded bicycles are luggage. Tandems travel on the Northern Link only, and only after nine in the morning.",
        ],
    ),
    (
        "refunds",
        "Delays and refunds",
        &[
            "A quarter of the fare comes back from 30 minutes of delay, half of it from 60 minutes.",
            "If your train is cancelled, any other train of the day is yours to take without paying more.",
        ],
    ),
    (
        "accessibility",
        "Accessibility",
        &[
            "Call the station two hours ahead and somebody will wait at the door of your coach.",
            "Announcements begin with the chime below, spoken ones follow it after a second.",
        ],
    ),
    (
        "lost-property",
        "Lost property",
        &[
            "What is found on trains waits for seven days at Carrow Junction, then at Aldport Central for three months.",
            "What nobody fetches is sold on the first Saturday of June. Umbrellas fill the whole of platform 9.",
        ],
    ),
];

pub(super) fn answer(web: &Web, call: &Call) -> Reply {
    let segments = call.segments();
    let reply = match (&call.method, segments.as_slice()) {
        (&Method::POST, ["api", "journeys"]) => journeys(web, call),
        (_, ["api", "journeys"]) => not_allowed("POST"),
        _ if !reads(call) => not_allowed("GET, HEAD"),
        (_, []) => home(web),
        (_, ["stations"]) => web.page("rail/stations.html", json!({ "stations": STATIONS })),
        (_, ["stations", code]) => station(web, code),
        (_, ["stations", code, "live"]) => {
            match places::station(code).filter(|station| station.board) {
                Some(station) => web.page("rail/live.html", json!({ "station": station })),
                None => missing(web),
            }
        }
        (_, ["journeys"]) => web.page("rail/journeys.html", json!({})),
        (_, ["lines"]) => lines(web),
        (_, ["lines", slug]) => {
            places::line(slug).map_or_else(|| missing(web), |one| line(web, one))
        }
        (_, ["trains", slug]) => {
            find(web, slug).map_or_else(|| missing(web), |one| train(web, one))
        }
        (_, ["trains", slug, "seats"]) => {
            find(web, slug).map_or_else(|| missing(web), rail_live::seats)
        }
        (_, ["fares"]) => web.page("rail/fares.html", json!({ "stations": STATIONS })),
        (_, ["fares", "quote"]) => web.page("rail/quote.html", json!({})),
        (_, ["api", "fare"]) => fare(call),
        (_, ["help"]) => web.page("rail/help.html", json!({ "topics": topics() })),
        (_, ["help", slug]) => match topics().into_iter().find(|topic| topic["slug"] == *slug) {
            Some(topic) => web.page("rail/topic.html", json!({ "topic": topic })),
            None => missing(web),
        },
        (_, ["account", rest @ ..]) => account(web, call, rest),
        (_, ["timetable"]) => Reply::redirect(StatusCode::MOVED_PERMANENTLY, "/lines"),
        (_, ["go", code]) => match places::station(code) {
            Some(station) => Reply::redirect(
                StatusCode::FOUND,
                &format!("/stations/{}", station.code.to_lowercase()),
            ),
            None => missing(web),
        },
        (_, ["robots.txt"]) => robots(HOST),
        (_, ["sitemap.xml"]) => sitemap(HOST, &paths(web)),
        _ => missing(web),
    };
    reply.header(header::CONTENT_SECURITY_POLICY, POLICY)
}

/// Every page that has an address of its own.
pub(super) fn paths(web: &Web) -> Vec<String> {
    let mut paths: Vec<String> =
        ["/", "/stations", "/lines", "/fares", "/help"].map(str::to_owned).into();
    for station in &STATIONS {
        let code = station.code.to_lowercase();
        paths.push(format!("/stations/{code}"));
        if station.board {
            paths.push(format!("/stations/{code}/live"));
        }
    }
    paths.extend(LINES.iter().map(|line| format!("/lines/{}", line.slug)));
    paths.extend(web.world.trains.iter().map(|train| format!("/trains/{}", train.slug)));
    paths.extend(TOPICS.iter().map(|(slug, ..)| format!("/help/{slug}")));
    paths
}

fn missing(web: &Web) -> Reply {
    web.page("rail/missing.html", json!({})).under(StatusCode::NOT_FOUND)
}

fn find<'a>(web: &'a Web, slug: &str) -> Option<&'a Train> {
    web.world.trains.iter().find(|train| train.slug == slug)
}

fn topics() -> Vec<serde_json::Value> {
    TOPICS
        .iter()
        .map(|(slug, title, paragraphs)| json!({ "slug": slug, "title": title, "paragraphs": paragraphs }))
        .collect()
}

fn home(web: &Web) -> Reply {
    let popular = POPULAR.map(|(from, to)| [from, to, station_name(from), station_name(to)]);
    web.page("rail/home.html", json!({ "stations": STATIONS, "popular": popular }))
        .header(header::SET_COOKIE, "visit=1; Max-Age=86400; Path=/; Secure; SameSite=Lax")
}

fn station(web: &Web, code: &str) -> Reply {
    let Some(station) = places::station(code) else { return missing(web) };
    let lines: Vec<&Line> =
        LINES.iter().filter(|line| line.stops.iter().any(|stop| stop.0 == station.code)).collect();
    let departures = rail::board(&web.world.trains, station.code);
    web.page(
        "rail/station.html",
        json!({ "station": station, "lines": lines, "departures": departures }),
    )
}

fn lines(web: &Web) -> Reply {
    let lines: Vec<_> = LINES
        .iter()
        .map(|line| {
            let ends: Vec<&str> = line.stops.iter().map(|stop| station_name(stop.0)).collect();
            json!({ "slug": line.slug, "name": line.name, "colour": line.colour, "ends": ends.join(", ") })
        })
        .collect();
    web.page("rail/lines.html", json!({ "lines": lines }))
}

fn line(web: &Web, line: &Line) -> Reply {
    let of_line: Vec<&Train> =
        web.world.trains.iter().filter(|train| train.line == line.slug).collect();
    // Both directions call at the same stations, each in its own order.
    let ways: Vec<_> = of_line
        .chunk_by(|one, two| one.calls[0].code == two.calls[0].code)
        .map(|trains| {
            let stops = &trains[0].calls;
            let rows: Vec<_> = (0..stops.len())
                .map(|nth| {
                    let times: Vec<_> = trains
                        .iter()
                        .map(|train| train.calls[nth].depart.or(train.calls[nth].arrive))
                        .collect();
                    json!({ "station": stops[nth].station, "times": times })
                })
                .collect();
            let title = format!("{} to {}", stops[0].station, stops[stops.len() - 1].station);
            json!({ "title": title, "trains": trains, "rows": rows })
        })
        .collect();
    web.page("rail/line.html", json!({ "line": line, "ways": ways }))
}

fn train(web: &Web, train: &Train) -> Reply {
    let line = places::line(train.line);
    let (first, last) =
        (train.calls.first().map(|call| call.station), train.calls.last().map(|call| call.station));
    web.page(
        "rail/train.html",
        json!({ "train": train, "line": line, "first": first, "last": last }),
    )
}

#[derive(Deserialize)]
struct JourneySearch {
    from: String,
    to: String,
    date: String,
}

fn journeys(web: &Web, call: &Call) -> Reply {
    let refused = |error: &str| {
        Reply::json(&json!({ "error": error })).under(StatusCode::UNPROCESSABLE_ENTITY)
    };
    let Ok(search) = serde_json::from_slice::<JourneySearch>(&call.body) else {
        return refused("from, to and date are wanted");
    };
    let (Some(from), Some(to)) = (places::station(&search.from), places::station(&search.to))
    else {
        return refused("Please choose two stations");
    };
    if from.code == to.code {
        return refused("You are there already");
    }
    let journeys = rail::journeys(&web.world.trains, from.code, to.code);
    Reply::json(
        &json!({ "from": from.name, "to": to.name, "date": search.date, "journeys": journeys }),
    )
}

fn fare(call: &Call) -> Reply {
    let (from, to) = (call.param("from").unwrap_or_default(), call.param("to").unwrap_or_default());
    let ticket = Ticket {
        first: call.param("class") == Some("first"),
        back: call.param("ticket") == Some("return"),
        railcard: call.param("railcard") == Some("yes"),
    };
    let (Some(km), Some(pence)) = (fares::kilometres(from, to), fares::pence(from, to, ticket))
    else {
        return Reply::json(&json!({ "error": "Please choose two different stations" }))
            .under(StatusCode::UNPROCESSABLE_ENTITY);
    };
    let lines = json!([
        ["Journey", format!("{} to {}", station_name(from), station_name(to))],
        ["Distance", format!("{km} km")],
        ["Class", if ticket.first { "First class" } else { "Standard class" }],
        ["Ticket", if ticket.back { "Return" } else { "Single" }],
        ["Railcard", if ticket.railcard { "yes, a quarter off" } else { "no" }],
        ["Fare", format!("£{}", fares::pounds(pence))],
    ]);
    Reply::json(&json!({ "lines": lines }))
}

/// Signing in happens on another host, which sends the visitor back to `/account/callback`.
fn account(web: &Web, call: &Call, rest: &[&str]) -> Reply {
    let signed_in = call.cookie("rail_session") == Some("guest");
    match rest {
        [] if signed_in => Reply::redirect(StatusCode::FOUND, "/account/trips"),
        [] => Reply::redirect(
            StatusCode::FOUND,
            "https://id.passgate.test/authorize?client=aldria-rail",
        ),
        ["callback"] if call.param("code") == Some("guest-7f3a") => {
            Reply::redirect(StatusCode::FOUND, "/account/trips").header(
                header::SET_COOKIE,
                "rail_session=guest; Max-Age=1800; Path=/; HttpOnly; Secure; SameSite=Lax",
            )
        }
        ["trips"] if signed_in => web
            .page("rail/trips.html", json!({ "trips": trips(web) }))
            .header(header::VARY, "Cookie"),
        ["leave"] => Reply::redirect(StatusCode::SEE_OTHER, "/").header(
            header::SET_COOKIE,
            "rail_session=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax",
        ),
        ["trips"] => Reply::redirect(StatusCode::FOUND, "/account"),
        _ => missing(web),
    }
}

/// The guest's bookings: the second and the last-but-one train of the day.
fn trips(web: &Web) -> Vec<serde_json::Value> {
    let trains = &web.world.trains;
    [(1, "QK7-204"), (trains.len() - 2, "QK7-391")]
        .into_iter()
        .filter_map(|(nth, booking)| {
            let train = trains.get(nth)?;
            let (first, last) = (train.calls.first()?, train.calls.last()?);
            Some(json!({
                "booking": booking,
                "train": train.number,
                "slug": train.slug,
                "journey": format!("{} {} to {}", first.depart?, first.station, last.station),
                "seat": "coach B, seat 34",
            }))
        })
        .collect()
}
