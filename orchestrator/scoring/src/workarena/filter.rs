//! Filtering a list: `FilterListTask` of `tasks/list.py`.

use std::collections::{BTreeMap, BTreeSet};

use python_compat::text::strip;
use serde::{Deserialize, Serialize};

use super::list::{self, List};
use super::menu::escaped;
use super::{Failure, Move, Verdict, page};
use crate::Pages;
use crate::evidence::Visit;
use crate::solution::OracleStep;
use crate::tables::{Display, Lookup, Tables, kept, shown};

/// A list to be filtered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filter {
    /// The list's table.
    pub table: String,
    /// How the conditions are joined.
    pub kind: Joint,
    pub conditions: Vec<FilterCondition>,
}

/// How conditions are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Joint {
    /// All have to hold.
    And,
    /// One has to.
    Or,
}

/// One condition: a column and what people see in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterCondition {
    pub column: String,
    /// The label of the column.
    pub label: String,
    /// The value that it must have.
    pub value: String,
    /// How values of the column are kept.
    #[serde(default, skip_serializing_if = "ColumnType::is_text")]
    pub holds: ColumnType,
}

/// How values of a column are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ColumnType {
    /// As people see them.
    #[default]
    Text,
    /// As one of these, which people see as these labels.
    Choice(BTreeMap<String, String>),
    /// As the `sys_id` of a record.
    Reference {
        /// The record's table.
        table: String,
        /// The column that people see instead.
        display: String,
    },
}

impl ColumnType {
    fn is_text(&self) -> bool {
        *self == ColumnType::Text
    }
}

/// The display value of a choice without a label.
const NO_CHOICE: &str = "-- None --";

impl Filter {
    pub(super) fn goal(&self) -> String {
        let joint = match self.kind {
            Joint::And => " and",
            Joint::Or => " or",
        };
        let one = |wanted: &FilterCondition| {
            format!("\n    - \"{}\" is \"{}\"", wanted.label, wanted.value)
        };
        let all: Vec<String> = self.conditions.iter().map(one).collect();
        format!(
            "Create a filter for the list to extract all entries where:{}",
            all.join(&format!("{joint} "))
        )
    }

    /// The list's query has to name the same columns and, as people see them, the same values;
    /// which belongs to which is not looked at, as in the published code.
    pub(super) async fn validate<T: Tables, P: Pages<Error = T::Error>>(
        &self,
        visit: &Visit,
        tables: &mut T,
        pages: &mut P,
    ) -> Result<Verdict, Failure<T::Error>> {
        let here: String = page::read(pages, page::ADDRESS).await?;
        if !page::is_at(&here, &visit.start_url()) {
            return Ok(Verdict::not_yet("the page is not the list"));
        }
        let List { query, .. } = page::read(pages, page::LIST).await?;
        if query.is_empty() {
            return Ok(Verdict::not_yet("the list has no filter"));
        }
        // `^NQ` begins a new query; the published code takes it for `^OR`.
        let query = query.replace("^NQ", "^OR");
        let (kind, joint) =
            if query.contains("^OR") { (Joint::Or, "^OR") } else { (Joint::And, "^") };
        if kind != self.kind {
            return Ok(Verdict::not_yet("the conditions are joined otherwise"));
        }
        let parts: Vec<&str> = query.split(joint).collect();
        if parts.len() != self.conditions.len() {
            return Ok(Verdict::not_yet("there are more or fewer conditions"));
        }
        let Some(found) = parts.into_iter().map(equality).collect::<Option<Vec<_>>>() else {
            return Ok(Verdict::not_yet("a condition asks for something else than a value"));
        };
        let columns: BTreeSet<&str> = found.iter().map(|(column, _)| column.as_str()).collect();
        if columns != self.conditions.iter().map(|wanted| wanted.column.as_str()).collect() {
            return Ok(Verdict::not_yet("the conditions are about other columns"));
        }
        let values = self.as_shown(tables, &found, columns.len()).await?;
        let values: BTreeSet<&str> = values.iter().map(String::as_str).collect();
        Ok(match values == self.conditions.iter().map(|wanted| wanted.value.as_str()).collect() {
            true => Verdict::right(),
            false => Verdict::not_yet("the conditions ask for other values"),
        })
    }

