//! The addresses that a recording of the demo web has to visit.
//!
//! Every page of the sitemaps; every answer to the forms of the sites that a task leads to, and to
//! their natural wrong turns; and the redirects. A form posts by itself when its fields stand in
//! the address (`&book=1`, `?consent=accept`), as links in mails do, so that visiting is enough and
//! nothing need be typed.

use super::{Web, cinema, homes, rail};
use crate::data::WEEKEND;
use crate::data::places::{CITIES, STATIONS};

const RAIL: &str = "https://www.aldria-rail.test";
const CINEMA: &str = "https://www.cityscreen.test";
const HOMES: &str = "https://www.hearthside.test";

/// Journeys are recorded between all pairs of these, and between Aldport Central and every station.
const BUSY: [&str; 6] = ["ALD", "BRW", "CAR", "DUN", "EAS", "KEL"];

/// What people would type into the film search, besides titles in full.
const SEARCHES: [&str; 22] = [
    "salt",
    "salt road",
    "the salt road",
    "valdane",
    "Imre Valdane",
    "oduya",
    "Oduya",
    "carla oduya",
    "Carla Oduya",
    "carla oduya thriller",
    "Carla Oduya thriller",
    "thriller",
    "Thriller",
    "comedy",
    "drama",
    "Merrin",
    "nine minutes to dawn",
    "glasshouse",
    "lantern",
    "umbrellas",
    "Junction Electric",
    "Harbour Picturehouse",
];

/// The home whose viewing can be booked in a recording, and under which name.
const VIEWED: (&str, &str) = ("31 Ferry Square", "Ada Marsh");

impl Web {
    /// All addresses, in an order in which they can be visited: pages with a session come after its
    /// beginning.
    pub fn addresses(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut add = |host: &str, paths: Vec<String>| {
            all.extend(paths.into_iter().map(|path| format!("{host}{path}")))
        };
        add(RAIL, rail::paths(self));
        add(RAIL, journeys());
        add(RAIL, quotes());
        add(
            RAIL,
            ["/timetable", "/go/ald", "/robots.txt", "/nowhere", "/account"]
                .map(str::to_owned)
                .into(),
        );
        add("https://id.passgate.test", vec!["/continue?client=aldria-rail".to_owned()]);
        add(RAIL, vec!["/account/leave".to_owned()]);
        add(CINEMA, cinema::paths(self));
        add(CINEMA, self.searches());
        add(
            CINEMA,
            ["/robots.txt", "/nowhere", "/privacy?consent=decline", "/privacy?consent=accept"]
                .map(str::to_owned)
                .into(),
        );
        add(HOMES, homes::paths(self));
        add(HOMES, results());
        add(HOMES, self.viewings());
        add(HOMES, ["/robots.txt", "/nowhere"].map(str::to_owned).into());
        add("https://clock.meridian.test", vec!["/determinism".to_owned()]);
        add("https://aldria-rail.test", vec!["/".to_owned()]);
        add("http://www.aldria-rail.test", vec!["/".to_owned()]);
        add("http://text.aldria-rail.test", vec!["/".to_owned()]);
        all
    }

    fn searches(&self) -> Vec<String> {
        let titles = self.world.films.iter().map(|film| film.title);
        titles.chain(SEARCHES).map(|words| format!("/search?{}", query(&[("q", words)]))).collect()
    }

    /// The viewing of the task on each day and at each time, with and without its checkbox on the
    /// day of the task.
    fn viewings(&self) -> Vec<String> {
        let (address, name) = VIEWED;
        let Some(home) = self.world.homes.iter().find(|home| home.address == address) else {
            return Vec::new();
        };
        let mut addresses = Vec::new();
        for (day, _) in WEEKEND {
            for time in ["10:00", "11:30", "14:00"] {
                for first in [&[("first", "yes")][..], &[]] {
                    let fields =
                        [&[("day", day), ("time", time), ("name", name)], first, &[("book", "1")]]
                            .concat();
                    if day == WEEKEND[1].0 || (time == "11:30" && !first.is_empty()) {
                        addresses.push(format!("/homes/{}?{}", home.id, query(&fields)));
                    }
                }
            }
        }
        addresses
    }
}

fn query(fields: &[(&str, &str)]) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

fn journeys() -> Vec<String> {
    let mut pairs: Vec<(&str, &str)> =
        BUSY.iter().flat_map(|from| BUSY.iter().map(move |to| (*from, *to))).collect();
    for station in STATIONS.iter().filter(|station| !BUSY.contains(&station.code)) {
        pairs.extend([("ALD", station.code), (station.code, "ALD")]);
    }
    pairs
        .iter()
        .map(|(from, to)| format!("/journeys?{}", query(&[("from", from), ("to", to)])))
        .collect()
}

/// Every kind of ticket between two cities, and the two mistakes one makes on the way: the wrong
/// direction and an untouched form.
fn quotes() -> Vec<String> {
    let mut quotes = vec![
        "/fares/quote?from=ALD&to=DUN&class=standard&ticket=single".to_owned(),
        "/fares/quote?from=EAS&to=BRW&class=first&ticket=return&railcard=yes".to_owned(),
    ];
    for class in ["standard", "first"] {
        for ticket in ["single", "return"] {
            for railcard in ["", "&railcard=yes"] {
                quotes.push(format!(
                    "/fares/quote?from=BRW&to=EAS&class={class}&ticket={ticket}{railcard}"
                ));
            }
        }
    }
    quotes
}

/// Every combination of the search form.
fn results() -> Vec<String> {
    let mut results = Vec::new();
    for city in &CITIES {
        for rooms in 1..=4 {
            for sort in ["newest", "price", "area"] {
                results.push(format!("/homes?city={}&rooms={rooms}&sort={sort}", city.slug));
            }
        }
    }
    results
}
