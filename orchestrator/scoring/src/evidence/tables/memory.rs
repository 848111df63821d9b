//! An instance in memory: tables as maps, references and choices as far as they are declared.
//!
//! It knows no rules of any application: a record is what was put into it, with the `sys_id` and
//! the author that it got.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::{Display, EncodedQuery, Input, Lookup, QueryError, Record, Tables};

/// Tables in memory. Equal ones hold the same records and have the same columns declared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    tables: BTreeMap<String, BTreeMap<String, Values>>,
    columns: BTreeMap<(String, String), Column>,
    displays: BTreeMap<String, String>,
    author: String,
    made: Count,
}

type Values = BTreeMap<String, String>;

/// How many records were made: two instances are the same whatever once was in them.
#[derive(Debug, Clone, Eq, Default)]
struct Count(u64);

impl PartialEq for Count {
    fn eq(&self, _: &Count) -> bool {
        true
    }
}

/// The properties of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    /// It holds the `sys_id` of a record of this table.
    Reference(String),
    /// It holds one of these values, which people see as these labels.
    Choice(BTreeMap<String, String>),
}

/// A request that this instance cannot serve.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// A query is not known.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// A reference was given by what people see, and there is no such record.
    #[error("put `{value}` into `{table}.{column}`: nothing is called so")]
    NoSuchValue {
        table: String,
        column: String,
        /// The value that was given.
        value: String,
    },
}

impl Memory {
    /// Declares that a column refers to records of a table.
    pub fn refer(&mut self, table: &str, column: &str, to: &str) {
        self.columns
            .insert((table.to_owned(), column.to_owned()), Column::Reference(to.to_owned()));
    }

    /// Declares the values of a column, and their labels.
    pub fn choices(&mut self, table: &str, column: &str, choices: &[(&str, &str)]) {
        let choices =
            choices.iter().map(|&(value, label)| (value.to_owned(), label.to_owned())).collect();
        self.columns.insert((table.to_owned(), column.to_owned()), Column::Choice(choices));
    }

    /// Declares which column stands for a whole record of a table; `name` if not said.
    pub fn call(&mut self, table: &str, column: &str) {
        self.displays.insert(table.to_owned(), column.to_owned());
    }

    /// Sets the author of the records that are made from now on: their `sys_created_by`.
    pub fn log_in(&mut self, author: &str) {
        author.clone_into(&mut self.author);
    }

    /// The names of the tables that hold records.
    pub fn tables(&self) -> impl Iterator<Item = (&str, usize)> {
        self.tables.iter().map(|(name, records)| (name.as_str(), records.len()))
    }

    /// Makes a record; gives its `sys_id`.
    ///
    /// # Errors
    /// Where a value is given as people see it, and nothing is called so.
    pub fn insert(
        &mut self,
        table: &str,
        values: &Record,
        input: Input,
    ) -> Result<String, MemoryError> {
        let mut record = self.taken(table, values, input)?;
        self.made.0 += 1;
        let sys_id = format!("{:032x}", self.made.0);
        record.insert("sys_id".to_owned(), sys_id.clone());
        record.entry("sys_created_by".to_owned()).or_insert_with(|| self.author.clone());
        self.tables.entry(table.to_owned()).or_default().insert(sys_id.clone(), record);
        Ok(sys_id)
    }

    /// The values as they are kept.
    fn taken(&self, table: &str, values: &Record, input: Input) -> Result<Values, MemoryError> {
        let one = |(column, value): (&String, &Value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let kept = match input {
                Input::Kept => text,
                Input::Shown => self.kept_for(table, column, text)?,
            };
            Ok((column.clone(), kept))
        };
        values.iter().map(one).collect()
    }

