//! Documentation of `site.yaml` for editors and people: a JSON schema, generated from the types
//! that parse it, and a Markdown page of all keys, generated from the schema.

use std::fmt::Write as _;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::manifest::Manifest;

const TITLE: &str = "A site: how a web application runs, and how it is put back";

/// The JSON schema of `site.yaml`, in draft 7, which every editor supports.
pub fn site() -> Schema {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<Manifest>();
    if let Some(keys) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
        keys.insert("format".to_owned(), file_version::schema());
    }
    schema.insert("title".to_owned(), TITLE.into());
    schema
}

/// The reference page of all keys, as Markdown.
pub fn reference() -> String {
    let schema = Value::from(site());
    let mut page = "# site.yaml\n\nEvery key of a site's manifest, `sites/NAME/site.yaml`. A key that is not listed here is \
        an error, named with file and line. The name of the folder is the name of the site.\n\n\
        Made by `make schema` of what reads the file; `schema/site.json` beside it says the same to editors: \
        the first line of a file may be\n`# yaml-language-server: $schema=/path/to/sites/schema/site.json`.\n"
        .to_owned();
    table(&mut page, &schema);
    let definitions = schema["definitions"].as_object().cloned().unwrap_or_default();
    for (name, definition) in &definitions {
        let _ = write!(page, "\n## {name}\n\n{}\n", described(definition));
        match alternatives(definition) {
            Some(values) => {
                page.push_str("\n| value | meaning |\n| --- | --- |\n");
                for (value, meaning) in values {
                    let _ = writeln!(page, "| {value} | {meaning} |");
                }
            }
            None => table(&mut page, definition),
        }
    }
    page
}

/// Writes the table of an object's keys.
fn table(page: &mut String, schema: &Value) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let required = |key: &str| {
        schema["required"].as_array().is_some_and(|keys| keys.iter().any(|own| own == key))
    };
    page.push_str("\n| key | type | default | meaning |\n| --- | --- | --- | --- |\n");
    for (key, value) in properties {
        let default = match value.get("default") {
            _ if required(key) => "*needed*".to_owned(),
            None | Some(Value::Null) => "none".to_owned(),
            Some(Value::Object(map)) if !map.is_empty() => "as there".to_owned(),
            Some(Value::String(text)) => format!("`{text}`"),
            Some(Value::Array(list)) if list.is_empty() => "none".to_owned(),
            Some(Value::Object(_)) => "none".to_owned(),
            Some(other) => format!("`{other}`"),
        };
        let _ = writeln!(page, "| `{key}` | {} | {default} | {} |", kind(value), described(value));
    }
}

/// A type as text.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for several in ["allOf", "anyOf"] {
        if let Some(parts) = schema[several].as_array() {
            let kinds: Vec<String> =
                parts.iter().filter(|part| part["type"] != "null").map(kind).collect();
            return kinds.join(" or ");
        }
    }
    let of =
        |item: &Value| if item.is_object() { format!(" of {}", kind(item)) } else { String::new() };
    let named = |name: &str| match name {
        "array" => format!("list{}", of(&schema["items"])),
        "object" => format!("map{}", of(&schema["additionalProperties"])),
        "string" => "text".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        other => other.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => named(name),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.map(named).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

/// The values of an enumeration with their descriptions; `None` for other types.
fn alternatives(schema: &Value) -> Option<Vec<(String, String)>> {
    let value = |part: &Value| -> Option<(String, String)> {
        let spelt =
            match part["properties"].as_object().map(Map::iter).and_then(|mut own| own.next()) {
                Some((key, of)) => format!("`{key}:` {}", kind(of)),
                None => format!("`{}`", part["const"].as_str()?),
            };
        Some((spelt, described(part)))
    };
    schema["oneOf"].as_array()?.iter().map(value).collect()
}

/// A description on one table line, without the markup of doc links.
fn described(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut plain = words.join(" ").replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    // The rest is the target of a doc link.
    while let Some((start, end)) =
        plain.find("`(").and_then(|at| Some((at + 1, at + plain[at..].find(')')? + 1)))
    {
        plain.replace_range(start..end, "");
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make schema` writes these files for editors and people.
    #[test]
    fn schema_and_reference_beside_the_sites_are_these() {
        let made = serde_json::to_string_pretty(&site()).expect("a schema is plain data") + "\n";
        let kept = include_str!("../../../sites/schema/site.json");
        assert!(made == kept, "run `make schema`, and keep what that writes");
        let kept = include_str!("../../../sites/REFERENCE.md");
        assert!(reference() == kept, "run `make schema`, and keep what that writes");
    }

    #[test]
    fn every_key_has_its_line_and_its_meaning() {
        let page = reference();
        for line in [
            "| `driver` | [DriverKind](#driverkind) | *needed* | The driver that runs the site. |",
            "| `ready_within` | [Period](#period) | `60s` | The timeout for all conditions of `ready` together. |",
            "| `memory` | [Bytes](#bytes) | `512M` | Memory, without additional swap. |",
            "| `reset` | [ResetPolicy](#resetpolicy) | `spare` | How a used instance becomes pristine again. |",
            "| `hosts` | list of [Host](#host) | *needed* | The host names of the site. |",
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
        let empty = page.lines().find(|line| line.starts_with("| `") && line.ends_with("|  |"));
        assert_eq!(empty, None);
        assert!(!page.contains("| any |"), "{page}");
    }
}
