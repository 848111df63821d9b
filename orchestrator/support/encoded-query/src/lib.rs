//! Encoded queries, ServiceNow's `sysparm_query`:
//! `active=true^priority=1^ORpriority=2^ORDERBYnumber`.
//!
//! Conditions are joined by `^`; one after `^OR` is an alternative to the one before it; `^NQ`
//! begins a query of its own, whose records come as well. A circumflex within a value is written
//! twice. Of texts the case does not matter, as on an instance. What is not known is refused here,
//! where an instance would leave it out and give more records than were asked for.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::fmt;

use thiserror::Error;

/// Records that are wanted, and their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedQuery {
    /// One of these has to hold; of each all, and of each of these one.
    pub queries: Vec<Vec<Vec<Condition>>>,
    /// The sort keys, the most significant first.
    pub order: Vec<Order>,
}

/// The condition on one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The column, through references as in `theme.name`.
    pub column: String,
    /// How it is compared.
    pub operator: Operator,
    /// With what; empty for operators that take nothing.
    pub value: String,
}

/// One key of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The column, through references.
    pub column: String,
    /// From the greatest to the least.
    pub descending: bool,
}

/// A text that is no query, or one that is not known here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("understand `{part}` of the query `{query}`: it has no operator that is known here")]
pub struct QueryError {
    /// The part that is not understood.
    pub part: String,
    /// All of it.
    pub query: String,
}

macro_rules! operators {
    ($($name:ident $text:literal $about:literal,)*) => {
        /// How a value is compared.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Operator {
            $(#[doc = $about] $name,)*
        }

        impl Operator {
            /// All of them; where one is the beginning of another, the longer one comes first.
            pub const ALL: &[Operator] = &[$(Operator::$name),*];

            /// As queries have it.
            pub fn text(self) -> &'static str {
                match self {
                    $(Operator::$name => $text,)*
                }
            }
        }
    };
}

operators! {
    NotEqual "!=" "It is another text.",
    AtLeast ">=" "It is as great, or greater.",
    AtMost "<=" "It is as small, or smaller.",
    Equal "=" "It is this text.",
    Above ">" "It is greater.",
    Below "<" "It is smaller.",
    StartsWith "STARTSWITH" "It begins with this.",
    EndsWith "ENDSWITH" "It ends with this.",
    NotLike "NOT LIKE" "This does not occur in it.",
    NotIn "NOT IN" "It is none of these, with commas between them.",
    IsNotEmpty "ISNOTEMPTY" "It has a value.",
    IsEmpty "ISEMPTY" "It has no value.",
    EmptyString "EMPTYSTRING" "It is the empty text.",
    Anything "ANYTHING" "It may be whatever it is.",
    Like "LIKE" "This occurs in it.",
    In "IN" "It is one of these, with commas between them.",
}

const OR: &str = "OR";
const NEW_QUERY: &str = "NQ";
const ORDER: &str = "ORDERBY";
const DESCENDING: &str = "ORDERBYDESC";
/// The mark that lists put at the end of their own queries. It has no meaning.
const END: &str = "EQ";

impl EncodedQuery {
    /// Reads a query.
    ///
    /// # Errors
    /// At a part that is not known.
    pub fn parse(query: &str) -> Result<EncodedQuery, QueryError> {
        let mut read = EncodedQuery::default();
        for part in split(query) {
            let unknown = || QueryError { part: part.clone(), query: query.to_owned() };
            read.take(&part).ok_or_else(unknown)?;
        }
        Ok(read)
    }

    /// Reads a query as an instance does: leaves out what it does not know, and conditions and keys
    /// on columns that are not there.
    pub fn parse_known(query: &str, is_column: impl Fn(&str) -> bool) -> EncodedQuery {
        let mut read = EncodedQuery::default();
        for part in split(query) {
            let _ = read.take(&part);
        }
        for all in &mut read.queries {
            for alternatives in all.iter_mut() {
                alternatives.retain(|condition| is_column(&condition.column));
            }
            all.retain(|alternatives| !alternatives.is_empty());
        }
        read.order.retain(|order| is_column(&order.column));
        read
    }

    /// Takes one part; `None` if it is not known.
    fn take(&mut self, part: &str) -> Option<()> {
        if part.is_empty() || part == END {
            return Some(());
        }
        let key = |column: &str, descending| Order { column: column.to_owned(), descending };
        if let Some(column) = part.strip_prefix(DESCENDING) {
            self.order.push(key(column, true));
            return Some(());
        }
        if let Some(column) = part.strip_prefix(ORDER) {
            self.order.push(key(column, false));
            return Some(());
        }
        let (another, rest) =
            part.strip_prefix(NEW_QUERY).map_or((false, part), |rest| (true, rest));
        if another {
            self.queries.push(Vec::new());
        }
        let (or, rest) = rest.strip_prefix(OR).map_or((false, rest), |rest| (true, rest));
        if another && rest.is_empty() {
            return Some(());
        }
        let condition = Condition::parse(rest)?;
        let all = self.queries.last_mut()?;
        match all.last_mut().filter(|_| or) {
            Some(alternatives) => alternatives.push(condition),
            None => all.push(vec![condition]),
        }
        Some(())
    }

