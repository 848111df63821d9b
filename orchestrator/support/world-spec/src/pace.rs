//! The time of its own that a page gets before it is looked at.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most that a page can get, in seconds.
const LONGEST: f64 = 5.0;

/// The least and the most time of a page in a step. It gets the least where it is done, more while
/// it still changes. Written in seconds: `0.5..5`, or `5` for always as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// At least so much.
    pub least: Duration,
    /// At most so much.
    pub most: Duration,
}

impl Default for Pace {
    /// As BrowserGym waits, and up to five seconds.
    fn default() -> Self {
        Self { least: Duration::from_millis(500), most: Duration::from_secs_f64(LONGEST) }
    }
}

impl Pace {
    /// Always as much, whether the page changes or not.
    pub const fn steady(time: Duration) -> Self {
        Self { least: time, most: time }
    }

    /// Whether it is the usual one.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    fn read(text: &str) -> Option<Self> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let seconds = |text: &str| {
            let seconds: f64 = text.trim().parse().ok()?;
            (seconds > 0.0 && seconds <= LONGEST).then(|| Duration::from_secs_f64(seconds))
        };
        let (least, most) = (seconds(least)?, seconds(most)?);
        (least <= most).then_some(Self { least, most })
    }
}

impl Serialize for Pace {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        let (least, most) = (self.least.as_secs_f64(), self.most.as_secs_f64());
        if least < most {
            output.collect_str(&format_args!("{least}..{most}"))
        } else {
            output.serialize_f64(least)
        }
    }
}

impl<'de> Deserialize<'de> for Pace {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected seconds, such as 5, or the least and the most, such as 0.5..5"
        )]
        enum Written {
            Seconds(f64),
            Range(String),
        }
        let text = match Written::deserialize(input)? {
            Written::Seconds(seconds) => seconds.to_string(),
            Written::Range(text) => text,
        };
        Self::read(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is not a time in seconds, or the least and the most, up to {LONGEST}, such as 0.5..5"
            ))
        })
    }
}

impl JsonSchema for Pace {
    fn schema_name() -> Cow<'static, str> {
        "Pace".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How many seconds of its own time a page gets in each step before it is looked at: the least, and the \
                most while it still changes, such as 0.5..5 (the default). A single number, such as 5: always as much.",
            "oneOf": [
                { "type": "number", "exclusiveMinimum": 0, "maximum": 5 },
                { "type": "string", "pattern": r"^[0-9.]+\.\.[0-9.]+$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in ["0.5..5", "5", "0.2..0.2", "1.5"] {
            let pace: Pace = serde_yaml::from_str(text).unwrap();
            let written = serde_json::to_string(&pace).unwrap();
            assert_eq!(
                serde_yaml::from_str::<Pace>(written.trim_matches('"')).unwrap(),
                pace,
                "{text}"
            );
        }
        assert_eq!(serde_yaml::from_str::<Pace>("0.5..5").unwrap(), Pace::default());
    }

    #[test]
    fn what_is_no_pace_is_refused() {
        for text in ["0", "6", "5..0.5", "x", "0.5..", "-1", "[1, 2]", "nan", "1..inf"] {
            assert!(serde_yaml::from_str::<Pace>(text).is_err(), "{text}");
        }
    }
}