    fn kept_for(&self, table: &str, column: &str, shown: String) -> Result<String, MemoryError> {
        let found = match self.columns.get(&(table.to_owned(), column.to_owned())) {
            None => return Ok(shown),
            Some(_) if shown.is_empty() => return Ok(shown),
            Some(Column::Choice(choices)) => {
                choices.iter().find(|(_, label)| **label == shown).map(|(value, _)| value.clone())
            }
            Some(Column::Reference(to)) => {
                let mut records = self.tables.get(to).into_iter().flatten();
                records
                    .find(|(_, record)| self.called(to, record) == shown)
                    .map(|(sys_id, _)| sys_id.clone())
            }
        };
        let (table, column) = (table.to_owned(), column.to_owned());
        found.ok_or(MemoryError::NoSuchValue { table, column, value: shown })
    }

    /// Returns the display name of a record.
    fn called<'a>(&self, table: &str, record: &'a Values) -> &'a str {
        let column = self.displays.get(table).map_or("name", String::as_str);
        record.get(column).map_or("", String::as_str)
    }

    /// A column's value, and as people see it, through references.
    fn value(&self, table: &str, record: &Values, path: &str) -> (String, String) {
        let (column, rest) =
            path.split_once('.').map_or((path, None), |(column, rest)| (column, Some(rest)));
        let kept = record.get(column).cloned().unwrap_or_default();
        let declared = self.columns.get(&(table.to_owned(), column.to_owned()));
        let referred = match declared {
            Some(Column::Reference(to)) => self
                .tables
                .get(to)
                .and_then(|records| records.get(&kept))
                .map(|record| (to, record)),
            _ => None,
        };
        match (rest, referred, declared) {
            (Some(rest), Some((to, record)), _) => self.value(to, record, rest),
            (Some(_), None, _) => Default::default(),
            (None, Some((to, record)), _) => (kept, self.called(to, record).to_owned()),
            (None, None, Some(Column::Choice(choices))) => {
                let shown = choices.get(&kept).unwrap_or(&kept).clone();
                (kept, shown)
            }
            (None, None, _) => (kept.clone(), kept),
        }
    }

    /// A record as it is given.
    fn given(&self, table: &str, record: &Values, fields: &[String], display: Display) -> Record {
        let own = || record.keys().cloned().collect();
        let fields: Vec<String> = if fields.is_empty() { own() } else { fields.to_vec() };
        let one = |field: String| {
            let (kept, shown) = self.value(table, record, &field);
            let column = (table.to_owned(), field.clone());
            let refers =
                matches!(self.columns.get(&column), Some(Column::Reference(_))) && !kept.is_empty();
            let value = match display {
                Display::Both => json!({"value": kept, "display_value": shown}),
                Display::Kept if refers => json!({"value": kept}),
                Display::Shown if refers => json!({"display_value": shown}),
                Display::Kept => Value::String(kept),
                Display::Shown => Value::String(shown),
            };
            (field, value)
        };
        fields.into_iter().map(one).collect::<Map<_, _>>()
    }

    /// The records that a query describes.
    ///
    /// # Errors
    /// Where the query is not known.
    pub fn find(&self, lookup: &Lookup) -> Result<Vec<Record>, MemoryError> {
        let query = EncodedQuery::parse(&lookup.query)?;
        let table = lookup.table.as_str();
        let read = |record: &Values, column: &str| self.value(table, record, column).0;
        let mut found: Vec<&Values> =
            self.tables.get(table).into_iter().flat_map(BTreeMap::values).collect();
        found.retain(|record| query.matches(|column| read(record, column)));
        found.sort_by(|a, b| query.compare(|column| read(a, column), |column| read(b, column)));
        found.truncate(lookup.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(found
            .into_iter()
            .map(|record| self.given(table, record, &lookup.fields, lookup.display))
            .collect())
    }

    fn one(&self, table: &str, sys_id: &str) -> Option<Record> {
        let record = self.tables.get(table)?.get(sys_id)?;
        Some(self.given(table, record, &[], Display::Kept))
    }
}

impl Tables for Memory {
    type Error = MemoryError;

    async fn get(&mut self, lookup: &Lookup) -> Result<Vec<Record>, MemoryError> {
        self.find(lookup)
    }

