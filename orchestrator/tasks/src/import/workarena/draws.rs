//! The draws by which the package chooses what a published task is.
//!
//! A published task is a kind and a seed. `get_all_tasks_agents` of
//! `browsergym/workarena/__init__.py` draws ten seeds for each kind, from one stream. A task's own
//! stream begins with its seed: `create_user` of `api/user.py` draws a number and a theme, and the
//! task its configuration.
//!
//! The stream is numpy's `RandomState`, whose results are frozen: MT19937, and integers below a
//! bound by masked rejection (`random_bounded_uint32` of `numpy/random/src/distributions`).

/// The seed of the stream of seeds.
const META_SEED: u32 = 42;
/// How many seeds each kind has.
const SEEDS: usize = 10;
/// Seeds are below this number.
const SEED_BOUND: u32 = 1000;
/// The numbers in user names, of four digits.
const USER_NUMBERS: u32 = 9999 - 1000;
/// The themes that `workarena-install` installs. A platform with another number of them has other
/// tasks under the published seeds.
const THEMES: u32 = 10;

/// The kinds in the order in which seeds are drawn for them: that of `ATOMIC_TASKS`.
const ORDER: [&str; 33] = [
    "multi-chart-value-retrieval",
    "multi-chart-min-max-retrieval",
    "single-chart-value-retrieval",
    "single-chart-min-max-retrieval",
    "create-change-request",
    "create-incident",
    "create-hardware-asset",
    "create-problem",
    "create-user",
    "knowledge-base-search",
    "filter-asset-list",
    "filter-change-request-list",
    "filter-hardware-list",
    "filter-incident-list",
    "filter-service-catalog-item-list",
    "filter-user-list",
    "sort-asset-list",
    "sort-change-request-list",
    "sort-hardware-list",
    "sort-incident-list",
    "sort-service-catalog-item-list",
    "sort-user-list",
    "all-menu",
    "impersonation",
    "order-developer-laptop",
    "order-ipad-mini",
    "order-ipad-pro",
    "order-sales-laptop",
    "order-standard-laptop",
    "order-apple-watch",
    "order-apple-mac-book-pro15",
    "order-development-laptop-p-c",
    "order-loaner-laptop",
];

/// The seeds of the published tasks of a kind, in their order; none if it is no published kind.
pub fn published_seeds(kind: &str) -> Vec<u32> {
    let mut stream = RandomState::new(META_SEED);
    for drawn in ORDER {
        let seeds = (0..SEEDS).map(|_| stream.below(SEED_BOUND)).collect();
        if drawn == kind {
            return seeds;
        }
    }
    Vec::new()
}

/// The number of the configuration that a task with this seed has, among so many; none among none.
pub fn config_number(seed: u32, configs: usize) -> Option<usize> {
    let bound = u32::try_from(configs).ok().filter(|bound| *bound > 0)?;
    let mut stream = RandomState::new(seed);
    stream.below(USER_NUMBERS);
    stream.below(THEMES);
    Some(stream.below(bound) as usize)
}

/// The words of the generator's state, and the distance between those that are combined.
const WORDS: usize = 624;
const DISTANCE: usize = 397;

/// numpy's generator of that name, as far as it is needed here.
struct RandomState {
    words: [u32; WORDS],
    /// The next word to give; behind the last one, all are made anew.
    next: usize,
}

impl RandomState {
    /// `init_genrand` of the generator's authors.
    fn new(seed: u32) -> RandomState {
        let mut words = [seed; WORDS];
        for at in 1..WORDS {
            let before = words[at - 1];
            words[at] =
                (before ^ (before >> 30)).wrapping_mul(1_812_433_253).wrapping_add(at as u32);
        }
        RandomState { words, next: WORDS }
    }

    /// The next 32 bits: `genrand_int32`.
    fn bits(&mut self) -> u32 {
        if self.next == WORDS {
            for at in 0..WORDS {
                let both =
                    (self.words[at] & 0x8000_0000) | (self.words[(at + 1) % WORDS] & 0x7fff_ffff);
                let odd = if both & 1 == 1 { 0x9908_b0df } else { 0 };
                self.words[at] = self.words[(at + DISTANCE) % WORDS] ^ (both >> 1) ^ odd;
            }
            self.next = 0;
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// A number below `bound`, which is not 0. Below 1 nothing is drawn.
    fn below(&mut self, bound: u32) -> u32 {
        let most = bound - 1;
        if most == 0 {
            return 0;
        }
        let mask = u32::MAX >> most.leading_zeros();
        loop {
            let drawn = self.bits() & mask;
            if drawn <= most {
                return drawn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use scoring::workarena::KINDS;

    use super::*;

    /// Figures of numpy 2.4.6.
    #[test]
    fn numbers_are_those_of_numpy() {
        let mut stream = RandomState::new(42);
        let drawn: Vec<u32> = (0..8).map(|_| stream.below(1000)).collect();
        assert_eq!(drawn, [102, 435, 860, 270, 106, 71, 700, 20]);
        let mut stream = RandomState::new(5489);
        assert_eq!((stream.bits(), stream.bits()), (3_499_211_612, 581_869_302));
        // The state is made anew in between.
        for _ in 2..9_999 {
            stream.bits();
        }
        assert_eq!(stream.bits(), 4_123_659_995, "the 10,000th, of the C++ standard");
        assert_eq!(stream.below(1), 0);
    }

    #[test]
    fn each_kind_has_its_published_seeds() {
        let seeds = |kind| published_seeds(kind);
        assert_eq!(
            seeds("multi-chart-value-retrieval"),
            [102, 435, 860, 270, 106, 71, 700, 20, 614, 121]
        );
        assert_eq!(seeds("all-menu"), [573, 952, 645, 795, 27, 619, 555, 339, 797, 957]);
        assert_eq!(
            seeds("order-loaner-laptop"),
            [143, 608, 200, 123, 186, 325, 463, 348, 770, 659]
        );
        assert_eq!(seeds("order-kettle"), Vec::<u32>::new());
        for kind in &KINDS {
            let seeds: BTreeSet<u32> = seeds(kind.name).into_iter().collect();
            assert_eq!(seeds.len(), SEEDS, "{}: as ids, each once", kind.name);
        }
    }

    /// Figures of numpy 2.4.6: `randint(1000, 9999)`, `choice` of ten, `choice` of so many.
    #[test]
    fn configurations_are_drawn_after_a_user() {
        for (seed, configs, number) in [
            (573, 1000, 534),
            (952, 1000, 709),
            (102, 500, 114),
            (0, 10, 0),
            (330, 600, 503),
            (143, 1, 0),
            (777, 19833, 4017),
        ] {
            assert_eq!(config_number(seed, configs), Some(number), "{seed} of {configs}");
        }
        assert_eq!(config_number(1, 0), None);
    }
}
