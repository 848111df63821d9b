//! Probes: read the state of an instance for scorers, with a read-only query, a page, or a command.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::http::Target;
use crate::instance::Instance;
use crate::manifest::Probe;
use crate::{Error, Site};

pub(crate) async fn ask(
    site: &Site,
    instance: &Instance,
    name: &str,
    parameters: &BTreeMap<String, Value>,
) -> Result<Value, Error> {
    let failed = |why| Error::Probe { site: site.name.clone(), probe: name.to_owned(), why };
    let wrong = |why| Error::ProbeAnswer { site: site.name.clone(), probe: name.to_owned(), why };
    let Some(probe) = site.probes.get(name) else {
        let known: Vec<&str> = site.probes.keys().map(String::as_str).collect();
        return Err(failed(format!("no such probe; there are: {}", known.join(", "))));
    };
    if let Some(query) = &probe.query {
        let needed = names(query).into_iter().find(|needed| !parameters.contains_key(*needed));
        if let Some(needed) = needed {
            return Err(failed(missing(needed)));
        }
        let given: Map<String, Value> = parameters.clone().into_iter().collect();
        let rows = instance.content.query(probe.sqlite.as_deref(), query, &given).await;
        return rows.map(Value::Array).map_err(|error| wrong(error.to_string()));
    }
    let text = if let Some(path) = &probe.get {
        let path = filled(path, parameters).map_err(failed)?;
        let headers = headers(probe).map_err(failed)?;
        let answer =
            Target::new(site, &instance.upstream).get(&path, headers).await.map_err(failed)?;
        match answer.status.as_u16() {
            200..=299 => answer.text().into_owned(),
            status => return Err(wrong(format!("{path} has status {status}"))),
        }
    } else {
        let command = probe.exec.iter().flatten().map(|word| match word.strip_prefix(':') {
            // Only whole words are replaced. A command may contain a script, and a parameter must
            // not become part of it.
            Some(name) if is_name(name) => {
                parameters.get(name).map(plain).ok_or_else(|| failed(missing(name)))
            }
            _ => Ok(word.clone()),
        });
        let command: Vec<String> = command.collect::<Result<_, Error>>()?;
        match instance.machine.exec(&command, None).await {
            Ok(text) => text,
            // The command itself failed.
            Err(error @ Error::Refused { .. }) => return Err(wrong(error.to_string())),
            Err(error) => return Err(failed(error.to_string())),
        }
    };
    if probe.json {
        serde_json::from_str(&text)
            .map_err(|error| wrong(format!("the answer is no JSON: {error}")))
    } else {
        Ok(Value::String(text))
    }
}

/// A path with its parameters.
fn filled(path: &str, parameters: &BTreeMap<String, Value>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once(':') {
        filled.push_str(before);
        let name = name_at(after);
        if name.is_empty() {
            filled.push(':');
        } else {
            let value = parameters.get(name).ok_or_else(|| missing(name))?;
            filled.extend(utf8_percent_encode(&plain(value), NON_ALPHANUMERIC));
        }
        rest = &after[name.len()..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Returns the header fields of a request for a page.
fn headers(probe: &Probe) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &probe.header {
        let name: HeaderName = name.parse().map_err(|_| format!("{name:?} is no header field"))?;
        headers.insert(
            name,
            HeaderValue::from_str(value).map_err(|_| format!("{value:?} is no header value"))?,
        );
    }
    Ok(headers)
}

fn missing(name: &str) -> String {
    format!("the parameter `{name}` is missing")
}

/// A parameter as text for a path or a command.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && name_at(text).len() == text.len()
}

/// The name at the start of a text: a letter, then letters, digits and underscores.
fn name_at(text: &str) -> &str {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return "";
    }
    let end = text.find(|other: char| !other.is_ascii_alphanumeric() && other != '_');
    &text[..end.unwrap_or(text.len())]
}

/// The parameters of a query, without those in its quoted texts.
fn names(query: &str) -> Vec<&str> {
    let unquoted = query.split('\'').step_by(2);
    let named = unquoted.flat_map(|text| text.split(':').skip(1).map(name_at));
    named.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_outside_of_quotes() {
        let query = "select ':no', x from t where a = :one and b <> 'it''s :no' and c = lower(:two_2) or d = '09:00'";
        assert_eq!(names(query), ["one", "two_2"]);
        assert!(is_name("user") && !is_name("") && !is_name("9") && !is_name("a b"));
    }
}
