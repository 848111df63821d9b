//! The world of a suite: what every episode starts from.

use std::num::NonZeroU16;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a browser finds at the start of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldSpec {
    /// Snapshot files. Relative paths in YAML are resolved against the folder of the suite when it is loaded.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub snapshots: Vec<Utf8PathBuf>,
    /// A file with cookies and storage that the browser begins with, as Playwright's
    /// `storage_state` writes it. Resolved as snapshots are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub storage_state: Option<Utf8PathBuf>,
    /// The folder with the manifests of the sites that tasks name, if there are any. Resolved as snapshots are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub sites: Option<Utf8PathBuf>,
    /// A folder whose files agents may give to pages. Resolved as snapshots are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub files: Option<Utf8PathBuf>,
    /// What page clocks show when an episode begins.
    #[serde(deserialize_with = "read_clock", serialize_with = "write_clock")]
    #[schemars(with = "String")]
    pub clock: Timestamp,
    /// Seeds everything random in pages.
    #[serde(default)]
    pub seed: u64,
    /// Width and height of the page in CSS pixels.
    #[serde(default = "default_viewport", deserialize_with = "read_viewport")]
    pub viewport: (u32, u32),
    /// A BCP 47 language tag.
    #[serde(default = "default_locale")]
    pub locale: String,
    /// An IANA time zone name.
    #[serde(default = "default_timezone")]
    pub timezone: String,
    /// How far a request may differ from a recorded one.
    #[serde(default, rename = "match")]
    pub match_level: MatchLevel,
    /// The address of the results of the search engine that agents are given, with `{}` where the query goes; Google's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_search")]
    pub search: Option<String>,
    /// Whether what search engines are asked is answered by a search over the recorded pages, where it was not recorded.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub search_pages: bool,
}

/// The loosest comparison of requests with recorded ones that still counts as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchLevel {
    /// Method, URL and body are equal.
    Exact,
    /// Equal but for query order, cache-busters, trackers and the spelling of a body.
    #[default]
    Normalised,
    /// The most similar recorded request of the same host and path.
    Fuzzy,
}

fn yes() -> bool {
    true
}

fn is_yes(given: &bool) -> bool {
    *given
}

fn default_viewport() -> (u32, u32) {
    (1280, 720)
}

fn default_locale() -> String {
    "en-US".to_owned()
}

fn default_timezone() -> String {
    "UTC".to_owned()
}

fn read_clock<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
    yaml::text(input, |text| {
        text.parse()
            .map_err(|_| format!("`{text}` is not a time with its offset, such as 2026-03-14T09:00:00Z"))
    })
}

pub(super) fn read_some_clock<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Timestamp>, D::Error> {
    read_clock(input).map(Some)
}

pub(super) fn read_viewport<'de, D: Deserializer<'de>>(input: D) -> Result<(u32, u32), D::Error> {
    let (width, height) = <(NonZeroU16, NonZeroU16)>::deserialize(input)?;
    Ok((u32::from(width.get()), u32::from(height.get())))
}

fn read_search<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    yaml::text(input, |text| {
        let is_web = text.starts_with("http://") || text.starts_with("https://");
        if is_web && text.contains("{}") {
            Ok(Some(text.to_owned()))
        } else {
            Err(format!(
                "`{text}` is not an address with `{{}}` for the query, such as https://www.google.com/search?q={{}}"
            ))
        }
    })
}

fn write_clock<S: Serializer>(clock: &Timestamp, output: S) -> Result<S::Ok, S::Error> {
    output.collect_str(clock)
}

pub(super) fn write_some_clock<S: Serializer>(
    clock: &Option<Timestamp>,
    output: S,
) -> Result<S::Ok, S::Error> {
    match clock {
        Some(clock) => write_clock(clock, output),
        None => output.serialize_none(),
    }
}
