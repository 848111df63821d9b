//! The invented country of Aldria as data: everything the pages show, made from one seed.
//!
//! Each kind of thing draws from a stream of its own ([`seed::Seed::named`]), so adding a film does
//! not move a house. What people would look up (names of places, lines, films) is written by hand;
//! what there is much of (trains, screenings, homes, forecasts) is generated.

pub mod cinema;
pub mod clock;
pub mod fares;
pub mod homes;
pub mod places;
pub mod rail;
pub mod seed;
pub mod shops;
pub mod weather;

/// The day the sites were last edited, as an HTTP date.
pub const LAST_EDITED: &str = "Tue, 10 Mar 2026 06:00:00 GMT";

/// The day every timetable, board and seat map is for.
pub const TODAY: &str = "2026-03-12";

/// The days with screenings and viewings: Friday to Sunday.
pub const WEEKEND: [(&str, &str); 3] = [
    ("2026-03-13", "Friday 13 March"),
    ("2026-03-14", "Saturday 14 March"),
    ("2026-03-15", "Sunday 15 March"),
];

/// Which content is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// What the demo snapshot holds.
    Original,
    /// Other trains, prices, ratings and weather, and a notice on every page: what a live web does
    /// to an evaluation.
    Changed,
}

/// All data of one variant.
#[derive(Debug)]
pub struct World {
    /// Which content this is.
    pub variant: Variant,
    /// All trains of [`TODAY`], by line and departure.
    pub trains: Vec<rail::Train>,
    /// All films.
    pub films: Vec<cinema::Film>,
    /// All screenings of [`WEEKEND`], by cinema, day and time.
    pub screenings: Vec<cinema::Screening>,
    /// All homes on the market, newest first.
    pub homes: Vec<homes::Home>,
    /// Forecasts by city.
    pub forecasts: Vec<weather::Forecast>,
}

impl World {
    /// Makes the data of a variant.
    pub fn new(variant: Variant) -> World {
        let seed = match variant {
            Variant::Original => 20_260_312,
            Variant::Changed => 20_261_102,
        };
        World {
            variant,
            trains: rail::trains(seed),
            films: cinema::films(seed),
            screenings: cinema::screenings(seed),
            homes: homes::homes(seed),
            forecasts: weather::forecasts(seed),
        }
    }
}
