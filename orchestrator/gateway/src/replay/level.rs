//! Match levels: how similar a recorded request must be.

use std::str::FromStr;

/// How much a request may differ from a recorded one and still match it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum MatchLevel {
    /// Exactly the same request.
    Exact,
    /// The same except for what the rules of [`snapshots::matching::Rule`] declare insignificant.
    #[default]
    Normalised,
    /// Also the most similar request of the same method, host and path.
    Fuzzy {
        /// The minimum similarity, from 0 to 1.
        threshold: f64,
    },
}

impl MatchLevel {
    /// Fuzzy with the default threshold.
    pub const FUZZY: MatchLevel = MatchLevel::Fuzzy { threshold: 0.5 };
}

/// Not a valid match level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "read the match level {0:?}: exact, normalised, fuzzy or fuzzy:THRESHOLD is expected, with a threshold from 0 to 1"
)]
pub struct BadMatchLevel(String);

impl FromStr for MatchLevel {
    type Err = BadMatchLevel;

    fn from_str(text: &str) -> Result<Self, BadMatchLevel> {
        let bad = || BadMatchLevel(text.to_owned());
        match text.split_once(':').map_or((text, None), |(word, number)| (word, Some(number))) {
            ("exact", None) => Ok(MatchLevel::Exact),
            ("normalised", None) => Ok(MatchLevel::Normalised),
            ("fuzzy", None) => Ok(MatchLevel::FUZZY),
            ("fuzzy", Some(number)) => {
                let threshold: f64 = number.parse().map_err(|_| bad())?;
                (0.0..=1.0)
                    .contains(&threshold)
                    .then_some(MatchLevel::Fuzzy { threshold })
                    .ok_or_else(bad)
            }
            _ => Err(bad()),
        }
    }
}
