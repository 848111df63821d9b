//! The package's data types: how each reads a value, and when two are equal.

mod base64;
mod boolean;
mod coordinates;
mod currency;
mod date;
mod decimal;
mod distance;
mod duration;
mod empty;
mod json;
mod lexer;
mod location;
mod markdown;
mod month;
mod number;
mod numbers_in_words;
mod string_list;
mod text;
mod units;
mod url;
mod url_normalize;

pub(super) use decimal::Decimal;
use jiff::civil::Date;
use python_compat::{Value, float};
pub(super) use text::is_pattern;
pub(super) use url::{Render, Url, UrlOptions, same_path};

use super::PythonException;
use super::config::Derender;
use super::node::Node;

/// The names of `TYPE_REGISTRY`, but for addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Currency,
    Date,
    Duration,
    Distance,
    Coordinates,
    Url,
    Boolean,
    Text,
    StringList,
    Number,
    Month,
    Empty,
    Json,
    Markdown,
    Base64,
    LocationName,
}

/// The type whose values the published code reads with a trained model of addresses.
pub(super) const ADDRESS: &str = "full_address";

impl Kind {
    /// By its name in a schema.
    pub(super) fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "currency" => Kind::Currency,
            "date" => Kind::Date,
            "duration" => Kind::Duration,
            "distance" => Kind::Distance,
            "coordinates" => Kind::Coordinates,
            "url" => Kind::Url,
            "boolean" => Kind::Boolean,
            "string" => Kind::Text,
            "string_list" => Kind::StringList,
            "number" | "integer" => Kind::Number,
            "month" => Kind::Month,
            "null" => Kind::Empty,
            "json" => Kind::Json,
            "markdown" => Kind::Markdown,
            "base64" => Kind::Base64,
            "location-name" => Kind::LocationName,
            _ => return None,
        })
    }

    /// The name of its class.
    pub(super) fn class(self) -> &'static str {
        match self {
            Kind::Currency => "Currency",
            Kind::Date => "Date",
            Kind::Duration => "Duration",
            Kind::Distance => "Distance",
            Kind::Coordinates => "Coordinates",
            Kind::Url => "URL",
            Kind::Boolean => "Boolean",
            Kind::Text => "NormalizedString",
            Kind::StringList => "StringList",
            Kind::Number => "Number",
            Kind::Month => "Month",
            Kind::Empty => "Empty",
            Kind::Json => "JsonString",
            Kind::Markdown => "MarkdownString",
            Kind::Base64 => "Base64String",
            Kind::LocationName => "LocationName",
        }
    }
}

/// One normalised value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Normal {
    Nothing,
    Text(String),
    Truth(bool),
    Float(f64),
    Decimal(Decimal),
    /// Microseconds.
    Duration(i128),
    Texts(Vec<String>),
    /// Degrees north and east.
    Place(f64, f64),
    Url(Url),
}

/// A value of a type, with its alternatives.
#[derive(Debug, Clone)]
pub(super) struct TypedValue {
    pub(super) kind: Kind,
    raw: Value,
    /// At least one.
    alternatives: Vec<Normal>,
}

/// The context in which a value is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    /// From addresses of sites to their names.
    pub(super) derender: Option<Derender<'a>>,
    /// The day that completes dates.
    pub(super) today: Date,
}

impl TypedValue {
    /// `Class(raw)`: a list of two or more are alternatives.
    pub(super) fn new(
        kind: Kind,
        raw: &Value,
        reading: Reading<'_>,
    ) -> Result<TypedValue, PythonException> {
        if let (Kind::Coordinates, Some(pair)) = (kind, coordinates::pair(raw))
            && let Ok(place) = coordinates::normalise(&pair)
        {
            return Ok(TypedValue { kind, raw: raw.clone(), alternatives: vec![place] });
        }
        TypedValue::with(kind, raw, |value| normalise(kind, value, reading))
    }

