//! `Coordinates`: degrees north and east, from a pair, an object or a text.

use std::sync::LazyLock;

use python_compat::pattern::{Flags, Pattern};
use python_compat::{Dict, Value, float};

use super::Normal;
use crate::webarena_verified::PythonException;
use crate::webarena_verified::node::is_truthy;

/// Degrees; about a metre.
const TOLERANCE: f64 = 1e-5;

/// `geopy`'s pattern. The groups: direction, degrees, minutes, seconds, direction; twice; then
/// height and its unit.
static POINT: LazyLock<Pattern> = LazyLock::new(|| {
    let float = r"\d+(?:\.\d+)?";
    let angle = |directions: &str| {
        format!(
            "([{directions}])?[ ]*([+-]?{float})(?:[\u{b0}D\\*\\s][ ]*(?:({float})[\u{2032}'m][ ]*)?\
             (?:({float})[\u{2033}\"s][ ]*)?)?([{directions}])?"
        )
    };
    let separator = r"\s*[,;/\s]\s*";
    let pattern = format!(
        r"\A.*?{}{separator}{}(?:{separator}([+-]?{float})[ ]*(km|m|mi|ft|nm|nmi))?\s*$",
        angle("NS"),
        angle("EW")
    );
    Pattern::ours(&pattern, Flags::default())
});

/// Two numbers or texts in a list are one place, not two to choose from.
pub(super) fn pair(raw: &Value) -> Option<Value> {
    let (Value::List(items) | Value::Tuple(items)) = raw else { return None };
    let plain = |value: &Value| {
        matches!(value, Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_))
    };
    (items.len() == 2 && items.iter().all(plain)).then(|| raw.clone())
}

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    let place = match value {
        value if !is_truthy(value) => None,
        Value::Dict(dict) => of_dict(dict),
        Value::List(items) | Value::Tuple(items) => match items.as_slice() {
            [latitude, longitude] => of_values(latitude, longitude),
            _ => None,
        },
        Value::Str(text) => of_text(text),
        _ => None,
    };
    place
        .ok_or_else(|| PythonException(format!("Unable to parse coordinates: {}", value.to_repr())))
}

/// Any beginning of the two words will do for a key.
fn of_dict(dict: &Dict) -> Option<Normal> {
    let find = |word: &str, other: &str| {
        let (_, value) = dict.iter().find(|(key, _)| {
            let key = key.to_lowercase();
            (key.len() >= 2 && word.starts_with(&key)) || key == other
        })?;
        Some(value)
    };
    of_values(find("latitude", "latitude")?, find("longitude", "lng")?)
}

fn of_values(latitude: &Value, longitude: &Value) -> Option<Normal> {
    // Without a longitude, geopy takes the one value it has for all of a place.
    if *longitude == Value::None {
        return match latitude {
            Value::Str(text) => of_text(text),
            Value::List(items) if items.len() == 2 || items.len() == 3 => {
                if items.get(2).is_some_and(|height| number(height).is_none()) {
                    return None;
                }
                of_values(items.first()?, items.get(1)?)
            }
            Value::None => place(0.0, 0.0),
            _ => None,
        };
    }
    place(number(latitude)?, number(longitude)?)
}

/// `float(value or 0.0)`.
fn number(value: &Value) -> Option<f64> {
    match value {
        value if !is_truthy(value) => Some(0.0),
        Value::Bool(_) => Some(1.0),
        Value::Int(digits) => digits.parse().ok(),
        Value::Float(number) => Some(*number),
        Value::Str(text) => float::parse(text),
        _ => None,
    }
}

fn of_text(text: &str) -> Option<Normal> {
    let text = text.replace("''", "\"");
    let groups = POINT.captures(&text)?;
    let group = |at: usize| groups.get(at).copied().flatten().filter(|text| !text.is_empty());
    let angle = |first: usize| {
        let part = |at: usize| group(first + at).map_or(Some(0.0), float::parse);
        let (degrees, minutes, seconds) = (part(1)?, part(2)?, part(3)?);
        let more =
            if minutes != 0.0 || seconds != 0.0 { minutes / 60.0 + seconds / 3600.0 } else { 0.0 };
        let degrees = if degrees < 0.0 { degrees - more } else { degrees + more };
        let south = matches!(group(first).or(group(first + 4)), Some("S" | "W"));
        Some(if south { -degrees } else { degrees })
    };
    place(angle(1)?, angle(6)?)
}

fn place(latitude: f64, longitude: f64) -> Option<Normal> {
    if !latitude.is_finite() || !longitude.is_finite() || latitude.abs() > 90.0 {
        return None;
    }
    Some(Normal::Place(
        latitude,
        if longitude.abs() > 180.0 { turned(longitude) } else { longitude },
    ))
}

/// The same meridian between -180 and 180 degrees.
fn turned(longitude: f64) -> f64 {
    match longitude % 360.0 {
        0.0 => 0.0,
        rest if rest < -180.0 => rest + 360.0,
        rest if rest >= 180.0 => rest - 360.0,
        rest => rest,
    }
}

pub(super) fn close(one: &Normal, other: &Normal) -> bool {
    let (Normal::Place(north, east), Normal::Place(other_north, other_east)) = (one, other) else {
        return false;
    };
    (north - other_north).abs() <= TOLERANCE && (east - other_east).abs() <= TOLERANCE
}

#[cfg(test)]
mod tests {
    use python_compat::json;

    use super::*;

    #[test]
    fn places_are_read() {
        for (text, expect) in [
            (r#"{"lat": "40.5", "lng": -79}"#, Some((40.5, -79.0))),
            (r#"{"latitude": 91, "longitude": 0}"#, None),
            ("[1, 190]", Some((1.0, -170.0))),
            (r#""40.5, -79.9""#, Some((40.5, -79.9))),
            (r#""40 30' 0\" N; 79 0' 0\" W""#, Some((40.5, -79.0))),
            (r#""here""#, None),
            ("5", None),
        ] {
            let read = normalise(&json::parse(text).expect(text)).ok();
            assert_eq!(read, expect.map(|(north, east)| Normal::Place(north, east)), "{text}");
        }
    }
}
