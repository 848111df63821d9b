//! The device that a task is done on, as far as it differs from the world's.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use world_spec::{Device, Geolocation};

use super::names;
use super::world::{WorldSpec, read_locale, read_timezone, read_viewport};

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
    pub geolocation: Option<Geolocation>,
}

impl DeviceSpec {
    /// What the pages of the task see in this world.
    pub fn in_world(&self, world: &WorldSpec) -> Device {
        let usual = world.device();
        Device {
            viewport: self.viewport.unwrap_or(usual.viewport),
            locale: self.locale.clone().unwrap_or(usual.locale),
            timezone: self.timezone.clone().unwrap_or(usual.timezone),
            user_agent: self.user_agent.clone(),
            mobile: self.mobile,
            geolocation: self.geolocation,
        }
    }

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
