//! Homes for sale, their agents, and the search over them.

use serde::Serialize;

use super::places::{CITIES, City};
use super::seed::Seed;

/// A home for sale.
#[derive(Debug, Clone, Serialize)]
pub struct Home {
    /// Its number in URLs.
    pub id: u32,
    /// Street and house number.
    pub address: String,
    /// Its city, as in URLs.
    pub city: &'static str,
    /// What it is.
    pub kind: &'static str,
    /// Pounds; no two homes cost the same.
    pub price: u32,
    /// Square metres; no two homes of a city have the same.
    pub area: u32,
    /// Rooms without kitchen and bath.
    pub rooms: u32,
    /// When it was built.
    pub built: u32,
    /// Energy class.
    pub energy: char,
    /// The agent, as in URLs.
    pub agent: &'static str,
    /// Minutes on foot to the station.
    pub walk: u32,
    /// What it has: garden, balcony, ...
    pub extras: Vec<&'static str>,
    /// What the agent says.
    pub text: String,
}

/// An estate agent.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Agent {
    /// The agent in URLs.
    pub slug: &'static str,
    /// The name.
    pub name: &'static str,
    /// The telephone number.
    pub phone: &'static str,
    /// The office's city, as in URLs.
    pub city: &'static str,
    /// Since when.
    pub since: u32,
}

/// All agents.
#[rustfmt::skip]
pub const AGENTS: [Agent; 5] = [
    Agent { slug: "thorne-and-daughters", name: "Thorne & Daughters", phone: "0170 555 0132", city: "aldport", since: 1958 },
    Agent { slug: "quayside-homes", name: "Quayside Homes", phone: "0170 555 0178", city: "brackwater", since: 1991 },
    Agent { slug: "bellwether", name: "Bellwether Property", phone: "0170 555 0115", city: "aldport", since: 2004 },
    Agent { slug: "lakeland-lettings", name: "Mere & Fell", phone: "0170 555 0149", city: "dunmere", since: 1977 },
    Agent { slug: "canal-street", name: "Canal Street Estates", phone: "0170 555 0163", city: "eastholm", since: 2012 },
];

const STREETS: [&str; 16] = [
    "Chandler Row",
    "Tollgate Street",
    "Mill Rise",
    "Heron Close",
    "Observatory Walk",
    "Ropewalk",
    "Saint Aud's Lane",
    "Orchard Terrace",
    "Weir Lane",
    "Foundry Yard",
    "Lamplighter Street",
    "Sorrel Gardens",
    "Ferry Square",
    "Kiln Road",
    "Bishop's Steps",
    "Larch Avenue",
];

const EXTRAS: [&str; 8] = [
    "garden",
    "balcony",
    "cellar",
    "fireplace",
    "bicycle store",
    "lift",
    "roof terrace",
    "parking space",
];

/// All homes, newest first.
pub fn homes(seed: u64) -> Vec<Home> {
    let mut homes: Vec<Home> = Vec::new();
    let counts = [14, 6, 6, 6];
    let cities: Vec<&'static City> = CITIES
        .iter()
        .zip(counts)
        .flat_map(|(city, count)| std::iter::repeat_n(city, count))
        .collect();
    for (nth, city) in (0u32..).zip(&cities) {
        let mut draw = Seed::named(seed, &format!("home {nth}"));
        let mut home = one(&mut draw, 1001 + nth * 7, city);
        while homes.iter().any(|other| other.price == home.price) {
            home.price += 500;
        }
        while homes.iter().any(|other| other.city == home.city && other.area == home.area) {
            home.area += 1;
        }
        homes.push(home);
    }
    Seed::named(seed, "order of homes").shuffle(&mut homes);
    homes
}

fn one(draw: &mut Seed, id: u32, city: &'static City) -> Home {
    let rooms = draw.between(1, 5);
    let area = 24 + rooms * 17 + draw.between(0, 21);
    let per_metre = match city.slug {
        "aldport" => 4_100,
        "eastholm" => 3_300,
        "brackwater" => 2_700,
        _ => 2_300,
    };
    let price = area * (per_metre + draw.between(0, 800)) / 500 * 500;
    let kind = match rooms {
        1 => "RecordingGateway",
        2 => "Flat",
        3 => *draw.pick(&["Flat", "Maisonette", "Cottage"]),
        _ => *draw.pick(&["Terraced house", "Town house", "Detached house"]),
    };
    let local: Vec<&Agent> = AGENTS
        .iter()
        .filter(|agent| agent.city == city.slug || agent.slug == "bellwether")
        .collect();
    let mut extras = EXTRAS.to_vec();
    draw.shuffle(&mut extras);
    extras.truncate(draw.between(1, 4) as usize);
    let light = draw.pick(&[
        "Bright rooms",
        "High ceilings",
        "Wooden floors",
        "A well-kept interior",
        "Large windows",
    ]);
    let place = draw.pick(&[
        "a quiet side street",
        "a lively quarter",
        "a short walk from the market",
        "the edge of a park",
    ]);
    let home = Home {
        id,
        address: format!("{} {}", draw.between(1, 98), draw.pick(&STREETS)),
        city: city.slug,
        kind,
        price,
        area,
        rooms,
        built: draw.between(1880, 2021),
        energy: *draw.pick(&['A', 'B', 'C', 'D', 'E']),
        agent: draw.pick(&local).slug,
        walk: draw.between(4, 31),
        text: String::new(),
        extras,
    };
    Home {
        text: format!(
            "{light} in {place}, with {}. Built in {}.",
            home.extras.join(", "),
            home.built
        ),
        ..home
    }
}

/// How results are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// As they came onto the market.
    Newest,
    /// Cheapest first.
    Price,
    /// Largest first.
    Area,
}

impl Sort {
    /// Reads the name used in URLs; anything else is newest first.
    pub fn parse(name: &str) -> Sort {
        match name {
            "price" => Sort::Price,
            "area" => Sort::Area,
            _ => Sort::Newest,
        }
    }
}

/// Homes of a city with at least some rooms and at most some price, in order.
pub fn find<'a>(homes: &'a [Home], city: &str, rooms: u32, max: u32, sort: Sort) -> Vec<&'a Home> {
    let fits = |home: &&Home| home.city == city && home.rooms >= rooms && home.price <= max;
    let mut found: Vec<&Home> = homes.iter().filter(fits).collect();
    match sort {
        Sort::Newest => {}
        Sort::Price => found.sort_by_key(|home| home.price),
        Sort::Area => found.sort_by_key(|home| std::cmp::Reverse(home.area)),
    }
    found
}

/// The average price in a city, to the nearest thousand.
pub fn average_price(homes: &[Home], city: &str) -> u32 {
    let prices: Vec<u32> =
        homes.iter().filter(|home| home.city == city).map(|home| home.price).collect();
    let count = prices.len().max(1) as u32;
    (prices.iter().sum::<u32>() / count + 500) / 1000 * 1000
}

/// The agent with a name in URLs.
pub fn agent(slug: &str) -> Option<&'static Agent> {
    AGENTS.iter().find(|agent| agent.slug == slug)
}

/// Pounds with thousands separated: `312,500`.
pub fn grouped(pounds: u32) -> String {
    let digits = pounds.to_string();
    let mut grouped = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
