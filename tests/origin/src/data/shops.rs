//! Two hundred small shops, each with a hundred things for sale: the long tail of a web.
//!
//! All of them follow from their number, so nothing is kept. What is unkind on the real web is here
//! too, by the shop's number: see [`Obstacle`].

use super::seed::Seed;

/// How many shops there are.
pub const SHOPS: usize = 200;
/// How many things each of them has.
pub const THINGS: usize = 100;
/// The categories of every shop.
pub const CATEGORIES: [&str; 5] = ["kitchen", "garden", "music", "travel", "workshop"];

const FIRST: [&str; 20] = [
    "amber", "birch", "cobalt", "dapple", "ember", "fennel", "granite", "hazel", "indigo",
    "juniper", "kestrel", "linden", "maple", "nettle", "ochre", "pebble", "quartz", "russet",
    "sorrel", "thistle",
];
const LAST: [&str; 10] =
    ["arch", "bridge", "court", "dale", "field", "gate", "harbour", "lane", "mill", "yard"];
const MATERIALS: [&str; 10] =
    ["Ash", "Brass", "Copper", "Enamel", "Felt", "Glass", "Iron", "Linen", "Oak", "Slate"];
const KINDS: [[&str; 4]; 5] = [
    ["Kettle", "Ladle", "Mortar", "Skillet"],
    ["Dibber", "Lantern", "Sundial", "Trellis"],
    ["Accordion", "Fiddle", "Metronome", "Whistle"],
    ["Compass", "Satchel", "Spyglass", "Trunk"],
    ["Chisel", "Clamp", "Plane", "Vice"],
];
const TOWNS: [&str; 8] =
    ["Barrow", "Carrow Junction", "Dunmere", "Eastholm", "Kelby", "Marsh End", "Norwick", "Salter"];

/// What keeps crawlers from a shop's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Nothing.
    None,
    /// A banner about cookies covers the page until it is answered.
    Banner,
    /// Every third request for a page is answered with status 429.
    Limited,
    /// robots.txt asks all crawlers to stay away.
    Closed,
    /// The pages of things are behind a CAPTCHA.
    Guarded,
}

/// A shop, by its number below [`SHOPS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shop(pub usize);

/// A thing for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thing {
    /// Its number in the shop, from 0.
    pub id: usize,
    /// Unique in the shop.
    pub name: String,
    /// One of [`CATEGORIES`].
    pub category: &'static str,
    /// In crowns.
    pub price: u32,
    /// In grams.
    pub weight: u32,
    /// Where it is made.
    pub town: &'static str,
    /// When its maker began.
    pub year: u32,
}

impl Shop {
    /// The shop of a host.
    pub fn of_host(host: &str) -> Option<Shop> {
        let (first, last) = host.strip_suffix(".test")?.split_once('-')?;
        let first = FIRST.iter().position(|name| *name == first)?;
        let last = LAST.iter().position(|name| *name == last)?;
        Some(Shop(first * LAST.len() + last))
    }

    /// Its host.
    pub fn host(self) -> String {
        format!("{}-{}.test", FIRST[self.0 / LAST.len()], LAST[self.0 % LAST.len()])
    }

    /// Whether it speaks TLS only.
    pub fn is_secure(self) -> bool {
        self.0 > SHOPS / 2 && self.0.is_multiple_of(2)
    }

    /// The address of its front page, without the slash at the end.
    pub fn address(self) -> String {
        format!("{}://{}", if self.is_secure() { "https" } else { "http" }, self.host())
    }

    /// Its name.
    pub fn name(self) -> String {
        let capital = |word: &str| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
        format!("{} {}", capital(FIRST[self.0 / LAST.len()]), capital(LAST[self.0 % LAST.len()]))
    }

    /// What keeps crawlers from it.
    pub fn obstacle(self) -> Obstacle {
        match self.0 % 20 {
            3 | 9 | 15 => Obstacle::Banner,
            6 => Obstacle::Limited,
            11 => Obstacle::Closed,
            17 => Obstacle::Guarded,
            _ => Obstacle::None,
        }
    }

    /// A thing, by its number below [`THINGS`].
    pub fn thing(self, id: usize) -> Thing {
        let mut seed = Seed::named(self.0 as u64, &format!("thing {id}"));
        let category = id % CATEGORIES.len();
        let kind = seed.pick(&KINDS[category]);
        Thing {
            id,
            name: format!("{} {kind} No. {}", seed.pick(&MATERIALS), 100 + id),
            category: CATEGORIES[category],
            price: seed.between(4, 480),
            weight: seed.between(40, 9000),
            town: seed.pick::<&str>(&TOWNS),
            year: seed.between(1790, 2020),
        }
    }

    /// All its things.
    pub fn things(self) -> impl Iterator<Item = Thing> {
        (0..THINGS).map(move |id| self.thing(id))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn shops_have_hosts_of_their_own_and_things_names_of_their_own() {
        let hosts: HashSet<String> = (0..SHOPS).map(|number| Shop(number).host()).collect();
        assert_eq!(hosts.len(), SHOPS);
        for number in 0..SHOPS {
            let shop = Shop(number);
            assert_eq!(Shop::of_host(&shop.host()), Some(shop));
            let names: HashSet<String> = shop.things().map(|thing| thing.name).collect();
            assert_eq!(names.len(), THINGS);
        }
        assert_eq!(Shop::of_host("amber-nowhere.test"), None);
    }
}
