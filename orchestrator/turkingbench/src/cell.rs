//! Table cells, as pandas' `read_csv` parses a column's texts and as `to_csv` writes them.

use serde::{Deserialize, Serialize, Serializer};

/// The texts that pandas reads as an empty cell.
const EMPTY: [&str; 19] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// `TRUE` and `FALSE`, if the column has nothing else.
    Bool(bool),
    /// A number, if the column has nothing else.
    Number(f64),
    /// Any other cell.
    Text(String),
    /// An empty cell.
    Empty,
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self {
            Cell::Bool(truth) => output.serialize_bool(*truth),
            #[expect(clippy::cast_possible_truncation, reason = "it is a whole number below 2^53")]
            Cell::Number(number) if number.fract() == 0.0 && number.abs() < EXACT => {
                output.serialize_i64(*number as i64)
            }
            Cell::Number(number) => output.serialize_f64(*number),
            Cell::Text(text) => output.serialize_str(text),
            Cell::Empty => output.serialize_unit(),
        }
    }
}

/// The type of a column, which decides the type of its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Bool,
    Whole,
    Number,
    Text,
}

impl Column {
    /// The type that fits all cells that are not empty. Whole numbers with empty cells between them
    /// are `Number`, and so is a column of empty cells.
    pub(crate) fn of<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Column {
        let said = cells.clone().filter(|cell| !is_empty(cell));
        let all_said = !cells.clone().any(is_empty);
        if cells.clone().next().is_none() {
            Column::Text
        } else if said.clone().next().is_some() && said.clone().all(|cell| truth(cell).is_some()) {
            Column::Bool
        } else if all_said && said.clone().all(|cell| cell.trim().parse::<i64>().is_ok()) {
            Column::Whole
        } else if said.clone().all(|cell| number(cell).is_some()) {
            Column::Number
        } else {
            Column::Text
        }
    }

    /// Parses a cell.
    pub(crate) fn cell(self, text: &str) -> Cell {
        let read = match self {
            _ if is_empty(text) => Some(Cell::Empty),
            Column::Bool => truth(text).map(Cell::Bool),
            Column::Whole | Column::Number => number(text).map(Cell::Number),
            Column::Text => None,
        };
        read.unwrap_or_else(|| Cell::Text(text.to_owned()))
    }

    /// The text that pandas writes for the cell, which is what fills the pages.
    pub(crate) fn written(self, text: &str) -> String {
        match self {
            _ if is_empty(text) => String::new(),
            Column::Bool => if truth(text) == Some(true) { "True" } else { "False" }.to_owned(),
            Column::Whole => text
                .trim()
                .parse::<i64>()
                .map_or_else(|_| text.to_owned(), |number| number.to_string()),
            Column::Number => number(text).map_or_else(|| text.to_owned(), spelt),
            Column::Text => text.to_owned(),
        }
    }
}

pub(crate) fn is_empty(text: &str) -> bool {
    EMPTY.contains(&text)
}

fn truth(text: &str) -> Option<bool> {
    match text {
        "True" | "TRUE" | "true" => Some(true),
        "False" | "FALSE" | "false" => Some(false),
        _ => None,
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// A number as Python writes it: always with a fraction or an exponent.
fn spelt(number: f64) -> String {
    if number.is_finite() && number != 0.0 && !(1e-4..1e16).contains(&number.abs()) {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) =
            exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    if number.fract() == 0.0 { format!("{number:.1}") } else { number.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(texts: &[&str], cells: &str, written: &[&str]) {
        let column = Column::of(texts.iter().copied());
        let read: Vec<Cell> = texts.iter().map(|text| column.cell(text)).collect();
        assert_eq!(serde_json::to_string(&read).expect("cells are plain"), cells, "{texts:?}");
        assert_eq!(serde_json::from_str::<Vec<Cell>>(cells).expect("cells"), read);
        let again: Vec<String> = texts.iter().map(|text| column.written(text)).collect();
        assert_eq!(again, written, "{texts:?}");
    }

    #[test]
    fn a_column_is_what_all_its_cells_are() {
        check(&["1", " 07"], "[1,7]", &["1", "7"]);
        check(&["1", "", "07"], "[1,null,7]", &["1.0", "", "7.0"]);
        check(&["1.50", "3"], "[1.5,3]", &["1.5", "3.0"]);
        check(&["1", "x", "NA"], r#"["1","x",null]"#, &["1", "x", ""]);
        check(&["TRUE", "false"], "[true,false]", &["True", "False"]);
        check(&["true", "null"], "[true,null]", &["True", ""]);
        check(&["true", "1"], r#"["true","1"]"#, &["true", "1"]);
        check(&["", "n/a"], "[null,null]", &["", ""]);
        check(&["1e17", "0.00002"], "[1e+17,0.00002]", &["1e+17", "2e-05"]);
        check(&["9007199254740993"], "[9007199254740992.0]", &["9007199254740993"]);
    }
}
