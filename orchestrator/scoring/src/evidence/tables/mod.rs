//! Records in tables, as ServiceNow's table API (`/api/now/table`) gives and takes them.
//!
//! What a task needs to know of an instance, or has to change on it, goes through the trait
//! [`Tables`]: an instance somewhere behind HTTP, or [`Memory`], which is one in memory. Nothing
//! here opens a connection.

mod memory;

use std::future::Future;

pub use encoded_query::{Condition, EncodedQuery, Operator, Order, QueryError};
pub use memory::{Memory, MemoryError};
use serde_json::{Map, Value};

/// One record: values by the names of their columns. A value is a text, or an object with `value`
/// and `display_value`.
pub type Record = Map<String, Value>;

/// A query of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lookup {
    /// The table's name, such as `incident`.
    pub table: String,
    /// `sysparm_query`: an [encoded query](EncodedQuery); empty for all records.
    pub query: String,
    /// `sysparm_fields`: the columns that are wanted, through references as in `theme.name`; none
    /// for all of the table's own.
    pub fields: Vec<String>,
    /// `sysparm_limit`: how many records at most.
    pub limit: Option<u32>,
    /// `sysparm_display_value`.
    pub display: Display,
}

/// The form in which a value is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Display {
    /// As it is kept: `false`. A reference is an object with `value`.
    #[default]
    Kept,
    /// As people see it: `true`. A reference is an object with `display_value`.
    Shown,
    /// Every value is an object with both: `all`.
    Both,
}

impl Display {
    /// As the parameter has it.
    pub fn parameter(self) -> &'static str {
        match self {
            Display::Kept => "false",
            Display::Shown => "true",
            Display::Both => "all",
        }
    }
}

/// How the values of a new record are written: `sysparm_input_display_value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// As they are kept.
    #[default]
    Kept,
    /// As people see them.
    Shown,
}

/// An instance's tables, for somebody who may see and change all of them.
pub trait Tables {
    /// Why the instance has no answer.
    type Error;

    /// The records that a query describes.
    fn get(
        &mut self,
        lookup: &Lookup,
    ) -> impl Future<Output = Result<Vec<Record>, Self::Error>> + Send;

    /// Makes a record; gives it with its `sys_id`.
    fn create(
        &mut self,
        table: &str,
        values: &Record,
        input: Input,
    ) -> impl Future<Output = Result<Record, Self::Error>> + Send;

    /// Changes some values of a record; gives it as it then is, or nothing where there is no such
    /// record.
    fn update(
        &mut self,
        table: &str,
        sys_id: &str,
        values: &Record,
    ) -> impl Future<Output = Result<Option<Record>, Self::Error>> + Send;

    /// Deletes a record; says whether there was one.
    fn delete(
        &mut self,
        table: &str,
        sys_id: &str,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;
}

impl Lookup {
    /// Records of a table by a query.
    pub fn new(table: &str, query: impl Into<String>) -> Lookup {
        Lookup { table: table.to_owned(), query: query.into(), ..Lookup::default() }
    }

    /// With these columns alone.
    pub fn fields(self, fields: &[&str]) -> Lookup {
        Lookup { fields: fields.iter().map(|&field| field.to_owned()).collect(), ..self }
    }

    /// With values in this form.
    pub fn display(self, display: Display) -> Lookup {
        Lookup { display, ..self }
    }
}

/// A column's value as it is kept; empty where there is none.
pub fn kept<'a>(record: &'a Record, column: &str) -> &'a str {
    one_of(record.get(column), "value")
}

/// A column's value as people see it; empty where there is none.
pub fn shown<'a>(record: &'a Record, column: &str) -> &'a str {
    one_of(record.get(column), "display_value")
}

fn one_of<'a>(value: Option<&'a Value>, form: &str) -> &'a str {
    match value {
        Some(Value::Object(forms)) => forms.get(form).and_then(Value::as_str).unwrap_or_default(),
        Some(value) => value.as_str().unwrap_or_default(),
        None => "",
    }
}
