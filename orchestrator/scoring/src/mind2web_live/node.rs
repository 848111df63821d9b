//! Key nodes of Mind2Web-Live, as they stand in task files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing an agent must reach on its way, named as in the benchmark's `match_function_name`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyNode {
    /// The decoded URL, or one parameter of its query, equals the reference.
    UrlExactlyMatch(UrlNode),
    /// The decoded host, path and fragment, or one parameter, contains the reference.
    UrlIncludedMatch(UrlNode),
    /// A judge says how well the decoded URL, or one parameter, meets the criterion that the
    /// reference is.
    UrlSemanticMatch(UrlNode),
    /// The value of the element acted on equals the reference.
    ElementValueExactlyMatch(ValueNode),
    /// The value of the element acted on contains the reference.
    ElementValueIncludedMatch(ValueNode),
    /// A judge says how well the value of the element acted on meets the criterion that the
    /// reference is.
    ElementValueSemanticMatch(ValueNode),
    /// The final answer equals the reference but for case.
    FinalAnswerExactMatch(TextNode),
    /// The final answer contains the reference but for case.
    FinalAnswerIncludedMatch(TextNode),
    /// The element acted on is the one that the reference selects, or in some cases is around it.
    ElementPathExactlyMatch(PathNode),
}

/// The text that a URL must equal or contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UrlNode {
    /// Compared as it stands, never decoded.
    pub reference: String,
    /// The query parameter to look at instead of the whole URL.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
}

/// The value that an element must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueNode {
    /// Compared with the element's value.
    pub reference: String,
    /// The page's host must reduce to this word: `shop` of `www.shop.test` and of `shop.test`.
    pub netloc: String,
    /// A CSS selector of the element, when not every element counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// The element that must be acted on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathNode {
    /// Selects the element.
    pub reference: String,
    /// The page's host must reduce to this word, as in [`ValueNode`].
    pub netloc: String,
    /// The language of both selectors: that of the reference, and that of the element acted on.
    #[serde(default, skip_serializing_if = "Method::is_selector")]
    pub method: Method,
}

/// How elements are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// By CSS, in the page as BeautifulSoup reads it.
    #[default]
    Selector,
    /// By XPath, in the page as lxml reads it.
    Xpath,
}

impl Method {
    fn is_selector(&self) -> bool {
        *self == Method::Selector
    }
}

/// The text that an answer must equal or contain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TextNode {
    /// Compared in lower case.
    pub reference: String,
}
