//! The records of an instance, within one request.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use ring::digest::{SHA256, digest};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::golden::{Fixed, json};
use super::rules;
use super::schema::{Column, Kind, Schema};
use super::seed::Record;
use super::virtual_tables;

/// What a handler works on.
pub(super) struct Desk<'a> {
    pub(super) db: &'a Connection,
    pub(super) fixed: &'a Fixed,
    pub(super) now: Timestamp,
    /// The passwords of users, in place of those that their records have.
    pub(super) passwords: &'a BTreeMap<String, String>,
    /// Records that were read by their id, because lists show the same references again and again.
    seen: RefCell<HashMap<String, Option<Record>>>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        db: &'a Connection,
        fixed: &'a Fixed,
        now: Timestamp,
        passwords: &'a BTreeMap<String, String>,
    ) -> Self {
        Desk { db, fixed, now, passwords, seen: RefCell::default() }
    }

    pub(super) fn schema(&self) -> &'a Schema {
        &self.fixed.schema
    }

    /// All records of a table and of those that extend it, in the order of lists without an order.
    pub(super) fn records(&self, table: &str) -> rusqlite::Result<Vec<Record>> {
        if let Some(records) = virtual_tables::records(self.schema(), table) {
            return Ok(records);
        }
        let mut found = Vec::new();
        let mut statement = self.db.prepare_cached(
            "select tab, sys_id, fields, id from record where tab = ?1 order by id",
        )?;
        for one in self.schema().family(table) {
            let rows =
                statement.query_map([one], |row| Ok((row.get::<_, i64>(3)?, record(row)?)))?;
            found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        found.sort_by_key(|(id, _)| *id);
        Ok(found.into_iter().map(|(_, record)| record).collect())
    }

    /// The record with this id, whatever its table.
    pub(super) fn by_id(&self, sys_id: &str) -> rusqlite::Result<Option<Record>> {
        if let Some(seen) = self.seen.borrow().get(sys_id) {
            return Ok(seen.clone());
        }
        let mut statement =
            self.db.prepare_cached("select tab, sys_id, fields from record where sys_id = ?1")?;
        let found = statement.query_row([sys_id], record).optional()?;
        self.seen.borrow_mut().insert(sys_id.to_owned(), found.clone());
        Ok(found)
    }

    /// The record of a table, or of one that extends it, with this id.
    pub(super) fn get(&self, table: &str, sys_id: &str) -> rusqlite::Result<Option<Record>> {
        let found = self.by_id(sys_id)?;
        Ok(found.filter(|record| self.schema().family(table).contains(&record.table.as_str())))
    }

    /// Makes a record; what is not given gets the column's default.
    pub(super) fn insert(
        &self,
        table: &str,
        given: BTreeMap<String, String>,
        sys_id: Option<String>,
        by: &str,
    ) -> rusqlite::Result<Record> {
        let sys_id = match sys_id {
            Some(sys_id) => sys_id,
            None => self.new_id(table)?,
        };
        let mut fields = self.schema().defaults(table);
        fields.extend(given);
        let moment = stamp(self.now);
        for (name, value) in [
            ("sys_created_on", moment.as_str()),
            ("sys_updated_on", moment.as_str()),
            ("sys_created_by", by),
            ("sys_updated_by", by),
            ("sys_mod_count", "0"),
        ] {
            fields.insert(name.to_owned(), value.to_owned());
        }
        let mut record = Record { table: table.to_owned(), sys_id, fields };
        rules::before_insert(self, &mut record)?;
        record.fields.retain(|_, value| !value.is_empty());
        self.db
            .prepare_cached("insert into record (tab, sys_id, fields) values (?1, ?2, ?3)")?
            .execute(params![record.table, record.sys_id, json(&record.fields)?])?;
        self.seen.borrow_mut().clear();
        Ok(record)
    }

    /// Changes a record.
    pub(super) fn update(
        &self,
        mut record: Record,
        given: BTreeMap<String, String>,
        by: &str,
    ) -> rusqlite::Result<Record> {
        let changes: i64 = record.text("sys_mod_count").parse().unwrap_or(0);
        record.fields.extend(given);
        record.fields.insert("sys_updated_on".to_owned(), stamp(self.now));
        record.fields.insert("sys_updated_by".to_owned(), by.to_owned());
        record.fields.insert("sys_mod_count".to_owned(), (changes + 1).to_string());
        rules::before_update(self, &mut record);
        record.fields.retain(|_, value| !value.is_empty());
        self.db
            .prepare_cached("update record set fields = ?2 where sys_id = ?1")?
            .execute(params![record.sys_id, json(&record.fields)?])?;
        self.seen.borrow_mut().clear();
        Ok(record)
    }

    /// Removes a record, and what cannot be without it.
    pub(super) fn delete(&self, record: &Record) -> rusqlite::Result<()> {
        for child in rules::removed_with(self, record)? {
            self.delete(&child)?;
        }
        self.db
            .prepare_cached("delete from record where sys_id = ?1")?
            .execute([&record.sys_id])?;
        self.seen.borrow_mut().clear();
        Ok(())
    }

    /// The next value of a counter, which begins after `last`.
    pub(super) fn count(
        &self,
        name: &str,
        last: impl FnOnce() -> rusqlite::Result<i64>,
    ) -> rusqlite::Result<i64> {
        let mut read = self.db.prepare_cached("select value from counter where name = ?1")?;
        let known: Option<i64> = read.query_row([name], |row| row.get(0)).optional()?;
        let next = known.map_or_else(last, Ok)? + 1;
        self.db
            .prepare_cached("insert or replace into counter values (?1, ?2)")?
            .execute(params![name, next])?;
        Ok(next)
    }

    /// An id for a record that is going to be made.
    pub(super) fn new_id(&self, table: &str) -> rusqlite::Result<String> {
        let number = self.count("sys_id", || Ok(0))?;
        let text = format!("itsm {table} {number}");
        Ok(hex::encode(&digest(&SHA256, text.as_bytes()).as_ref()[..16]))
    }

    /// The stored value of a column, through references as in `caller_id.name`.
    pub(super) fn value(&self, record: &Record, path: &str) -> rusqlite::Result<String> {
        match path.split_once('.') {
            None => Ok(record.value(path)),
            Some((reference, rest)) => match self.by_id(&record.value(reference))? {
                Some(other) => self.value(&other, rest),
                None => Ok(String::new()),
            },
        }
    }

    /// The column of a table at the end of a path.
    pub(super) fn column(&self, table: &str, path: &str) -> Option<&'a Column> {
        match path.split_once('.') {
            None => self.schema().column(table, path),
            Some((reference, rest)) => {
                let table = self.schema().column(table, reference)?.reference.as_deref()?;
                self.column(table, rest)
            }
        }
    }

    /// What people see of a value: of a reference the name of the record, of a choice its label.
    pub(super) fn shown(&self, column: &Column, value: &str) -> rusqlite::Result<String> {
        match column.kind {
            Kind::Reference if !value.is_empty() => match self.by_id(value)? {
                Some(record) => Ok(self.title(&record)),
                None => Ok(value.to_owned()),
            },
            _ => Ok(column.shown(value).to_owned()),
        }
    }

    /// What people see of a record's column.
    pub(super) fn shown_of(&self, record: &Record, path: &str) -> rusqlite::Result<String> {
        let value = self.value(record, path)?;
        match self.column(&record.table, path) {
            Some(column) => self.shown(column, &value),
            None => Ok(value),
        }
    }

    /// What stands for a record in lists and references.
    pub(super) fn title(&self, record: &Record) -> String {
        record.value(self.schema().display(&record.table))
    }
}

impl Record {
    /// A stored value; empty if there is none.
    pub(super) fn text(&self, column: &str) -> &str {
        self.fields.get(column).map_or("", String::as_str)
    }

    /// As [`Record::text`], with the two that every record has.
    pub(super) fn value(&self, column: &str) -> String {
        match column {
            "sys_id" => self.sys_id.clone(),
            "sys_class_name" => self.table.clone(),
            other => self.text(other).to_owned(),
        }
    }
}

/// A time as columns have it.
pub(super) fn stamp(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let fields: String = row.get(2)?;
    let fields = serde_json::from_str(&fields).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, error.into())
    })?;
    Ok(Record { table: row.get(0)?, sys_id: row.get(1)?, fields })
}
