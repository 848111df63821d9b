//! The searches of sites that are answered from recorded pages.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

/// Searches of sites that are answered from the recorded pages: `false` (none), `true` (those of
/// the search forms in recorded pages), or a list of addresses with `{}` for the words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SiteSearch {
    /// None.
    #[default]
    Off,
    /// Those of the search forms in recorded pages.
    Forms,
    /// Those at these addresses, such as `https://shop.example/search?q={}`.
    At(Vec<String>),
}

impl SiteSearch {
    /// Whether there are none.
    pub fn is_off(&self) -> bool {
        *self == SiteSearch::Off
    }
}

impl Serialize for SiteSearch {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self {
            SiteSearch::Off => output.serialize_bool(false),
            SiteSearch::Forms => output.serialize_bool(true),
            SiteSearch::At(addresses) => output.collect_seq(addresses),
        }
    }
}

impl<'de> Deserialize<'de> for SiteSearch {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected true, false, or a list of addresses with `{}` for the words"
        )]
        enum Written {
            Wanted(bool),
            At(Vec<String>),
        }
        match Written::deserialize(input)? {
            Written::Wanted(false) => Ok(SiteSearch::Off),
            Written::Wanted(true) => Ok(SiteSearch::Forms),
            Written::At(addresses) => match addresses.iter().find(|address| !is_search(address)) {
                None => Ok(SiteSearch::At(addresses)),
                Some(address) => Err(D::Error::custom(format!(
                    "`{address}` is not an address with `{{}}` as the value of a parameter, such as https://shop.example/search?q={{}}"
                ))),
            },
        }
    }
}

/// Whether an address has `{}` once, as the value of a parameter.
fn is_search(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    matches!(url.scheme(), "http" | "https")
        && address.matches("{}").count() == 1
        && url.query_pairs().any(|(_, value)| value == "{}")
}

impl JsonSchema for SiteSearch {
    fn schema_name() -> Cow<'static, str> {
        "SiteSearch".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "true: searches of sites, by the search forms in recorded pages, are answered from the recorded \
                pages of the site where they were not recorded. A list: those at these addresses, with {} for the words.",
            "oneOf": [
                { "type": "boolean" },
                { "type": "array", "items": { "type": "string", "pattern": r"^https?://.*\?.*=\{\}" } },
            ],
        })
    }
}
