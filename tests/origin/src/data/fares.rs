//! What a ticket costs: a base, a rate per kilometre, and what class, return and railcard do to it.

use super::places::{LINES, STATIONS};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket {
    /// First class.
    pub first: bool,
    /// There and back.
    pub back: bool,
    /// With a railcard.
    pub railcard: bool,
}

/// Kilometres by rail between two stations, over the shortest way.
pub fn kilometres(from: &str, to: &str) -> Option<u32> {
    let index = |code: &str| STATIONS.iter().position(|station| station.code == code);
    let (from, to) = (index(from)?, index(to)?);
    let mut far = [[u32::MAX / 4; STATIONS.len()]; STATIONS.len()];
    for line in &LINES {
        for pair in line.stops.windows(2) {
            let (one, two) = (index(pair[0].0)?, index(pair[1].0)?);
            let km = pair[1].2 - pair[0].2;
            (far[one][two], far[two][one]) = (km, km);
        }
    }
    for over in 0..STATIONS.len() {
        for one in 0..STATIONS.len() {
            for two in 0..STATIONS.len() {
                far[one][two] = far[one][two].min(far[one][over] + far[over][two]);
            }
        }
    }
    (from != to).then_some(far[from][to])
}

/// The fare in pence, rounded to five; `None` without two different known stations.
pub fn pence(from: &str, to: &str, ticket: Ticket) -> Option<u32> {
    let single = 420 + kilometres(from, to)? * 31 / 2;
    let classed = if ticket.first { single * 8 / 5 } else { single };
    let both = if ticket.back { classed * 9 / 5 } else { classed };
    let reduced = if ticket.railcard { both * 3 / 4 } else { both };
    Some(reduced.div_ceil(5) * 5)
}

/// Pence as pounds with two decimals.
pub fn pounds(pence: u32) -> String {
    format!("{}.{:02}", pence / 100, pence % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_may_change_lines() {
        assert_eq!(kilometres("ALD", "DUN"), Some(124));
        assert_eq!(kilometres("ALD", "EAS"), Some(61 + 97));
        assert_eq!(kilometres("BRW", "DUN"), Some(52 + 63));
        assert_eq!(kilometres("ALD", "ALD"), None);
        assert_eq!(kilometres("ALD", "XXX"), None);
    }

    #[test]
    fn class_return_and_railcard_multiply() {
        let plain = Ticket { first: false, back: false, railcard: false };
        assert_eq!(pence("ALD", "DUN", plain), Some(2345));
        assert_eq!(pence("ALD", "DUN", Ticket { first: true, ..plain }), Some(3750));
        assert_eq!(pence("ALD", "DUN", Ticket { railcard: true, back: true, ..plain }), Some(3165));
        assert_eq!(pounds(3165), "31.65");
    }
}
