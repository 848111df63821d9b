//! The words of a goal: from the task's file, or from the page that the task starts on.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The instruction to an agent, or where it is found. A plain text in YAML, or `page: EXPRESSION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoalText {
    /// The words themselves. Benchmarks have tasks whose words are none.
    Words(String),
    /// An expression of JavaScript, evaluated among the page's own scripts when the episode begins,
    /// whose value are the words. For tasks that the page makes up.
    Page(String),
}

impl fmt::Display for GoalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoalText::Words(words) => f.write_str(words),
            GoalText::Page(expression) => write!(f, "(the page says it: {expression})"),
        }
    }
}

impl Serialize for GoalText {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self {
            GoalText::Words(words) => output.serialize_str(words),
            GoalText::Page(expression) => FromPage { page: expression.clone() }.serialize(output),
        }
    }
}

impl<'de> Deserialize<'de> for GoalText {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(Reader)
    }
}

struct Reader;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FromPage {
    #[serde(deserialize_with = "scoring::read_text")]
    page: String,
}

impl<'de> Visitor<'de> for Reader {
    type Value = GoalText;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a text, or `page` with an expression")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<GoalText, E> {
        Ok(GoalText::Words(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GoalText, A::Error> {
        FromPage::deserialize(MapAccessDeserializer::new(map))
            .map(|FromPage { page }| GoalText::Page(page))
    }
}