    /// A URL, which is read with more than other values.
    pub(super) fn url(
        raw: &Value,
        options: &UrlOptions<'_>,
    ) -> Result<TypedValue, PythonException> {
        TypedValue::with(Kind::Url, raw, |value| url::normalise(value, options).map(Normal::Url))
    }

    fn with(
        kind: Kind,
        raw: &Value,
        normalise: impl Fn(&Value) -> Result<Normal, PythonException>,
    ) -> Result<TypedValue, PythonException> {
        let alternatives = match raw {
            Value::List(items) | Value::Tuple(items) if items.len() < 2 => {
                return Err(PythonException(format!(
                    "Alternatives require 2+ items. Got {} with {} item(s). Pass the value directly (not in a list).",
                    raw.to_repr(),
                    items.len()
                )));
            }
            Value::List(items) | Value::Tuple(items) => {
                items.iter().map(normalise).collect::<Result<_, _>>()?
            }
            value => vec![normalise(value)?],
        };
        Ok(TypedValue { kind, raw: raw.clone(), alternatives })
    }

    fn first(&self) -> &Normal {
        self.alternatives.first().unwrap_or(&Normal::Nothing)
    }

    /// The alternatives that are texts.
    fn texts(&self) -> impl Iterator<Item = &str> {
        self.alternatives.iter().filter_map(|normal| match normal {
            Normal::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Those that are URLs.
    pub(super) fn urls(&self) -> impl Iterator<Item = &Url> {
        self.alternatives.iter().filter_map(|normal| match normal {
            Normal::Url(url) => Some(url),
            _ => None,
        })
    }

    /// `is_regexp`.
    pub(super) fn is_pattern(&self) -> bool {
        self.alternatives.iter().any(|normal| is_pattern(&normal.to_text()))
    }

    /// `self == other`.
    pub(super) fn equals(&self, other: &Node) -> Result<bool, PythonException> {
        let other = match (self.kind, other) {
            (kind, Node::Typed(other)) if other.kind == kind => other,
            (Kind::Text, Node::Raw(value @ Value::Str(_))) => {
                let reading = Reading { derender: None, today: Date::ZERO };
                &Box::new(TypedValue::new(Kind::Text, value, reading)?)
            }
            (Kind::Url, Node::Raw(Value::Str(text))) => {
                return Ok(self.urls().any(|url| url.to_text() == *text));
            }
            _ => return Ok(false),
        };
        match self.kind {
            Kind::Text => text::equal(self, other),
            Kind::Base64 => base64::equal(self, other),
            Kind::Url => url::equal(self, other),
            Kind::LocationName => Ok(self.any_pair(other, location::similar)),
            Kind::Duration => Ok(self.any_pair(other, duration::similar)),
            Kind::Coordinates => Ok(coordinates::close(self.first(), other.first())),
            Kind::Currency => Ok(currency::close(self.first(), other.first())),
            Kind::Distance => distance::any_close(&self.alternatives, &other.alternatives),
            _ => Ok(self.any_pair(other, |one, other| one == other)),
        }
    }

    fn any_pair(&self, other: &TypedValue, equal: impl Fn(&Normal, &Normal) -> bool) -> bool {
        self.alternatives.iter().any(|one| other.alternatives.iter().any(|other| equal(one, other)))
    }

    /// `str(self)`.
    pub(super) fn to_text(&self) -> String {
        self.first().to_text()
    }

    /// `repr(self)`.
    pub(super) fn to_repr(&self) -> String {
        let class = self.kind.class();
        if self.alternatives.len() > 1 {
            let texts: Vec<String> = self.alternatives.iter().map(Normal::to_text).collect();
            let texts = Value::Str(texts.join(", or ")).to_repr();
            return format!("{class}({} -> {texts})", self.raw.to_repr());
        }
        let normal = self.first();
        if normal.is_raw(&self.raw) {
            format!("{class}({})", normal.to_repr())
        } else {
            format!("{class}({} -> {})", self.raw.to_repr(), normal.to_repr())
        }
    }
}

fn normalise(kind: Kind, value: &Value, reading: Reading<'_>) -> Result<Normal, PythonException> {
    // These read texts as they are.
    match kind {
        Kind::Empty => return empty::normalise(value),
        Kind::Markdown => return markdown::normalise(value),
        Kind::Base64 => return base64::normalise(value),
        Kind::Url => {
            return url::normalise(value, &UrlOptions::plain(reading.derender)).map(Normal::Url);
        }
        _ => {}
    }
    let clean = match value {
        Value::Str(text) => Value::Str(text::normalise(text, reading.derender)),
        other => other.clone(),
    };
    match kind {
        Kind::Text => Ok(text::read(&clean)),
        Kind::LocationName => location::normalise(&clean),
        Kind::Number => number::normalise(&clean),
        Kind::Boolean => boolean::normalise(&clean),
        Kind::Currency => currency::normalise(&clean),
        Kind::Date => date::normalise(&clean, reading.today),
        Kind::Month => month::normalise(&clean, reading.today),
        Kind::Duration => duration::normalise(&clean),
        Kind::Distance => distance::normalise(&clean),
        Kind::Coordinates => coordinates::normalise(&clean),
        Kind::StringList => string_list::normalise(&clean),
        Kind::Json => json::normalise(&clean),
        Kind::Empty | Kind::Markdown | Kind::Base64 | Kind::Url => Ok(Normal::Nothing),
    }
}

impl Normal {
    /// `str(value)`.
    pub(super) fn to_text(&self) -> String {
        match self {
            Normal::Text(text) => text.clone(),
            Normal::Decimal(decimal) => decimal.to_text(),
            Normal::Duration(micros) => duration::to_text(*micros),
            Normal::Url(url) => url.to_text(),
            other => other.to_repr(),
        }
    }

    /// `repr(value)`.
    pub(super) fn to_repr(&self) -> String {
        match self {
            Normal::Nothing => "None".to_owned(),
            Normal::Text(text) => Value::Str(text.clone()).to_repr(),
            Normal::Truth(truth) => Value::Bool(*truth).to_repr(),
            Normal::Float(number) => float::repr(*number),
            Normal::Decimal(decimal) => format!("Decimal('{}')", decimal.to_text()),
            Normal::Duration(micros) => duration::to_repr(*micros),
            Normal::Texts(texts) => {
                Value::Tuple(texts.iter().cloned().map(Value::Str).collect()).to_repr()
            }
            Normal::Place(latitude, longitude) => {
                format!(
                    "{{'latitude': {}, 'longitude': {}}}",
                    float::repr(*latitude),
                    float::repr(*longitude)
                )
            }
            Normal::Url(url) => url.to_repr(),
        }
    }

    /// `raw == normalised`.
    fn is_raw(&self, raw: &Value) -> bool {
        match self {
            Normal::Nothing => *raw == Value::None,
            Normal::Text(text) => matches!(raw, Value::Str(raw) if raw == text),
            Normal::Truth(truth) => super::node::values_equal(raw, &Value::Bool(*truth)),
            Normal::Float(number) => super::node::values_equal(raw, &Value::Float(*number)),
            Normal::Decimal(decimal) => match raw {
                Value::Int(digits) => Decimal::parse(digits).is_some_and(|raw| raw.same(decimal)),
                Value::Bool(truth) => Decimal::of_float(f64::from(u8::from(*truth))).same(decimal),
                // A float is what its bits say, which all its decimal digits do.
                Value::Float(number) => {
                    Decimal::parse(&format!("{number:.1100}")).is_some_and(|raw| raw.same(decimal))
                }
                _ => false,
            },
            Normal::Place(latitude, longitude) => match raw {
                Value::Dict(dict) => {
                    let is = |key: &str, number: f64| {
                        dict.get(key).is_some_and(|value| {
                            super::node::values_equal(value, &Value::Float(number))
                        })
                    };
                    dict.iter().count() == 2
                        && is("latitude", *latitude)
                        && is("longitude", *longitude)
                }
                _ => false,
            },
            Normal::Duration(_) | Normal::Texts(_) | Normal::Url(_) => false,
        }
    }
}
