//! The rows of a query as JSON, with parameters that are JSON: what probes ask of the databases of
//! sites, whatever runs the site.
//!
//! Whoever calls this opens the database, and says what a query may do.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Statement};
use serde_json::{Map, Value};

/// Runs one statement. Each row is an object of its columns; at most `most` of them are returned.
///
/// `parameters` are named as in the statement, without its colon. Those that it does not name are
/// ignored, as several probes may share theirs. A boolean is 1 or 0, as in SQL; a list or an object
/// is the text of its JSON. A blob comes back as text if it is UTF-8, and otherwise in hexadecimal
/// digits.
///
/// # Errors
/// When the statement is invalid, or reading fails.
pub fn rows<'a>(
    connection: &Connection,
    sql: &str,
    parameters: impl IntoIterator<Item = (&'a str, &'a Value)>,
    most: usize,
) -> rusqlite::Result<Vec<Map<String, Value>>> {
    let mut statement = connection.prepare(sql)?;
    for (name, value) in parameters {
        if let Some(index) = statement.parameter_index(&format!(":{name}"))? {
            bind(&mut statement, index, value)?;
        }
    }
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while found.len() < most
        && let Some(row) = rows.next()?
    {
        let mut object = Map::new();
        for (index, name) in names.iter().enumerate() {
            object.insert(name.clone(), json(row.get_ref(index)?));
        }
        found.push(object);
    }
    Ok(found)
}

fn bind(statement: &mut Statement<'_>, index: usize, value: &Value) -> rusqlite::Result<()> {
    match value {
        Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null),
        Value::Bool(truth) => statement.raw_bind_parameter(index, truth),
        Value::Number(number) if number.is_i64() => {
            statement.raw_bind_parameter(index, number.as_i64())
        }
        Value::Number(number) => statement.raw_bind_parameter(index, number.as_f64()),
        Value::String(text) => statement.raw_bind_parameter(index, text),
        Value::Array(_) | Value::Object(_) => {
            statement.raw_bind_parameter(index, value.to_string())
        }
    }
}

fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        // Applications keep texts in columns for blobs, too.
        ValueRef::Blob(bytes) => {
            str::from_utf8(bytes).map_or_else(|_| hex::encode(bytes), str::to_owned).into()
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(sql: &str, parameters: &Value, most: usize) -> Vec<Map<String, Value>> {
        let connection = Connection::open_in_memory().unwrap();
        let parameters = parameters.as_object().unwrap().iter();
        let named = parameters.map(|(name, value)| (name.as_str(), value));
        rows(&connection, sql, named, most).unwrap()
    }

    #[test]
    fn every_kind_of_json_is_a_parameter() {
        for (parameter, kind, value) in [
            (json!(null), "null", json!(null)),
            (json!(true), "integer", json!(1)),
            (json!(false), "integer", json!(0)),
            (json!(-7), "integer", json!(-7)),
            (json!(i64::MAX), "integer", json!(i64::MAX)),
            (json!(u64::MAX), "real", json!(u64::MAX as f64)),
            (json!(1.5), "real", json!(1.5)),
            (json!("it's"), "text", json!("it's")),
            (json!([1, "a", true]), "text", json!(r#"[1,"a",true]"#)),
            (json!({ "a": null }), "text", json!(r#"{"a":null}"#)),
        ] {
            let parameters = json!({ "one": parameter, "other": "is not named" });
            let found = ask("select typeof(:one) as kind, :one as value", &parameters, 9);
            assert_eq!(json!(found), json!([{ "kind": kind, "value": value }]));
        }
        let truth = ask(
            "select :yes = true and :no = false as same",
            &json!({ "yes": true, "no": false }),
            9,
        );
        assert_eq!(truth[0]["same"], 1);
    }

    #[test]
    fn every_kind_of_value_is_json() {
        let sql = "select null as n, 3 as i, 0.5 as r, 'ü' as t, x'c3bc' as text, x'ff00' as bytes";
        let expected = json!([
            { "n": null, "i": 3, "r": 0.5, "t": "ü", "text": "ü", "bytes": "ff00" }
        ]);
        assert_eq!(json!(ask(sql, &json!({}), 9)), expected);
    }

    #[test]
    fn no_more_rows_than_wanted_are_read() {
        let numbers =
            "with recursive n(i) as (select 1 union all select i + 1 from n) select i from n";
        assert_eq!(json!(ask(numbers, &json!({}), 2)), json!([{ "i": 1 }, { "i": 2 }]));
    }
}
