//! The device that a task is done on, as far as it differs from the world's.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::names;
use super::world::{read_locale, read_timezone, read_viewport};

/// The device of one task, in place of the world's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceSpec {
    /// Width and height of the page in CSS pixels.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_some_viewport"
    )]
    pub viewport: Option<(u32, u32)>,
    /// A BCP 47 language tag.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_some_locale"
    )]
    pub locale: Option<String>,
    /// An IANA time zone name.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_some_timezone"
    )]
    pub timezone: Option<String>,
    /// The browser's user agent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "read_some_user_agent"
    )]
    pub user_agent: Option<String>,
    /// A touch screen, and pages laid out as telephones do it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mobile: bool,
    /// The position that pages get if they ask for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Place>,
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Degrees north.
    #[serde(deserialize_with = "read_latitude")]
    pub latitude: f64,
    /// Degrees east.
    #[serde(deserialize_with = "read_longitude")]
    pub longitude: f64,
    /// How exact that is, in metres.
    #[serde(default, deserialize_with = "read_accuracy")]
    pub accuracy: f64,
}

impl DeviceSpec {
    /// Whether the world's device does.
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

fn read_some_viewport<'de, D: Deserializer<'de>>(input: D) -> Result<Option<(u32, u32)>, D::Error> {
    read_viewport(input).map(Some)
}

fn read_some_locale<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    read_locale(input).map(Some)
}

fn read_some_timezone<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    read_timezone(input).map(Some)
}

fn read_some_user_agent<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    yaml::text(input, names::user_agent).map(Some)
}

fn read_latitude<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    read_within(input, -90.0, 90.0)
}

fn read_longitude<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    read_within(input, -180.0, 180.0)
}

fn read_accuracy<'de, D: Deserializer<'de>>(input: D) -> Result<f64, D::Error> {
    read_within(input, 0.0, f64::MAX)
}

/// A browser tells pages of no place at all where a number is out of its range.
fn read_within<'de, D: Deserializer<'de>>(
    input: D,
    least: f64,
    most: f64,
) -> Result<f64, D::Error> {
    let number = f64::deserialize(input)?;
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    let most = if most == f64::MAX { "more".to_owned() } else { most.to_string() };
    Err(de::Error::custom(format!("{number} is not in the range of {least} to {most}")))
}
