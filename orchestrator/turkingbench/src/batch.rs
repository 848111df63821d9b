//! The table of a task: its instances, with the workers' answers to each.
//!
//! It follows `Evaluation.retrieve_gold_labels` of JHU-CLSP/turking-bench
//! (`src/evaluation_class.py`). Columns named `Answer.` are answers, all others are inputs, and
//! rows with equal inputs are one instance. The original finds no answers if an input cell is
//! empty, because pandas' empty cells differ from themselves. Here they are equal, as in the
//! original's list of instances, which uses `drop_duplicates`.

use std::collections::HashMap;

use crate::cell::{Cell, Column};
use crate::csv::{self, Line};

const ANSWER: &str = "Answer.";

/// A parsed table.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Number of rows of the table.
    pub rows: usize,
    /// The names of the inputs, in the order of the columns.
    pub inputs: Vec<String>,
    /// The names of the answered fields, in the order of the columns, without `Answer.`
    pub fields: Vec<String>,
    /// The instances, in the order of the table.
    pub instances: Vec<Instance>,
}

/// The inputs of a page, and the answers to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The inputs in the order of [`Batch::inputs`], as pandas writes them.
    pub inputs: Vec<String>,
    /// The answers of all workers to each field. Fields are in the order of [`Batch::fields`],
    /// workers in the order of rows.
    pub golds: Vec<Vec<Cell>>,
}

impl Batch {
    /// Parses a table.
    ///
    /// # Errors
    /// When a line is invalid: its number, from 1, and the reason.
    pub fn read(text: &str) -> Result<Batch, (usize, String)> {
        let unclosed = |line| (line, "its quote is never closed".to_owned());
        let mut lines = csv::read(text).map_err(unclosed)?.into_iter();
        let header = lines
            .next()
            .ok_or_else(|| (1, "there is no line with the names of columns".to_owned()))?;
        let names = names(header.cells);
        let rows: Vec<Line> = lines.collect();
        // pandas would take the first column for an index, or refuse the file.
        if let Some(line) = rows.iter().find(|line| line.cells.len() > names.len()) {
            let (cells, columns) = (line.cells.len(), names.len());
            return Err((
                line.number,
                format!("it has {cells} cells, but there are {columns} columns"),
            ));
        }
        let text =
            |line: &'_ Line, at: usize| line.cells.get(at).map_or("", String::as_str).to_owned();
        let (mut answers, mut inputs) = (Vec::new(), Vec::new());
        for (at, name) in names.iter().enumerate() {
            let cells = rows.iter().map(|line| line.cells.get(at).map_or("", String::as_str));
            // pandas decides on the type of a column by all of its cells.
            let column = Column::of(cells);
            match name.strip_prefix(ANSWER) {
                Some(field) => answers.push((field.to_owned(), at, column)),
                None => inputs.push((name.clone(), at, column)),
            }
        }
        let mut instances: Vec<Instance> = Vec::new();
        let mut known: HashMap<Vec<String>, usize> = HashMap::new();
        // Rows with the same inputs are the answers of several workers to one instance.
        for line in &rows {
            let given: Vec<String> =
                inputs.iter().map(|(_, at, column)| column.written(&text(line, *at))).collect();
            let place = *known.entry(given).or_insert_with_key(|given| {
                instances.push(Instance {
                    inputs: given.clone(),
                    golds: vec![Vec::new(); answers.len()],
                });
                instances.len() - 1
            });
            for (golds, (_, at, column)) in instances[place].golds.iter_mut().zip(&answers) {
                golds.push(column.cell(&text(line, *at)));
            }
        }
        Ok(Batch {
            rows: rows.len(),
            inputs: inputs.into_iter().map(|(name, ..)| name).collect(),
            fields: answers.into_iter().map(|(name, ..)| name).collect(),
            instances,
        })
    }
}

impl Batch {
    /// The page of an instance, counted from 0, as [`page`](crate::page) makes it.
    pub fn page(&self, template: &str, instance: usize, action: &str) -> Option<String> {
        let given = self.instances.get(instance)?.inputs.iter().map(String::as_str);
        Some(crate::page(template, self.inputs.iter().map(String::as_str).zip(given), action))
    }
}

/// Column names as pandas gives them: empty ones by their position, and repeated ones with a
/// number.
fn names(header: Vec<String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(header.len());
    for (at, name) in header.into_iter().enumerate() {
        let name = if name.is_empty() { format!("Unnamed: {at}") } else { name };
        let free = |name: &String| !names.contains(name);
        let numbered = || (1..).map(|number| format!("{name}.{number}")).find(free);
        let name = if free(&name) { None } else { numbered() }.unwrap_or(name);
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_with_equal_inputs_are_one_instance() {
        let table = "colour,n,Answer.like,Answer.why\nred,1,yes,\nblue,,no,sky\nred,01,no,\"a, b\"\nblue,NA,no,\n";
        let batch = Batch::read(table).expect("a table");
        assert_eq!((batch.rows, batch.instances.len()), (4, 2));
        assert_eq!(
            (batch.inputs, batch.fields),
            (vec!["colour".into(), "n".into()], vec!["like".into(), "why".into()])
        );
        let [red, blue] = batch.instances.as_slice() else { panic!("two") };
        assert_eq!(
            (red.inputs.as_slice(), blue.inputs.as_slice()),
            (
                ["red".to_owned(), "1.0".to_owned()].as_slice(),
                ["blue".to_owned(), String::new()].as_slice()
            )
        );
        let text = |text: &str| Cell::Text(text.to_owned());
        assert_eq!(red.golds, [vec![text("yes"), text("no")], vec![Cell::Empty, text("a, b")]]);
        assert_eq!(blue.golds[1], [text("sky"), Cell::Empty]);
    }

    #[test]
    fn what_is_no_table_is_told_with_its_line() {
        for (text, line, message) in [
            ("", 1, "no line with the names"),
            ("a,b\n1,2\n\n1,2,3\n", 4, "it has 3 cells, but there are 2 columns"),
            ("a\n\"b", 2, "never closed"),
        ] {
            let (at, reason) = Batch::read(text).expect_err(text);
            assert!(at == line && reason.contains(message), "{at}: {reason}");
        }
    }

    #[test]
    fn columns_without_a_name_of_their_own_get_one() {
        let header = ["a", "", "a", "a"].map(str::to_owned).to_vec();
        assert_eq!(names(header), ["a", "Unnamed: 1", "a.1", "a.2"]);
    }

    proptest! {
        /// Every row is an answer to one instance, and no two instances have the same inputs.
        #[test]
        fn no_row_is_lost(rows in prop::collection::vec(("[ab]{0,1}", "[01x]{0,1}", "[yn]{0,1}"), 1..20)) {
            let lines: String = rows.iter().map(|(a, b, c)| format!("\"{a}\",\"{b}\",\"{c}\"\n")).collect();
            let batch = Batch::read(&format!("a,b,Answer.c\n{lines}")).expect("a table");
            let golds: usize = batch.instances.iter().map(|instance| instance.golds[0].len()).sum();
            prop_assert_eq!((batch.rows, golds), (rows.len(), rows.len()));
            for (at, one) in batch.instances.iter().enumerate() {
                prop_assert!(batch.instances[at + 1..].iter().all(|other| other.inputs != one.inputs));
            }
        }
    }
}
