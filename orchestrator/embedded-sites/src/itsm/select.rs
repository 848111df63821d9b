//! The records that an encoded query wants.

use std::cmp::Ordering;

use encoded_query::{Condition, EncodedQuery, Operator, compare};

use super::schema::Kind;
use super::seed::Record;
use super::store::{Desk, stamp};

/// The records of a table that a query wants, in its order. `visitor` is the id of the user for
/// whom `javascript:gs.getUserID()` stands.
pub(super) fn select(
    desk: &Desk<'_>,
    table: &str,
    query: &str,
    visitor: &str,
) -> rusqlite::Result<Vec<Record>> {
    let query = read(desk, table, query, visitor);
    let mut found = Vec::new();
    for record in desk.records(table)? {
        if query.holds(|condition| holds(desk, &record, condition))? {
            found.push(record);
        }
    }
    sort(desk, found, &query)
}

/// Reads a query as far as its columns are known.
pub(super) fn read(desk: &Desk<'_>, table: &str, query: &str, visitor: &str) -> EncodedQuery {
    let is_column = |path: &str| path == "sys_id" || desk.column(table, path).is_some();
    let mut query = EncodedQuery::parse_known(query, is_column);
    for condition in query.conditions_mut() {
        if let Some(script) = condition.value.strip_prefix("javascript:") {
            condition.value = value_of(script, desk, visitor);
        }
    }
    query
}

/// The few scripts that stand for values in queries; any other stands for itself.
fn value_of(script: &str, desk: &Desk<'_>, visitor: &str) -> String {
    let script = script.trim_end_matches(';');
    let arguments = |name: &str| {
        let inner = script.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')?;
        Some(inner.split(',').map(|part| part.trim().trim_matches(['\'', '"'])).collect::<Vec<_>>())
    };
    if let Some(given) = arguments("gs.dateGenerate") {
        return given.join(" ");
    }
    if let Some(minutes) = arguments("gs.minutesAgoStart").or_else(|| arguments("gs.minutesAgo"))
        && let Some(minutes) = minutes.first().and_then(|text| text.parse::<i64>().ok())
    {
        let span = jiff::SignedDuration::from_mins(minutes);
        return desk.now.checked_sub(span).map_or_else(|_| String::new(), stamp);
    }
    match script {
        "gs.getUserID()" | "gs.user_id()" | "getMyAssignments()" => visitor.to_owned(),
        other => format!("javascript:{other}"),
    }
}

/// Texts within a reference are those that people see; an equal sign compares its id.
fn holds(desk: &Desk<'_>, record: &Record, condition: &Condition) -> rusqlite::Result<bool> {
    let is_reference =
        desk.column(&record.table, &condition.column).is_some_and(|c| c.kind == Kind::Reference);
    let by_text = matches!(
        condition.operator,
        Operator::Like | Operator::NotLike | Operator::StartsWith | Operator::EndsWith
    );
    let value = match is_reference && by_text {
        true => desk.shown_of(record, &condition.column)?,
        false => desk.value(record, &condition.column)?,
    };
    Ok(condition.holds(&value))
}

fn sort(
    desk: &Desk<'_>,
    records: Vec<Record>,
    query: &EncodedQuery,
) -> rusqlite::Result<Vec<Record>> {
    let keys = |record: &Record| -> rusqlite::Result<Vec<String>> {
        let key = |path: &str| match desk.column(&record.table, path) {
            Some(column) if column.kind == Kind::Reference => desk.shown_of(record, path),
            _ => desk.value(record, path),
        };
        query.order.iter().map(|order| key(&order.column)).collect()
    };
    let keyed = records.into_iter().map(|record| Ok((keys(&record)?, record)));
    let mut keyed = keyed.collect::<rusqlite::Result<Vec<_>>>()?;
    keyed.sort_by(|(left, _), (right, _)| {
        let one = |((left, right), order): ((&String, &String), &encoded_query::Order)| {
            let ascending = compare(left, right);
            if order.descending { ascending.reverse() } else { ascending }
        };
        let pairs = left.iter().zip(right).zip(&query.order);
        pairs.map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    Ok(keyed.into_iter().map(|(_, record)| record).collect())
}
