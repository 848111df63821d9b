//! The scoring mode: published bugs are reproduced, or mended.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How closely the published code is followed. Scores by different rules must not be compared, so
/// results say which they are by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoringMode {
    /// Bug for bug.
    #[default]
    Faithful,
    /// Without the bugs of [`MENDED`].
    Fixed,
}

/// A bug of published code that [`ScoringMode::Fixed`] mends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bug {
    pub name: &'static str,
    /// The behaviour that takes its place.
    pub instead: &'static str,
}

/// All of them.
pub const MENDED: [Bug; 13] = [
    Bug {
        name: "webarena-or",
        instead: "` |OR| ` divides alternatives in `must_include` of answers, too",
    },
    Bug {
        name: "webarena-query",
        instead: "the page has to have the parameters of the alternative that it matches, and not those of all",
    },
    Bug {
        name: "webarena-reason",
        instead: "a judge who accepts the reason for not doing a task does not undo other rules that are broken",
    },
    Bug {
        name: "webchorearena-character",
        instead: "an alternative of one character has to be a word of the answer",
    },
    Bug {
        name: "judge-reply",
        instead: "a reply that says neither yes nor no leaves the episode unjudged; it is no error",
    },
    Bug {
        name: "assistantbench-comma",
        instead: "a comma before three digits, as in 1,000, groups digits; it is no decimal point",
    },
    Bug {
        name: "assistantbench-negative",
        instead: "two negative numbers are compared by their sizes, and no answer earns more than 1",
    },
    Bug {
        name: "assistantbench-raise",
        instead: "an answer that cannot be compared earns 0; it is no error",
    },
    Bug {
        name: "turkingbench-range",
        instead: "a slider counts by how near it is to what workers chose, and not as right",
    },
    Bug {
        name: "warcbench-escape",
        instead: "an answer counts as it stands, or with its escapes alone decoded",
    },
    Bug {
        name: "warcbench-order",
        instead: "the order of keys makes no difference within lists and objects either",
    },
    Bug {
        name: "warcbench-slip",
        instead: "selectors without quotes and `document` without its `d` are read with them",
    },
    Bug {
        name: "warcbench-start",
        instead: "what was so before anything was done leaves the episode unjudged",
    },
];

impl ScoringMode {
    /// Not written down where they are the usual ones.
    pub fn is_faithful(&self) -> bool {
        *self == ScoringMode::Faithful
    }
}

impl fmt::Display for ScoringMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScoringMode::Faithful => "faithful",
            ScoringMode::Fixed => "fixed",
        })
    }
}

/// The text names no scoring mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are the rules `faithful` and `fixed`, and not {0:?}")]
pub struct UnknownScoringMode(String);

impl FromStr for ScoringMode {
    type Err = UnknownScoringMode;

    fn from_str(text: &str) -> Result<ScoringMode, UnknownScoringMode> {
        [ScoringMode::Faithful, ScoringMode::Fixed]
            .into_iter()
            .find(|mode| mode.to_string() == text)
            .ok_or_else(|| UnknownScoringMode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_is_in_the_documentation() {
        let text = include_str!("../../../tasks/README.md").replace("\\|", "|");
        for Bug { name, instead } in MENDED {
            assert!(text.contains(&format!("| `{name}` | {instead} |")), "{name}");
        }
    }
}