    /// Whether a record is wanted; `read` gives the values of its columns.
    pub fn matches(&self, read: impl Fn(&str) -> String) -> bool {
        let judged: Result<bool, Infallible> =
            self.holds(|condition| Ok(condition.holds(&read(&condition.column))));
        judged.unwrap_or_else(|never| match never {})
    }

    /// Whether a record is wanted, where `judge` says whether a condition holds.
    ///
    /// # Errors
    /// The first one of `judge`.
    pub fn holds<E>(&self, judge: impl Fn(&Condition) -> Result<bool, E>) -> Result<bool, E> {
        for all in &self.queries {
            if all_of(all, |alternatives| any_of(alternatives, &judge))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All conditions, in their order.
    pub fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Condition> {
        self.queries.iter_mut().flatten().flatten()
    }

    /// Compares two records by the sort keys.
    pub fn compare(
        &self,
        left: impl Fn(&str) -> String,
        right: impl Fn(&str) -> String,
    ) -> Ordering {
        let one = |order: &Order| {
            let ascending = compare(&left(&order.column), &right(&order.column));
            if order.descending { ascending.reverse() } else { ascending }
        };
        self.order.iter().map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

fn any_of<T, E>(list: &[T], judge: impl Fn(&T) -> Result<bool, E>) -> Result<bool, E> {
    for one in list {
        if judge(one)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn all_of<T, E>(list: &[T], judge: impl Fn(&T) -> Result<bool, E>) -> Result<bool, E> {
    Ok(!any_of(list, |one| judge(one).map(|holds| !holds))?)
}

/// The parts between single circumflexes; two of them are one in a part.
fn split(query: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = query;
    while let Some((before, after)) = rest.split_once('^') {
        let last = parts.len() - 1;
        parts[last].push_str(before);
        match after.strip_prefix('^') {
            Some(after) => {
                parts[last].push('^');
                rest = after;
            }
            None => {
                parts.push(String::new());
                rest = after;
            }
        }
    }
    let last = parts.len() - 1;
    parts[last].push_str(rest);
    parts
}

impl Condition {
    fn parse(text: &str) -> Option<Condition> {
        let is_name =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.');
        let end = text.find(|c| !is_name(c)).filter(|&end| end > 0)?;
        let (column, rest) = text.split_at(end);
        let operator = Operator::ALL.iter().find(|operator| rest.starts_with(operator.text()))?;
        let value = rest[operator.text().len()..].to_owned();
        Some(Condition { column: column.to_owned(), operator: *operator, value })
    }

    /// Whether it holds for a column's value.
    pub fn holds(&self, found: &str) -> bool {
        let (found, wanted) = (found.to_lowercase(), self.value.to_lowercase());
        let listed = || wanted.split(',').any(|one| one.trim() == found);
        match self.operator {
            Operator::Equal => found == wanted,
            Operator::NotEqual => found != wanted,
            Operator::Above => compare(&found, &wanted).is_gt(),
            Operator::AtLeast => compare(&found, &wanted).is_ge(),
            Operator::Below => compare(&found, &wanted).is_lt(),
            Operator::AtMost => compare(&found, &wanted).is_le(),
            Operator::Like => found.contains(&wanted),
            Operator::NotLike => !found.contains(&wanted),
            Operator::StartsWith => found.starts_with(&wanted),
            Operator::EndsWith => found.ends_with(&wanted),
            Operator::In => listed(),
            Operator::NotIn => !listed(),
            Operator::IsEmpty | Operator::EmptyString => found.is_empty(),
            Operator::IsNotEmpty => !found.is_empty(),
            Operator::Anything => true,
        }
    }
}

/// Numbers by their size, and before all else, which are texts.
pub fn compare(left: &str, right: &str) -> Ordering {
    match (left.parse::<f64>(), right.parse::<f64>()) {
        (Ok(left), Ok(right)) => left.total_cmp(&right),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) => left.to_lowercase().cmp(&right.to_lowercase()),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.column, self.operator.text(), self.value.replace('^', "^^"))
    }
}

impl fmt::Display for EncodedQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, all) in self.queries.iter().enumerate() {
            if number > 0 {
                write!(f, "^{NEW_QUERY}")?;
            }
            for (place, alternatives) in all.iter().enumerate() {
                for (other, condition) in alternatives.iter().enumerate() {
                    let joint = match (place, other) {
                        (0, 0) => "",
                        (_, 0) => "^",
                        _ => "^OR",
                    };
                    write!(f, "{joint}{condition}")?;
                }
            }
        }
        for Order { column, descending } in &self.order {
            write!(f, "^{}{column}", if *descending { DESCENDING } else { ORDER })?;
        }
        Ok(())
    }
}

impl Default for EncodedQuery {
    /// Wants every record, in no order.
    fn default() -> Self {
        EncodedQuery { queries: vec![Vec::new()], order: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
