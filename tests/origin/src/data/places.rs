//! Stations, lines between them, and cities.

use serde::Serialize;

/// A station of the national railway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Station {
    /// Three letters, as on boards.
    pub code: &'static str,
    /// The full name.
    pub name: &'static str,
    /// Opening line of its page.
    pub about: &'static str,
    /// Hours of the ticket office.
    pub office: &'static str,
    /// Number of platforms.
    pub platforms: u32,
    /// Bicycle parking spaces.
    pub bicycles: u32,
    /// Step-free from street to train.
    pub step_free: bool,
    /// Whether it has a live departure board on the web.
    pub board: bool,
}

/// A stop of a line: station code, minutes and kilometres from the start of the line.
pub type Stop = (&'static str, u16, u32);

/// A line, served in both directions.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Line {
    /// Its name in URLs.
    pub slug: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The kind of train, first part of every train number.
    pub kind: &'static str,
    /// The hundreds of its train numbers.
    pub series: u32,
    /// The stops outward.
    pub stops: &'static [Stop],
    /// Minutes by which trains outward and back leave after the times common to all lines, so that
    /// trains meet.
    pub offsets: (i16, i16),
    /// A colour for maps.
    pub colour: &'static str,
}

/// A city with a housing market of its own.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct City {
    /// Its name in URLs.
    pub slug: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The code of its main station.
    pub station: &'static str,
    /// Inhabitants.
    pub people: u32,
    /// What a visitor reads first.
    pub about: &'static str,
}

macro_rules! station {
    ($code:literal, $name:literal, $office:literal, $platforms:literal, $bicycles:literal, $step_free:literal, $board:literal, $about:literal) => {
        Station {
            code: $code,
            name: $name,
            about: $about,
            office: $office,
            platforms: $platforms,
            bicycles: $bicycles,
            step_free: $step_free,
            board: $board,
        }
    };
}

/// All stations, by name.
#[rustfmt::skip]
pub const STATIONS: [Station; 12] = [
    station!("ALD", "Aldport Central", "05:30 to 23:00", 9, 840, true, true, "The capital's terminus, under an iron roof of 1874."),
    station!("BRW", "Brackwater", "06:00 to 21:30", 5, 310, true, true, "Five minutes' walk from the ferry quay."),
    station!("CAR", "Carrow Junction", "06:00 to 22:00", 6, 120, true, true, "Where the Valley, Eastern and Northern lines meet."),
    station!("DUN", "Dunmere", "06:30 to 20:00", 4, 260, true, true, "The end of the Valley Line, by the lake."),
    station!("EAS", "Eastholm", "06:00 to 21:00", 4, 410, true, true, "Gateway to the eastern fens and the university."),
    station!("FEN", "Fenwick Bay", "08:00 to 18:00", 2, 90, true, false, "Beach on one side, market on the other."),
    station!("GRY", "Greyford", "07:00 to 19:00", 2, 75, false, false, "A small station among paper mills."),
    station!("HOL", "Hollin Cross", "unstaffed", 2, 40, false, false, "Change here for the buses to the Hollin moors."),
    station!("KEL", "Kelstow", "07:00 to 19:00", 3, 150, true, false, "A garden suburb on the Coast Line."),
    station!("LIN", "Lindale", "unstaffed", 2, 35, false, false, "A request stop until 1989, now with two platforms."),
    station!("MAR", "Marsh End", "unstaffed", 2, 30, true, false, "Bird reserve and lighthouse, both within a mile."),
    station!("ORM", "Ormsbeck", "07:00 to 18:30", 3, 110, true, false, "Northernmost station of the network."),
];

/// All lines.
pub const LINES: [Line; 4] = [
    Line {
        slug: "coast",
        name: "Coast Line",
        kind: "IC",
        series: 1,
        stops: &[
            ("ALD", 0, 0),
            ("KEL", 14, 17),
            ("BRW", 47, 68),
            ("MAR", 66, 91),
            ("FEN", 84, 113),
        ],
        offsets: (0, 15),
        colour: "#0b7a75",
    },
    Line {
        slug: "valley",
        name: "Valley Line",
        kind: "IC",
        series: 2,
        stops: &[("ALD", 0, 0), ("CAR", 38, 61), ("LIN", 59, 88), ("DUN", 86, 124)],
        offsets: (0, 15),
        colour: "#7a4b0b",
    },
    Line {
        slug: "eastern",
        name: "Eastern Main Line",
        kind: "RE",
        series: 3,
        stops: &[("CAR", 0, 0), ("HOL", 19, 24), ("GRY", 41, 55), ("EAS", 68, 97)],
        offsets: (70, -30),
        colour: "#5b2a86",
    },
    Line {
        slug: "northern",
        name: "Northern Link",
        kind: "RE",
        series: 4,
        stops: &[("BRW", 0, 0), ("CAR", 44, 52), ("ORM", 97, 128)],
        offsets: (30, -20),
        colour: "#a3293d",
    },
];

/// The cities of the property market.
pub const CITIES: [City; 4] = [
    City {
        slug: "aldport",
        name: "Aldport",
        station: "ALD",
        people: 412_000,
        about: "The capital: harbour quarters, tram lines and terraces up the hill.",
    },
    City {
        slug: "brackwater",
        name: "Brackwater",
        station: "BRW",
        people: 96_500,
        about: "A ferry town with brick warehouses turned into flats.",
    },
    City {
        slug: "dunmere",
        name: "Dunmere",
        station: "DUN",
        people: 58_200,
        about: "Lakeside streets, a spa, and the hills behind.",
    },
    City {
        slug: "eastholm",
        name: "Eastholm",
        station: "EAS",
        people: 121_300,
        about: "Canals, colleges and more bicycles than people.",
    },
];

/// The station with a code, in any case of letters.
pub fn station(code: &str) -> Option<&'static Station> {
    STATIONS.iter().find(|station| station.code.eq_ignore_ascii_case(code))
}

/// The name of a station; the code itself when there is none.
pub fn station_name(code: &str) -> &str {
    station(code).map_or(code, |station| station.name)
}

/// The line with a name in URLs.
pub fn line(slug: &str) -> Option<&'static Line> {
    LINES.iter().find(|line| line.slug == slug)
}

/// The city with a name in URLs.
pub fn city(slug: &str) -> Option<&'static City> {
    CITIES.iter().find(|city| city.slug == slug)
}
