//! The host names of a site.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One host name: `shop.test`, or `{host: tiles.test, port: 8081}` if it leads to another port of
/// the container than the site's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The host that a browser requests: a name, or a name with a port.
    pub name: String,
    /// The port inside the container, if it is not the site's port.
    pub port: Option<u16>,
}

/// The long form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostWithPort {
    host: String,
    port: u16,
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Host, D::Error> {
        input.deserialize_any(HostVisitor)
    }
}

impl JsonSchema for Host {
    fn schema_name() -> Cow<'static, str> {
        "Host".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A name such as `shop.test`, or `{host: tiles.test, port: 8081}` where it leads to another port of \
                the container than the site's.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "host": { "type": "string" }, "port": { "type": "integer", "minimum": 1, "maximum": 65535 } },
                    "required": ["host", "port"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

struct HostVisitor;

impl<'de> Visitor<'de> for HostVisitor {
    type Value = Host;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a name, or `host` and `port`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Host, E> {
        Ok(Host { name: name.to_owned(), port: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Host, A::Error> {
        let HostWithPort { host, port } =
            HostWithPort::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Host { name: host, port: Some(port) })
    }
}
