//! Exports the table as CSV (RFC 4180, with line feeds).

use std::io::{self, Write};

use super::columns::{COLUMNS, Row, Values};

/// Separates the items of a list.
const BETWEEN: &str = ";";

pub(super) fn write(rows: &[Row<'_>], out: &mut impl Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(COLUMNS.iter().map(|column| column.name))?;
    for row in rows {
        table.write_record(COLUMNS.iter().map(|column| cell(row, &column.values)))?;
    }
    table.flush()
}

fn cell(row: &Row<'_>, values: &Values) -> String {
    match values {
        Values::Text(of) => of(row).unwrap_or_default(),
        Values::Whole(of) => of(row).map(|number| number.to_string()).unwrap_or_default(),
        Values::Fraction(of) => of(row).map(|number| number.to_string()).unwrap_or_default(),
        Values::Truth(of) => of(row).to_string(),
        Values::Time(of) => of(row).to_string(),
        Values::List(of) => of(row).join(BETWEEN),
    }
}
