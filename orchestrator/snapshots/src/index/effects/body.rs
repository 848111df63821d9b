//! Bodies that say what a request is for: GraphQL, remote calls, renewals of tokens.

use serde_json::Value;

use super::SentBody;
use super::words::words;

/// First words of the names of calls that only get something.
const GETS: [&str; 12] = [
    "count", "describe", "fetch", "find", "get", "has", "is", "list", "load", "lookup", "query",
    "search",
];

/// Whether a call only reads; `None` if it is no call whose form is known.
pub(super) fn reads(body: &SentBody<'_>) -> Option<bool> {
    let bytes = body.bytes?;
    if body.has_type("application/graphql") {
        return Some(!has_mutation(std::str::from_utf8(bytes).ok()?, None));
    }
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace())? {
        b'{' | b'[' => {}
        _ => return None,
    }
    match serde_json::from_slice::<Value>(bytes).ok()? {
        Value::Array(calls) if !calls.is_empty() => {
            let each: Option<Vec<bool>> = calls.iter().map(call_reads).collect();
            Some(each?.iter().all(|reads| *reads))
        }
        call => call_reads(&call),
    }
}

/// Whether a call of GraphQL says that it changes something.
pub(in crate::index) fn says_mutation(body: &SentBody<'_>) -> bool {
    let text = body.bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    text.contains("mutation") && !text.contains("\"jsonrpc\"") && reads(body) == Some(false)
}

/// Whether a body asks for a new token in exchange for an old one.
pub(super) fn renews_token(body: &SentBody<'_>) -> bool {
    let text = body.bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
    text.contains("grant_type=refresh_token") || text.contains("\"grant_type\":\"refresh_token\"")
}

fn call_reads(call: &Value) -> Option<bool> {
    let text = |name: &str| call.get(name).and_then(Value::as_str);
    if let Some(query) = text("query").filter(|query| query.contains('{')) {
        return Some(!has_mutation(query, text("operationName")));
    }
    // A query that the server keeps. Its name is all there is.
    if call.pointer("/extensions/persistedQuery").is_some() {
        return Some(!words(text("operationName")?).iter().any(|word| word == "mutation"));
    }
    if call.get("jsonrpc").is_some() {
        let name = text("method")?.rsplit(['.', '_', '/']).next().unwrap_or_default().to_owned();
        return Some(words(&name).first().is_some_and(|word| GETS.contains(&word.as_str())));
    }
    None
}

/// Whether a document of GraphQL has a mutation, under this name if there is one.
fn has_mutation(query: &str, name: Option<&str>) -> bool {
    let lines = query.lines().map(|line| line.split('#').next().unwrap_or_default());
    let text = lines.collect::<Vec<_>>().join(" ");
    // Only names of operations stand outside of all brackets.
    let mut depth = 0_i32;
    let mut outside = String::new();
    for letter in text.chars() {
        match letter {
            '{' | '(' => {
                depth += 1;
                outside.push(' ');
            }
            '}' | ')' => depth -= 1,
            _ if depth <= 0 => outside.push(letter),
            _ => {}
        }
    }
    let words: Vec<&str> = outside.split_whitespace().collect();
    let mut mutations = words.iter().enumerate().filter(|(_, word)| **word == "mutation");
    match name {
        Some(name) if outside.contains(name) => {
            mutations.any(|(at, _)| words.get(at + 1).is_some_and(|next| *next == name))
        }
        _ => mutations.next().is_some(),
    }
}
