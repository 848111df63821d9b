//! The golden database of the desk, and what all instances of it share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use rusqlite::{Connection, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::schema::Schema;
use super::seed::{self, Chart, Dashboard, Entry, Item, World};
use super::virtual_tables;
use crate::Error;
use crate::error::sqlite;
use crate::golden::Recipe;

/// The folder of the user, if any: it was looked at, and its digest is known.
#[derive(Debug, Clone)]
pub struct Data {
    folder: Option<PathBuf>,
    fingerprint: String,
}

impl Data {
    /// Takes the folder `data_files` of the package, or the neutral base alone.
    ///
    /// # Errors
    /// When the folder is another one, or cannot be read.
    pub fn open(folder: Option<&Path>) -> Result<Data, Error> {
        let fingerprint = seed::fingerprint(folder)?;
        Ok(Data { folder: folder.map(Path::to_owned), fingerprint })
    }

    pub(super) fn recipe(&self) -> Recipe {
        let folder = self.folder.clone();
        Recipe {
            site: "itsm",
            version: format!("{}-{}-{}", self.fingerprint, layout(), rusqlite::version()),
            fill: Box::new(move |db| {
                let world = seed::world(folder.as_deref())?;
                fill(db, &world).map_err(sqlite("write the golden desk"))
            }),
        }
    }
}

/// The tables that databases have, of which none may be missing in an older one.
const TABLES: &str = include_str!("schema.sql");

/// The beginning of a digest of [`TABLES`].
fn layout() -> String {
    hex::encode(&digest(&SHA256, TABLES.as_bytes()).as_ref()[..4])
}

/// What requests only read.
#[derive(Debug, Default)]
pub(super) struct Fixed {
    pub(super) schema: Schema,
    pub(super) menu: Vec<Entry>,
    pub(super) catalogue: Vec<Item>,
    pub(super) dashboards: BTreeMap<String, Dashboard>,
    pub(super) reports: BTreeMap<String, Chart>,
}

impl Fixed {
    pub(super) fn read(db: &Connection) -> Result<Fixed, Error> {
        let read = || -> rusqlite::Result<Fixed> {
            let mut schema = document(db, "schema")?;
            virtual_tables::add(&mut schema);
            Ok(Fixed {
                schema,
                menu: document(db, "menu")?,
                catalogue: document(db, "catalogue")?,
                dashboards: document(db, "dashboards")?,
                reports: document(db, "reports")?,
            })
        };
        read().map_err(sqlite("read the golden desk"))
    }
}

fn document<T: DeserializeOwned>(db: &Connection, name: &str) -> rusqlite::Result<T> {
    let json: String =
        db.query_row("select json from document where name = ?1", [name], |row| row.get(0))?;
    serde_json::from_str(&json).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, error.into())
    })
}

fn fill(db: &Connection, world: &World) -> rusqlite::Result<()> {
    db.execute_batch(TABLES)?;
    keep(db, "schema", &world.schema)?;
    keep(db, "menu", &world.menu)?;
    keep(db, "catalogue", &world.catalogue)?;
    keep(db, "dashboards", &world.dashboards)?;
    keep(db, "reports", &world.reports)?;
    let mut insert = db.prepare("insert into record (tab, sys_id, fields) values (?1, ?2, ?3)")?;
    for record in &world.records {
        let fields: BTreeMap<_, _> =
            record.fields.iter().filter(|(_, value)| !value.is_empty()).collect();
        insert.execute(params![record.table, record.sys_id, json(&fields)?])?;
    }
    for table in world.schema.tables() {
        db.execute_batch(&view(&world.schema, &table.name))?;
    }
    Ok(())
}

fn keep(db: &Connection, name: &str, value: &impl Serialize) -> rusqlite::Result<()> {
    db.execute("insert into document values (?1, ?2)", params![name, json(value)?]).map(|_| ())
}

pub(super) fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// The records of a table and of those that extend it, as SQL sees them.
fn view(schema: &Schema, table: &str) -> String {
    let quoted = |name: &str| name.replace('"', "\"\"");
    let columns: String = schema
        .columns(table)
        .into_iter()
        .filter(|column| column.name != "sys_id")
        .map(|column| {
            let name = quoted(&column.name);
            let path = name.replace('\'', "''");
            format!(", coalesce(fields ->> '$.\"{path}\"', '') as \"{name}\"")
        })
        .collect();
    let family: Vec<String> =
        schema.family(table).iter().map(|one| format!("'{}'", one.replace('\'', "''"))).collect();
    format!(
        "create view \"{}\" as select sys_id{columns} from record where tab in ({}) order by id;",
        quoted(table),
        family.join(", ")
    )
}
