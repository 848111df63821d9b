//! How far programs are confined: what is asked for, and what is had.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing is hidden.
    Off,
    /// What programs must not see is hidden, all else is as it is.
    #[default]
    On,
    /// Nothing is there but what they need.
    Strict,
}

/// What was had by the programs of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// Programs ran as the user, because that was asked for.
    Off,
    /// Programs ran as the user, because the system does not let them be confined.
    Unavailable,
    /// The suite, the results, the data folder and all other processes were hidden.
    Hidden,
    /// Programs had the system, their folder, and what they need of the episode.
    Strict,
}

/// The text is not a level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {0:?} as a confinement: write `on`, `strict` or `off`")]
pub struct BadLevel(String);

impl FromStr for Level {
    type Err = BadLevel;

    fn from_str(text: &str) -> Result<Level, BadLevel> {
        match text {
            "off" => Ok(Level::Off),
            "on" => Ok(Level::On),
            "strict" => Ok(Level::Strict),
            _ => Err(BadLevel(text.to_owned())),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Off => "off",
            Level::On => "on",
            Level::Strict => "strict",
        })
    }
}

impl Level {
    /// That of scorers' programs, which belong to the suite: nothing is taken from them but what
    /// is not theirs.
    #[must_use]
    pub fn of_scorers(self) -> Level {
        if self == Level::Off { Level::Off } else { Level::On }
    }
}

impl Confinement {
    /// What both parts of a run had: the weaker of the two.
    #[must_use]
    pub fn weaker(self, other: Confinement) -> Confinement {
        self.min(other)
    }

    /// Whether anything is hidden.
    pub fn hides(self) -> bool {
        matches!(self, Confinement::Hidden | Confinement::Strict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_as_they_are_written() {
        for level in [Level::Off, Level::On, Level::Strict] {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert!("half".parse::<Level>().is_err());
        assert_eq!(Confinement::Hidden.weaker(Confinement::Unavailable), Confinement::Unavailable);
    }
}
