//! Values in human-readable notation.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of bytes: `64M`, `2G`, `512K` or a plain number, in powers of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// A duration: `200ms`, `60s`, `15m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(pub Duration);

pub(super) fn a_minute() -> Period {
    Period(Duration::from_secs(60))
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Bytes, D::Error> {
        yaml::text(input, |text| {
            let units = [("K", 10), ("M", 20), ("G", 30), ("", 0)];
            units
                .iter()
                .find_map(|(unit, shift)| {
                    text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(1_u64 << shift)
                })
                .map(Bytes)
                .ok_or_else(|| format!("`{text}` is not a number of bytes, such as 512M"))
        })
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Period, D::Error> {
        yaml::text(input, yaml::period).map(Period)
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        let unit = [("G", 30), ("M", 20), ("K", 10)]
            .into_iter()
            .find(|(_, shift)| self.0 != 0 && self.0.trailing_zeros() >= *shift);
        let (unit, shift) = unit.unwrap_or(("", 0));
        output.collect_str(&format_args!("{}{unit}", self.0 >> shift))
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match self.0.subsec_millis() {
            0 => output.collect_str(&format_args!("{}s", self.0.as_secs())),
            _ => output.collect_str(&format_args!("{}ms", self.0.as_millis())),
        }
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number of bytes: `64M`, `2G`, `512K` or a plain number, in powers of 1024.",
            "type": ["string", "integer"],
            "pattern": "^[0-9]+[KMG]?$",
            "minimum": 0
        })
    }
}

impl JsonSchema for Period {
    fn schema_name() -> Cow<'static, str> {
        "Period".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A length of time: `200ms`, `60s`, `15m`.",
            "type": "string",
            "pattern": "^[0-9]+(ms|s|m)$"
        })
    }
}

pub(super) fn clock<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Timestamp>, D::Error> {
    yaml::text(input, |text| {
        text.parse().map(Some).map_err(|_| {
            format!("`{text}` is not a time with its offset, such as 2026-03-14T09:00:00Z")
        })
    })
}
