//! Exports the table as JSON: an array with an object for each row.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::columns::{COLUMNS, Row, Values};

pub(super) fn write(rows: &[Row<'_>], out: &mut impl Write) -> io::Result<()> {
    let table: Vec<Map<String, Value>> = rows.iter().map(object).collect();
    serde_json::to_writer_pretty(&mut *out, &table)?;
    out.write_all(b"\n")
}

fn object(row: &Row<'_>) -> Map<String, Value> {
    COLUMNS.iter().map(|column| (column.name.to_owned(), cell(row, &column.values))).collect()
}

fn cell(row: &Row<'_>, values: &Values) -> Value {
    match values {
        Values::Text(of) => of(row).into(),
        Values::Whole(of) => of(row).into(),
        Values::Fraction(of) => of(row).into(),
        Values::Truth(of) => of(row).into(),
        Values::Time(of) => of(row).to_string().into(),
        Values::List(of) => of(row).into(),
    }
}
