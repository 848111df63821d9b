//! The device that a task is done on, as far as it differs from the world's.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::world::read_viewport;

/// What the pages of one task see instead of what the world says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceSpec {
    /// Width and height of the page in CSS pixels.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_some_viewport")]
    pub viewport: Option<(u32, u32)>,
    /// A BCP 47 language tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// An IANA time zone name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// What the browser calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// A touch screen, and pages laid out as telephones do it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mobile: bool,
    /// Where pages that ask are told to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Place>,
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Degrees north.
    pub latitude: f64,
    /// Degrees east.
    pub longitude: f64,
    /// How exact that is, in metres.
    #[serde(default)]
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
