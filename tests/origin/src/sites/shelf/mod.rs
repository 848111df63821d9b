//! `cdn.staticmile.test`: styles, scripts, pictures and sounds, with long freshness and open to
//! every origin.

use http::header;

use super::{Web, not_found};
use crate::call::Call;
use crate::data::cinema::Film;
use crate::data::homes::Home;
use crate::data::seed::Seed;
use crate::data::{LAST_EDITED, places};
use crate::reply::Reply;

mod sounds;
mod tiles;

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! style {
    ($($own:literal)?) => {
        concat!(include_str!("../../../assets/base.css") $(, include_str!(concat!("../../../assets/", $own)))?)
    };
}

pub(super) fn answer(web: &Web, call: &Call) -> Reply {
    let reply = match call.segments().as_slice() {
        ["rail", "site.css"] => Reply::of(CSS, style!("rail.css")),
        ["cinema", "site.css"] => Reply::of(CSS, style!("cinema.css")),
        ["homes", "site.css"] => Reply::of(CSS, style!("homes.css")),
        ["id", "site.css"] => Reply::of(CSS, style!("id.css")),
        ["rail", "site.js"] => Reply::of(SCRIPT, include_str!("../../../assets/rail.js")),
        ["cinema", "site.js"] => Reply::of(SCRIPT, include_str!("../../../assets/cinema.js")),
        ["homes", "site.js"] => Reply::of(SCRIPT, include_str!("../../../assets/homes.js")),
        ["posters", file] => picture(file, ".svg", |slug| {
            web.world.films.iter().find(|film| film.slug == slug).map(poster)
        }),
        ["photos", file] => picture(file, ".svg", |id| {
            let id: u32 = id.parse().ok()?;
            web.world.homes.iter().find(|home| home.id == id).map(photo)
        }),
        ["tiles", file] => match file.strip_suffix(".png").and_then(places::city) {
            Some(city) => Reply::of("image/png", tiles::map(city.slug)),
            None => return not_found(),
        },
        ["sounds", file] => {
            match file.strip_suffix(".wav").and_then(|name| sounds::named(name, &web.world.films)) {
                Some(wav) => Reply::of("audio/wav", wav).header(header::ACCEPT_RANGES, "bytes"),
                None => return not_found(),
            }
        }
        _ => return not_found(),
    };
    reply
        .header(header::CACHE_CONTROL, "public, max-age=86400")
        .header(header::LAST_MODIFIED, LAST_EDITED)
        .header(header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")
}

fn picture(file: &str, suffix: &str, draw: impl FnOnce(&str) -> Option<String>) -> Reply {
    file.strip_suffix(suffix).and_then(draw).map_or_else(not_found, |svg| Reply::of(SVG, svg))
}

/// A poster: a sky, a sun somewhere in it, hills, and the title in capitals.
fn poster(film: &Film) -> String {
    let mut draw = Seed::named(7, film.slug);
    let hue = draw.between(0, 359);
    let (sun_x, sun_y, sun) = (draw.between(40, 180), draw.between(60, 150), draw.between(22, 48));
    let hill = draw.between(190, 240);
    let words: String = film
        .title
        .to_uppercase()
        .split(' ')
        .zip(0u32..)
        .map(|(word, nth)| format!("<tspan x=\"110\" y=\"{}\">{word}</tspan>", 252 + nth * 17))
        .collect();
    let words = words.replace('\'', "&#39;");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 220 316\"><rect width=\"220\" height=\"316\" fill=\"hsl({hue},45%,22%)\"/>\
         <circle cx=\"{sun_x}\" cy=\"{sun_y}\" r=\"{sun}\" fill=\"hsl({},80%,68%)\"/>\
         <path d=\"M0 {hill} Q60 {} 120 {hill} T220 {} V316 H0z\" fill=\"hsl({hue},50%,12%)\"/>\
         <text text-anchor=\"middle\" font-family=\"Liberation Serif,serif\" font-size=\"15\" letter-spacing=\"2\" fill=\"#fff\">{words}</text></svg>",
        (hue + 40) % 360,
        hill - 40,
        hill - 15,
    )
}

/// A house front: as many windows as rooms, a door, a roof unless it is a flat.
fn photo(home: &Home) -> String {
    let mut draw = Seed::named(u64::from(home.id), "front");
    let (wall, roof) = (draw.between(10, 45), draw.between(0, 359));
    let windows: String = (0..home.rooms * 2)
        .map(|nth| {
            let (x, y) = (155 + nth % 5 * 36, 140 + nth / 5 * 60);
            format!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"22\" height=\"34\" fill=\"#ffe9b0\" stroke=\"#5a4636\"/>"
            )
        })
        .collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 480 300\"><rect width=\"480\" height=\"300\" fill=\"#cfe3ef\"/>\
         <rect y=\"260\" width=\"480\" height=\"40\" fill=\"#8fae7d\"/><rect x=\"140\" y=\"120\" width=\"200\" height=\"150\" fill=\"hsl({wall},42%,72%)\"/>\
         <path d=\"M128 122 240 {} 352 122z\" fill=\"hsl({roof},28%,38%)\"/>{windows}\
         <rect x=\"226\" y=\"222\" width=\"28\" height=\"48\" fill=\"hsl({roof},40%,28%)\"/></svg>",
        draw.between(50, 95),
    )
}