    async fn create(
        &mut self,
        table: &str,
        values: &Record,
        input: Input,
    ) -> Result<Record, MemoryError> {
        let sys_id = self.insert(table, values, input)?;
        Ok(self.one(table, &sys_id).unwrap_or_default())
    }

    async fn update(
        &mut self,
        table: &str,
        sys_id: &str,
        values: &Record,
    ) -> Result<Option<Record>, MemoryError> {
        let values = self.taken(table, values, Input::Kept)?;
        if let Some(record) = self.tables.get_mut(table).and_then(|records| records.get_mut(sys_id))
        {
            record.extend(values);
        }
        Ok(self.one(table, sys_id))
    }

    async fn delete(&mut self, table: &str, sys_id: &str) -> Result<bool, MemoryError> {
        let Some(records) = self.tables.get_mut(table) else { return Ok(false) };
        let existed = records.remove(sys_id).is_some();
        if records.is_empty() {
            self.tables.remove(table);
        }
        Ok(existed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::{kept, shown};
    use super::*;

    fn record(value: Value) -> Record {
        value.as_object().unwrap().clone()
    }

    fn shop() -> Memory {
        let mut shop = Memory::default();
        shop.refer("order", "buyer", "person");
        shop.choices("order", "state", &[("1", "New"), ("2", "Sent")]);
        let ada = shop
            .insert("person", &record(json!({"name": "Ada", "active": true})), Input::Kept)
            .unwrap();
        for (number, state) in [(7, "1"), (12, "2")] {
            let order = json!({"number": number, "state": state, "buyer": ada, "note": null});
            shop.insert("order", &record(order), Input::Kept).unwrap();
        }
        shop
    }

    #[test]
    fn values_are_texts_in_two_forms_and_references_are_followed() {
        let shop = shop();
        let lookup = Lookup::new("order", "buyer.name=ada^buyer.active=true^ORDERBYDESCnumber");
        let found = shop.find(&lookup.clone().display(Display::Both)).unwrap();
        let numbers: Vec<&str> = found.iter().map(|order| kept(order, "number")).collect();
        assert_eq!(numbers, ["12", "7"]);
        assert_eq!((kept(&found[0], "state"), shown(&found[0], "state")), ("2", "Sent"));
        assert_eq!(shown(&found[0], "buyer"), "Ada");
        let found = shop
            .find(&lookup.clone().display(Display::Shown).fields(&["buyer.name", "note"]))
            .unwrap();
        assert_eq!(found[0], record(json!({"buyer.name": "Ada", "note": ""})));
        let one = shop.find(&Lookup { limit: Some(1), ..lookup }).unwrap();
        assert_eq!((one.len(), one[0]["buyer"].is_object()), (1, true));
    }

    #[test]
    fn what_people_see_is_taken_for_what_is_kept() {
        let mut shop = shop();
        let order = record(json!({"number": 20, "state": "Sent", "buyer": "Ada"}));
        let sys_id = shop.insert("order", &order, Input::Shown).unwrap();
        let found = &shop.find(&Lookup::new("order", format!("sys_id={sys_id}"))).unwrap()[0];
        assert_eq!((kept(found, "state"), found["buyer"].is_object()), ("2", true));
        let order = record(json!({"buyer": "Bob"}));
        let error = shop.insert("order", &order, Input::Shown).unwrap_err().to_string();
        assert_eq!(error, "put `Bob` into `order.buyer`: nothing is called so");
    }

    #[test]
    fn an_instance_is_what_is_in_it() {
        let before = shop();
        let mut after = before.clone();
        after.insert("note", &Record::new(), Input::Kept).unwrap();
        assert_ne!(after, before);
        let sys_id = kept(&after.find(&Lookup::new("note", "")).unwrap()[0], "sys_id").to_owned();
        after.tables.get_mut("note").unwrap().remove(&sys_id);
        after.tables.remove("note");
        assert_eq!(after, before, "but not how many there once were");
    }
}
