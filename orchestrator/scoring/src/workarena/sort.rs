//! Sorting a list: `SortListTask` of `tasks/list.py`.

use python_compat::pattern::{Flags, Pattern};
use python_compat::text::lower;
use python_compat::url::{Url, unquote};
use serde::{Deserialize, Serialize};

use super::list::{self, List};
use super::{Failure, Move, Verdict, page};
use crate::Pages;
use crate::evidence::Visit;
use crate::solution::OracleStep;

/// A list to be sorted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sort {
    /// The list's table.
    pub table: String,
    /// The title of the list.
    pub title: String,
    /// The sort keys, the most significant first.
    pub by: Vec<Key>,
}

/// A sort key of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    pub column: String,
    /// The label of the column.
    pub label: String,
    /// In which direction.
    pub direction: Direction,
}

/// A direction of sorting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The least first.
    Asc,
    /// The greatest first.
    Desc,
}

impl Direction {
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Direction::Asc => ("asc", "ascending", "ORDERBY"),
            Direction::Desc => ("desc", "descending", "ORDERBYDESC"),
        }
    }
}

impl Sort {
    pub(super) fn goal(&self) -> String {
        let mut goal = format!("Sort the \"{}\" list by the following fields:", self.title);
        for Key { label, direction, .. } in &self.by {
            goal += &format!("\n - {label} ({})", direction.words().1);
        }
        goal
    }

    /// A list that is sorted by one column says so itself; of several, only the address does.
    pub(super) async fn validate<P: Pages>(
        &self,
        visit: &Visit,
        pages: &mut P,
    ) -> Result<Verdict, Failure<P::Error>> {
        let here: String = page::read(pages, page::ADDRESS).await?;
        // The published code cuts the last letter off where the address has no `%3F`.
        let start = visit.start_url();
        let mut short = start.chars();
        let known = start.find("%3F").map_or_else(
            || {
                short.next_back();
                short.as_str()
            },
            |at| &start[..at],
        );
        if !page::is_at(&here, known) {
            return Ok(Verdict::not_yet("the page is not the list"));
        }
        let sorted = match self.by.as_slice() {
            [key] => {
                let List { order, direction, .. } = page::read(pages, page::LIST).await?;
                order == key.column && lower(&direction) == key.direction.words().0
            }
            _ => {
                let here = unquote(&here);
                let url = Url::parse(&here).ok_or(Failure::Raised("ValueError"))?;
                match url.first_parameter("sysparm_query") {
                    Some(query) => self.is_order_of(&query)?,
                    None => return Ok(Verdict::not_yet("the address has no query")),
                }
            }
        };
        Ok(if sorted { Verdict::right() } else { Verdict::not_yet("the list is sorted otherwise") })
    }

    /// Whether a query sorts by these columns, in their order, and by no others.
    fn is_order_of<E>(&self, query: &str) -> Result<bool, Failure<E>> {
        let other = "((?!ORDERBY).)*";
        let pattern = format!("^{other}{}{other}$", self.order(r"\^"));
        let pattern =
            Pattern::at_start(&pattern, Flags::default()).ok_or(Failure::Raised("re.error"))?;
        pattern.is_match(query).map_err(|_| Failure::Raised("RecursionError"))
    }

    fn order(&self, joint: &str) -> String {
        let keys = self.by.iter().map(|key| format!("{}{}", key.direction.words().2, key.column));
        keys.collect::<Vec<_>>().join(joint)
    }

    pub(super) fn cheat(&self, address: &str) -> Vec<Move> {
        vec![Move::Step(OracleStep::Goto(list::url(address, &self.table, &self.order("^"))))]
    }
}
