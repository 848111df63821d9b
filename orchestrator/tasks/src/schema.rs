//! JSON schemas of the files of a suite, for editors and other programs. They are made of the types
//! that read the files.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::suite::SuiteFile;
use crate::{GoalText, Task};

/// The schema of a task's file.
pub fn task() -> Schema {
    of::<Task>("A task")
}

/// The schema of `suite.yaml`.
pub fn suite() -> Schema {
    of::<SuiteFile>("A suite: what its episodes start from")
}

/// In draft 7, which every editor knows.
fn of<T: JsonSchema>(title: &str) -> Schema {
    let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    if let Some(keys) = schema.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
        keys.insert("format".to_owned(), file_version::schema());
    }
    schema.insert("title".to_owned(), title.into());
    schema
}

/// A text, or where the page has it.
impl JsonSchema for GoalText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GoalText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What the agent is told to do: words, or an expression of JavaScript that the page has them at.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "page": { "type": "string", "minLength": 1 } },
                    "required": ["page"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The folder with the schemas for editors. `sandbox tasks schema` prints their contents.
    #[test]
    fn the_schemas_beside_the_suites_are_these() {
        for (schema, kept) in [
            (task(), include_str!("../../../tasks/schema/task.json")),
            (suite(), include_str!("../../../tasks/schema/suite.json")),
        ] {
            let made =
                serde_json::to_string_pretty(&schema).expect("a schema is plain data") + "\n";
            assert!(made == kept, "run `make schema`, and keep what that writes");
        }
    }
}
