//! `www.cityscreen.test`: films, cinemas, a search, and a service worker with a page for when the
//! network is gone.

use std::time::{Duration, SystemTime};

use http::{Method, StatusCode, header};
use serde::Deserialize;
use serde_json::json;

use super::{Web, not_allowed, reads, robots, sitemap};
use crate::call::Call;
use crate::data::WEEKEND;
use crate::data::cinema::{self, CINEMAS, Film, Screening};
use crate::data::places::station_name;
use crate::reply::Reply;

const HOST: &str = "www.cityscreen.test";
const HALF_A_YEAR: Duration = Duration::from_secs(180 * 86_400);

pub(super) fn answer(web: &Web, call: &Call) -> Reply {
    let segments = call.segments();
    match (&call.method, segments.as_slice()) {
        (&Method::POST, ["api", "search"]) => search(web, call),
        (&Method::POST, ["consent"]) => consent(call),
        (_, ["api", "search"] | ["consent"]) => not_allowed("POST"),
        _ if !reads(call) => not_allowed("GET, HEAD"),
        (_, []) => web.page("cinema/home.html", json!({ "films": web.world.films })),
        (_, ["films"]) => web.page("cinema/films.html", json!({ "films": web.world.films })),
        (_, ["films", slug]) => match find(web, slug) {
            Some(film) => web.page("cinema/film.html", json!({ "film": film, "days": WEEKEND })),
            None => missing(web),
        },
        (_, ["api", "films", slug, "screenings"]) => match find(web, slug) {
            Some(film) => screenings(web, film),
            None => Reply::json(&json!({ "error": "no such film" })).under(StatusCode::NOT_FOUND),
        },
        (_, ["cinemas"]) => web.page("cinema/cinemas.html", json!({ "cinemas": CINEMAS })),
        (_, ["cinemas", slug]) => programme(web, slug, call.param("day").unwrap_or(WEEKEND[0].0)),
        (_, ["cinemas", slug, "visit"]) => match cinema::cinema(slug) {
            Some(cinema) => web.page(
                "cinema/visit.html",
                json!({ "cinema": cinema, "station": station_name(cinema.station) }),
            ),
            None => missing(web),
        },
        (_, ["search"]) => web.page("cinema/search.html", json!({})),
        (_, [page @ ("about" | "privacy" | "offline")]) => text(web, page),
        (_, ["sw.js"]) => {
            Reply::of("text/javascript; charset=utf-8", include_str!("../../assets/sw.js"))
                .header(header::CACHE_CONTROL, "no-cache")
        }
        (_, ["robots.txt"]) => robots(HOST),
        (_, ["sitemap.xml"]) => sitemap(HOST, &paths(web)),
        _ => missing(web),
    }
}

/// Every page that has an address of its own.
pub(super) fn paths(web: &Web) -> Vec<String> {
    let mut paths: Vec<String> =
        ["/", "/films", "/cinemas", "/about", "/privacy"].map(str::to_owned).into();
    paths.extend(web.world.films.iter().map(|film| format!("/films/{}", film.slug)));
    for cinema in &CINEMAS {
        paths.extend(WEEKEND.iter().map(|(day, _)| format!("/cinemas/{}?day={day}", cinema.slug)));
    }
    paths
}

fn find<'a>(web: &'a Web, slug: &str) -> Option<&'a Film> {
    web.world.films.iter().find(|film| film.slug == slug)
}

fn missing(web: &Web) -> Reply {
    text(web, "missing").under(StatusCode::NOT_FOUND)
}

fn text(web: &Web, page: &str) -> Reply {
    let (heading, paragraphs): (&str, &[&str]) = match page {
        "about" => (
            "About Cityscreen",
            &[
                "Cityscreen prints the weekend programme of every cinema in Aldria, as it has since 1952, only no longer on paper.",
            ],
        ),
        "privacy" => (
            "Privacy",
            &[
                "One cookie remembers whether you let us count visits. It is gone after half a year, or when you clear it.",
            ],
        ),
        "offline" => (
            "No network",
            &["The projector is running, but the network is not. This page was kept for you."],
        ),
        _ => (
            "Nothing on this screen",
            &["There is no page at this address. The films are one door further."],
        ),
    };
    web.page(
        "cinema/text.html",
        json!({ "page": page, "heading": heading, "paragraphs": paragraphs }),
    )
}

fn programme(web: &Web, slug: &str, day: &str) -> Reply {
    let known = WEEKEND.iter().find(|(date, _)| *date == day);
    let (Some(cinema), Some((day, _))) = (cinema::cinema(slug), known) else { return missing(web) };
    let shown =
        web.world.screenings.iter().filter(|one| one.cinema == cinema.slug && one.day == *day);
    let screenings: Vec<_> = shown
        .map(|one| {
            let title = find(web, one.film).map(|film| film.title);
            json!({ "time": one.time, "film": one.film, "title": title, "screen": one.screen, "price": one.price, "note": one.note })
        })
        .collect();
    web.page(
        "cinema/cinema.html",
        json!({ "cinema": cinema, "day": day, "days": WEEKEND, "screenings": screenings }),
    )
}

fn screenings(web: &Web, film: &Film) -> Reply {
    let mut shown: Vec<&Screening> =
        web.world.screenings.iter().filter(|one| one.film == film.slug).collect();
    shown.sort_by_key(|one| (one.day, one.time, one.cinema));
    let rows: Vec<_> = shown
        .into_iter()
        .filter_map(|one| {
            let at = cinema::cinema(one.cinema)?;
            Some(json!({
                "day": one.day, "time": one.time, "cinema": at.slug, "name": at.name, "city": at.city, "price": one.price, "note": one.note,
            }))
        })
        .collect();
    Reply::json(&rows)
}

#[derive(Deserialize)]
struct FilmSearch {
    q: String,
}

fn search(web: &Web, call: &Call) -> Reply {
    let Ok(search) = serde_json::from_slice::<FilmSearch>(&call.body) else {
        return Reply::json(&json!({ "error": "q is wanted" }))
            .under(StatusCode::UNPROCESSABLE_ENTITY);
    };
    let found: Vec<_> = cinema::search(&web.world.films, &search.q)
        .into_iter()
        .map(|film| json!({ "slug": film.slug, "title": film.title, "genre": film.genre, "director": film.director }))
        .collect();
    Reply::json(&found)
}

/// Remembers the choice for half a year, by an absolute date as many sites still do.
fn consent(call: &Call) -> Reply {
    let form = call.form();
    let choice = form.iter().find(|(name, _)| name == "choice").map(|(_, value)| value.as_str());
    let Some(choice @ ("accept" | "decline")) = choice else {
        return Reply::status(StatusCode::BAD_REQUEST);
    };
    let expires = httpdate::fmt_http_date(SystemTime::now() + HALF_A_YEAR);
    Reply::status(StatusCode::NO_CONTENT).header(
        header::SET_COOKIE,
        &format!("consent={choice}; Expires={expires}; Path=/; Secure; SameSite=Lax"),
    )
}
