//! The device that a browser pretends to be: page size, language, time zone, user agent, and
//! location.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

/// The device that pages see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Size of the page in CSS pixels: width, height.
    pub viewport: (u32, u32),
    /// A BCP 47 language tag such as `en-US`: for number and date formats, for the
    /// `Accept-Language` header, and for `navigator.language`.
    pub locale: String,
    /// An IANA time zone name such as `Europe/Berlin`.
    pub timezone: String,
    /// The whole `User-Agent` header; `None` keeps the browser's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// A touch screen, and pages laid out as on a phone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mobile: bool,
    /// The location that pages get if they ask. Without one they get none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
}

impl Default for Device {
    /// A desktop screen of 1280 x 720, `en-US`, `UTC`, without a location.
    fn default() -> Self {
        Self {
            viewport: (1280, 720),
            locale: "en-US".to_owned(),
            timezone: "UTC".to_owned(),
            user_agent: None,
            mobile: false,
            geolocation: None,
        }
    }
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Place")]
pub struct Geolocation {
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
