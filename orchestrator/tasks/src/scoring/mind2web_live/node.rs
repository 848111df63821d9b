//! Key nodes of Mind2Web-Live, as they stand in task files.

use serde::{Deserialize, Deserializer, Serialize, de};

/// One thing an agent must reach on its way, named as in the benchmark's `match_function_name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyNode {
    /// The decoded URL, or one parameter of its query, equals the reference.
    UrlExactlyMatch(UrlNode),
    /// The decoded host, path and fragment, or one parameter, contains the reference.
    UrlIncludedMatch(UrlNode),
    /// The value of the element acted on equals the reference.
    ElementValueExactlyMatch(ValueNode),
    /// The value of the element acted on contains the reference.
    ElementValueIncludedMatch(ValueNode),
    /// The final answer equals the reference but for case.
    FinalAnswerExactMatch(TextNode),
    /// The final answer contains the reference but for case.
    FinalAnswerIncludedMatch(TextNode),
    /// Not scored yet: refused when a suite is loaded.
    #[serde(deserialize_with = "needs_a_page")]
    ElementPathExactlyMatch(Unsupported),
}

/// What a URL must be or contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlNode {
    /// Compared as it stands, never decoded.
    pub reference: String,
    /// The query parameter to look at instead of the whole URL.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
}

/// What an element must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueNode {
    /// Compared with the element's value.
    pub reference: String,
    /// The page's host must reduce to this word: `shop` of `www.shop.test` and of `shop.test`.
    pub netloc: String,
}

/// What an answer must be or contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextNode {
    /// Compared in lower case.
    pub reference: String,
}

/// A rule that this version cannot judge. No value of it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unsupported {}

fn needs_a_page<'de, D: Deserializer<'de>>(_: D) -> Result<Unsupported, D::Error> {
    Err(de::Error::custom(
        "element_path_exactly_match is not supported yet: it needs the page's HTML to compare elements",
    ))
}
