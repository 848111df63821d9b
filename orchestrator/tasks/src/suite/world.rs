//! The world of a suite, in which every episode starts.

use std::num::NonZeroU16;

use camino::Utf8PathBuf;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use world_spec::{Device, MatchLevel, Pace, SiteSearch, StatePolicy};

use super::names;

/// The world that a browser finds at the start of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldSpec {
    /// Snapshot files. Relative paths in YAML are resolved against the folder of the suite when it
    /// is loaded. `{date}` in a path stands for the day of a version, such as 2026-11-26.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub snapshots: Vec<Utf8PathBuf>,
    /// A file with cookies and storage that the browser begins with, as Playwright's
    /// `storage_state` writes it. Resolved as snapshots are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub storage_state: Option<Utf8PathBuf>,
    /// The folder with the manifests of the sites that tasks name, if there are any. Resolved as
    /// snapshots are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub sites: Option<Utf8PathBuf>,
    /// A folder whose files agents may give to pages. Resolved as snapshots are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub files: Option<Utf8PathBuf>,
    /// The time of page clocks when an episode begins; the time of the first recording when absent.
    // [`UNDATED`] until the snapshot has been read.
    #[serde(
        default = "undated",
        deserialize_with = "read_clock",
        serialize_with = "write_clock",
        skip_serializing_if = "is_undated"
    )]
    #[schemars(with = "String")]
    pub clock: Timestamp,
    /// Seeds everything random in pages.
    #[serde(default)]
    pub seed: u64,
    /// Width and height of the page in CSS pixels.
    #[serde(default = "default_viewport", deserialize_with = "read_viewport")]
    pub viewport: (u32, u32),
    /// A BCP 47 language tag.
    #[serde(default = "default_locale", deserialize_with = "read_locale")]
    pub locale: String,
    /// An IANA time zone name.
    #[serde(default = "default_timezone", deserialize_with = "read_timezone")]
    pub timezone: String,
    /// How much of its own time a page gets in each step before it is looked at.
    #[serde(default, skip_serializing_if = "Pace::is_default")]
    pub pace: Pace,
    /// How far a request may differ from a recorded one.
    #[serde(default, rename = "match")]
    pub match_level: MatchLevel,
    /// The answer to a request where no capture is of the state that the episode has the site in.
    #[serde(default, skip_serializing_if = "StatePolicy::is_default")]
    pub state: StatePolicy,
    /// The address of the results of the search engine that agents are given, with `{}` where the
    /// query goes; Google's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_search")]
    pub search: Option<String>,
    /// Whether what search engines are asked is answered by a search over the recorded pages, where
    /// it was not recorded.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub search_pages: bool,
    /// The searches of sites, in their own pages, that are answered by a search over the recorded
    /// pages of the site, where they were not recorded. Needs `search_pages`.
    #[serde(default, skip_serializing_if = "SiteSearch::is_off")]
    pub site_search: SiteSearch,
}

impl WorldSpec {
    /// An empty world at this time, with what a suite has that says nothing else.
    pub fn new(clock: Timestamp) -> WorldSpec {
        WorldSpec {
            snapshots: Vec::new(),
            storage_state: None,
            sites: None,
            files: None,
            clock,
            seed: 0,
            viewport: default_viewport(),
            locale: default_locale(),
            timezone: default_timezone(),
            pace: Pace::default(),
            match_level: MatchLevel::default(),
            state: StatePolicy::default(),
            search: None,
            search_pages: yes(),
            site_search: SiteSearch::Off,
        }
    }

    /// What the pages of its tasks see.
    pub fn device(&self) -> Device {
        Device {
            viewport: self.viewport,
            locale: self.locale.clone(),
            timezone: self.timezone.clone(),
            ..Device::default()
        }
    }
}

/// The clock of a world that names none.
pub const UNDATED: Timestamp = Timestamp::MIN;

fn undated() -> Timestamp {
    UNDATED
}

fn is_undated(clock: &Timestamp) -> bool {
    *clock == UNDATED
}

fn yes() -> bool {
    true
}

fn is_yes(given: &bool) -> bool {
    *given
}

fn default_viewport() -> (u32, u32) {
    Device::default().viewport
}

fn default_locale() -> String {
    Device::default().locale
}

fn default_timezone() -> String {
    Device::default().timezone
}

fn read_clock<'de, D: Deserializer<'de>>(input: D) -> Result<Timestamp, D::Error> {
    yaml::text(input, |text| {
        text.parse().map_err(|_| {
            format!("`{text}` is not a time with its offset, such as 2026-03-14T09:00:00Z")
        })
    })
}

pub(super) fn read_some_clock<'de, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Timestamp>, D::Error> {
    read_clock(input).map(Some)
}

pub(super) fn read_locale<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    yaml::text(input, names::locale)
}

pub(super) fn read_timezone<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    yaml::text(input, names::timezone)
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
