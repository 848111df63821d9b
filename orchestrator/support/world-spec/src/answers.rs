//! How a world answers from its snapshots: match levels, and what is made of states.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The loosest comparison of requests with recorded ones that still counts as an answer. Written
/// `exact`, `normalised`, `fuzzy` or `fuzzy:LIKENESS`, with a likeness from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum MatchLevel {
    /// Method, URL and body are equal.
    Exact,
    /// Equal but for query order, cache-busters, trackers and the spelling of a body.
    #[default]
    Normalised,
    /// The most similar recorded request of the same host and path.
    Fuzzy {
        /// The least likeness that is good enough, from 0 to 1.
        threshold: f64,
    },
}

/// The least likeness where none is named.
const LIKENESS: f64 = 0.5;

impl MatchLevel {
    /// Fuzzy with the likeness that is meant where none is named.
    pub const FUZZY: MatchLevel = MatchLevel::Fuzzy { threshold: LIKENESS };
}

impl Serialize for MatchLevel {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self {
            MatchLevel::Exact => output.serialize_str("exact"),
            MatchLevel::Normalised => output.serialize_str("normalised"),
            MatchLevel::Fuzzy { threshold } if *threshold == LIKENESS => {
                output.serialize_str("fuzzy")
            }
            MatchLevel::Fuzzy { threshold } => {
                output.collect_str(&format_args!("fuzzy:{threshold}"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for MatchLevel {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        yaml::text(input, |text| text.parse().map_err(|bad: BadMatchLevel| bad.to_string()))
    }
}

impl JsonSchema for MatchLevel {
    fn schema_name() -> Cow<'static, str> {
        "MatchLevel".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "exact (method, URL and body are equal), normalised (equal but for what named rules pass over), \
                fuzzy or fuzzy:LIKENESS (the most similar recorded request of the same host and path, from 0 to 1).",
            "type": "string",
            "pattern": r"^(exact|normalised|fuzzy(:(0(\.[0-9]+)?|1(\.0+)?))?)$",
        })
    }
}

/// Not a valid match level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not exact, normalised, fuzzy or fuzzy:LIKENESS with a likeness from 0 to 1, such as \
     fuzzy:0.8"
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

/// What a request gets where no capture is of the state that an episode has the site in: of the
/// writes that it has made. Written `nearest`, `strict` or `order`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "States")]
pub enum StatePolicy {
    /// The capture of the nearest state; it counts beside the misses.
    #[default]
    Nearest,
    /// A miss.
    Strict,
    /// States do not count: the n-th request gets the n-th capture.
    Order,
}

impl StatePolicy {
    /// Whether it is the usual one.
    pub fn is_default(&self) -> bool {
        *self == StatePolicy::default()
    }
}
