//! How near a recorded request must be.

use std::str::FromStr;

/// How far from a recorded request one may be and still get its answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum MatchLevel {
    /// The very same request.
    Exact,
    /// The same but for what the rules of [`snapshots::matching::Rule`] declare meaningless.
    #[default]
    Normalised,
    /// Also the most similar one of the same method, host and path.
    Fuzzy {
        /// The least similarity, from 0 to 1, that is good enough.
        threshold: f64,
    },
}

impl MatchLevel {
    /// Fuzzy with the threshold that is meant where none is named.
    pub const FUZZY: MatchLevel = MatchLevel::Fuzzy { threshold: 0.5 };
}

/// A word that is no match level.
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
                (0.0..=1.0).contains(&threshold).then_some(MatchLevel::Fuzzy { threshold }).ok_or_else(bad)
            }
            _ => Err(bad()),
        }
    }
}
