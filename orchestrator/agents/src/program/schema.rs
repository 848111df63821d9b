//! The JSON schema of the agent protocol, generated from the message types.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::protocol::{Answer, Hello, Message};

/// The schema of every message. In `definitions`, `Sent` is what the sandbox sends; `Hello` and
/// `Answer` are the agent's answers.
pub fn protocol() -> Schema {
    let mut sent = SchemaSettings::draft07().for_serialize().into_generator();
    let mut read = SchemaSettings::draft07().for_deserialize().into_generator();
    let message = sent.root_schema_for::<Message<'_>>();
    let mut definitions = Map::new();
    definitions.extend(read.take_definitions(true));
    for schema in [read.root_schema_for::<Hello>(), read.root_schema_for::<Answer>()] {
        let name = schema.get("title").and_then(Value::as_str).unwrap_or_default().to_owned();
        definitions.insert(name, inner(schema, &mut Map::new()));
    }
    definitions.extend(read.take_definitions(true));
    let mut of_message = Map::new();
    let message = inner(message, &mut of_message);
    definitions.extend(of_message);
    definitions.insert("Sent".to_owned(), message);
    let one_of =
        ["Sent", "Hello", "Answer"].map(|name| json!({ "$ref": format!("#/definitions/{name}") }));
    let mut schema = Schema::default();
    schema.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".to_owned(), json!("A message of the agent protocol, version 1"));
    schema.insert("anyOf".to_owned(), json!(one_of));
    schema.insert("definitions".to_owned(), Value::Object(definitions));
    schema
}

/// A schema without the keys of a top-level document.
fn inner(schema: Schema, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = schema.to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("$schema");
        schema.shift_remove("title");
        if let Some(Value::Object(own)) = schema.shift_remove("definitions") {
            definitions.extend(own);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `sandbox agents schema` prints the content of this file.
    #[test]
    fn the_schema_beside_the_protocol_is_this() {
        let made =
            serde_json::to_string_pretty(&protocol()).expect("a schema is plain data") + "\n";
        assert!(
            made == include_str!("../../schema/protocol.json"),
            "run `make schema`, and keep what that writes"
        );
    }
}