    /// The values of a query as people see them.
    async fn as_shown<T: Tables>(
        &self,
        tables: &mut T,
        found: &[(String, String)],
        columns: usize,
    ) -> Result<Vec<String>, Failure<T::Error>> {
        let one_column = columns < found.len();
        if one_column && columns != 1 {
            return Err(Failure::Raised("Exception"));
        }
        let mut values: Vec<String> = found.iter().map(|(_, value)| value.clone()).collect();
        for (place, (column, _)) in found.iter().enumerate() {
            let first = found.iter().position(|(other, _)| other == column).unwrap_or(place);
            let wanted = self.conditions.iter().find(|wanted| wanted.column == *column);
            // Where a column comes twice, the published code looks at the first place again, which
            // it may have written to.
            let value = values[place].clone();
            match wanted.map(|wanted| &wanted.holds) {
                Some(ColumnType::Reference { table, display }) if !value.is_empty() => {
                    let lookup =
                        Lookup::new(table, format!("sys_id={value}")).display(Display::Both);
                    let found = tables.get(&lookup.fields(&[display])).await?;
                    let record = found.first().ok_or(Failure::Raised("IndexError"))?;
                    values[if one_column { place } else { first }] =
                        shown(record, display).to_owned();
                }
                Some(ColumnType::Choice(choices)) => {
                    values[first] =
                        choices.get(&value).map_or(NO_CHOICE, String::as_str).to_owned();
                }
                _ => {}
            }
        }
        Ok(values)
    }

    /// The list is opened with its filter; what references are kept as is looked up.
    pub(super) async fn cheat<T: Tables>(
        &self,
        address: &str,
        tables: &mut T,
    ) -> Result<Vec<Move>, Failure<T::Error>> {
        let mut parts = Vec::new();
        for wanted in &self.conditions {
            let value = match &wanted.holds {
                ColumnType::Reference { table, display } if !wanted.value.is_empty() => {
                    let query = format!("{display}={}", escaped(&wanted.value));
                    let found = tables.get(&Lookup::new(table, query).fields(&["sys_id"])).await?;
                    let found = found.first().map(|record| kept(record, "sys_id").to_owned());
                    found.ok_or_else(|| {
                        Failure::set_up(format!("its table `{table}` has no `{}`", wanted.value))
                    })?
                }
                _ => wanted.kept_alone().unwrap_or_default(),
            };
            parts.push(condition(&wanted.column, &value));
        }
        Ok(self.opened_with(address, &parts))
    }

    /// The same, where nothing has to be looked up.
    pub(super) fn plain_cheat(&self, address: &str) -> Option<Vec<Move>> {
        let one = |wanted: &FilterCondition| Some(condition(&wanted.column, &wanted.kept_alone()?));
        let parts: Option<Vec<String>> = self.conditions.iter().map(one).collect();
        Some(self.opened_with(address, &parts?))
    }

    fn opened_with(&self, address: &str, parts: &[String]) -> Vec<Move> {
        let joint = match self.kind {
            Joint::And => "^",
            Joint::Or => "^OR",
        };
        vec![Move::Step(OracleStep::Goto(list::url(address, &self.table, &parts.join(joint))))]
    }
}

impl FilterCondition {
    /// Returns the stored form of the value, where that can be known without an instance.
    fn kept_alone(&self) -> Option<String> {
        match &self.holds {
            ColumnType::Reference { .. } if !self.value.is_empty() => None,
            ColumnType::Choice(choices) => {
                let labelled = choices.iter().find(|(_, label)| **label == self.value);
                Some(labelled.map(|(value, _)| value.clone()).unwrap_or_default())
            }
            _ => Some(self.value.clone()),
        }
    }
}

fn condition(column: &str, value: &str) -> String {
    if value.is_empty() {
        format!("{column}ISEMPTY")
    } else {
        format!("{column}={}", escaped(value))
    }
}

/// Column and value of a part that asks for a value; nothing for any other part.
fn equality(part: &str) -> Option<(String, String)> {
    for operator in ["EMPTYSTRING", "ISEMPTY"] {
        if part.contains(operator) {
            return Some((strip(&part.replace(operator, "")).to_owned(), String::new()));
        }
    }
    if part.contains("!=") || part.contains("STARTSWITH") {
        return None;
    }
    let (column, value) = part.split_once('=')?;
    Some((strip(column).to_owned(), strip(value).to_owned()))
}
