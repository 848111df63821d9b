//! The part of HAR's JSON schema that carries traffic. Parsing is lenient, because tools disagree
//! on what may be null, a number, or a list.
//!
//! Strings are read as bytes. JavaScript strings may contain half of a surrogate pair, which is
//! valid JSON but invalid UTF-8. The half becomes U+FFFD here, as in a browser's encoder.

use std::fmt;

use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// One element of `log.entries`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawEntry {
    #[serde(default)]
    pub(super) pageref: Option<Text>,
    pub(super) started_date_time: Text,
    #[serde(default, deserialize_with = "number")]
    pub(super) time: Option<f64>,
    pub(super) request: RawRequest,
    pub(super) response: RawResponse,
    #[serde(default, rename = "serverIPAddress")]
    pub(super) server_ip_address: Option<Text>,
    #[serde(default, rename = "_webSocketMessages")]
    pub(super) web_socket_messages: Option<Vec<RawMessage>>,
    #[serde(default, rename = "_eventSourceMessages")]
    pub(super) event_source_messages: Option<Vec<RawEvent>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawRequest {
    pub(super) method: Text,
    pub(super) url: Text,
    #[serde(default)]
    pub(super) http_version: Option<Text>,
    #[serde(default)]
    pub(super) headers: Option<Vec<RawHeader>>,
    #[serde(default, deserialize_with = "number")]
    pub(super) body_size: Option<f64>,
    #[serde(default)]
    pub(super) post_data: Option<RawPostData>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawPostData {
    #[serde(default)]
    pub(super) mime_type: Option<Text>,
    #[serde(default)]
    pub(super) text: Option<Text>,
    #[serde(default)]
    pub(super) encoding: Option<Text>,
    #[serde(default)]
    pub(super) params: Option<Vec<RawParam>>,
    #[serde(default, rename = "_file")]
    pub(super) file: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawParam {
    #[serde(default)]
    pub(super) name: Option<Text>,
    #[serde(default)]
    pub(super) value: Option<Text>,
    #[serde(default)]
    pub(super) file_name: Option<Text>,
    #[serde(default)]
    pub(super) content_type: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawResponse {
    #[serde(default, deserialize_with = "number")]
    pub(super) status: Option<f64>,
    #[serde(default)]
    pub(super) status_text: Option<Text>,
    #[serde(default)]
    pub(super) http_version: Option<Text>,
    #[serde(default)]
    pub(super) headers: Option<Vec<RawHeader>>,
    #[serde(default)]
    pub(super) content: Option<RawContent>,
    #[serde(default, rename = "_error")]
    pub(super) error: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawContent {
    #[serde(default, deserialize_with = "number")]
    pub(super) size: Option<f64>,
    #[serde(default, deserialize_with = "number")]
    pub(super) compression: Option<f64>,
    #[serde(default)]
    pub(super) mime_type: Option<Text>,
    #[serde(default)]
    pub(super) text: Option<Text>,
    #[serde(default)]
    pub(super) encoding: Option<Text>,
    #[serde(default, rename = "_file")]
    pub(super) file: Option<Text>,
    #[serde(default, rename = "_isBinary")]
    pub(super) is_binary: Option<bool>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RawHeader {
    pub(super) name: Text,
    #[serde(default)]
    pub(super) value: Option<Values>,
}

/// A header's value, or the list of its values as Polly.js writes it.
#[derive(Debug, Default)]
pub(super) struct Values(pub(super) Vec<Text>);

#[derive(Debug, Deserialize)]
pub(super) struct RawMessage {
    #[serde(rename = "type", default)]
    pub(super) kind: Option<Text>,
    #[serde(default, deserialize_with = "number")]
    pub(super) time: Option<f64>,
    #[serde(default, deserialize_with = "number")]
    pub(super) opcode: Option<f64>,
    #[serde(default)]
    pub(super) data: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawEvent {
    #[serde(default)]
    pub(super) event_name: Option<Text>,
    #[serde(default)]
    pub(super) event_id: Option<Text>,
    #[serde(default)]
    pub(super) data: Option<Text>,
}

/// One element of `log.pages`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawPage {
    #[serde(default)]
    pub(super) id: Option<Text>,
    #[serde(default)]
    pub(super) title: Option<Text>,
    #[serde(default)]
    pub(super) started_date_time: Option<Text>,
    #[serde(default, rename = "_url")]
    pub(super) url: Option<Text>,
}

/// `log.creator` and `log.browser`.
#[derive(Debug, Deserialize)]
pub(super) struct RawTool {
    #[serde(default)]
    pub(super) name: Option<Text>,
    #[serde(default)]
    pub(super) version: Option<Text>,
}

/// A string of the log.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Text(pub(super) String);

impl Text {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    fn from_bytes(bytes: Vec<u8>) -> Self {
        Text(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| without_half_surrogates(error.as_bytes())),
        )
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl Visitor<'_> for TextVisitor {
            type Value = Text;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Text, E> {
                self.visit_byte_buf(bytes.to_vec())
            }
            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Text, E> {
                Ok(Text::from_bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(TextVisitor)
    }
}

/// Replaces half surrogates. Each arrives as three bytes `ED A0..BF xx` and becomes one U+FFFD.
fn without_half_surrogates(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        if let [0xED, 0xA0..=0xBF, 0x80..=0xBF, after @ ..] = rest {
            out.extend_from_slice("\u{FFFD}".as_bytes());
            rest = after;
        } else {
            out.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValuesVisitor;
        impl<'de> Visitor<'de> for ValuesVisitor {
            type Value = Values;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a string or a list of strings")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Values, E> {
                Ok(Values(vec![Text::from_bytes(bytes.to_vec())]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element::<Text>()? {
                    values.push(value);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_bytes(ValuesVisitor)
    }
}

/// A number, a number in a string, or nothing.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    struct NumberVisitor;
    impl Visitor<'_> for NumberVisitor {
        type Value = Option<f64>;
        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a number")
        }
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(number as f64))
        }
        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
            Ok(Some(number as f64))
        }
        fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
            Ok(Some(number))
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            if text.trim().is_empty() {
                return Ok(None);
            }
            text.trim()
                .parse()
                .map(Some)
                .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
        }
        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
    deserializer.deserialize_any(NumberVisitor)
}
