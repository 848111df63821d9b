//! The bodies of requests and answers: forms and JSON objects.

use std::sync::LazyLock;

use python_compat::pattern::{Flags, Pattern};
use python_compat::text::strip;
use python_compat::url::parse_qs;
use python_compat::{Dict, Value, json};

use super::PythonException;
use super::node::{is_truthy, type_name};

static BOUNDARY: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::ours(r"boundary=([^;\s]+)", Flags::default()));
static NAME: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::ours(r#"name="([^"]+)""#, Flags::default()));

/// `parse_har_content` of `postData` or `content`; nothing where it is neither a form nor an
/// object.
pub(super) fn parse(content: &Dict) -> Result<Option<Dict>, PythonException> {
    let empty = Value::Str(String::new());
    let kind = content.get("mimeType").unwrap_or(&empty);
    let text = content.get("text").unwrap_or(&empty);
    if !is_truthy(text) {
        return Ok(None);
    }
    let Value::Str(kind) = kind else {
        return Err(PythonException(format!(
            "argument of type '{}' is not iterable",
            type_name(kind)
        )));
    };
    let Value::Str(text) = text else {
        return Err(PythonException(format!(
            "the text of a body is of type '{}'",
            type_name(text)
        )));
    };
    if kind.contains("application/x-www-form-urlencoded") {
        let mut form = Dict::default();
        for (name, values) in parse_qs(text) {
            form.insert(name, Value::Str(values.into_iter().next().unwrap_or_default()));
        }
        return Ok(Some(form));
    }
    if kind.contains("application/json")
        && let Some(Value::Dict(object)) = json::parse(text)
    {
        return Ok(Some(object));
    }
    if kind.contains("multipart/form-data")
        && let Some([_, Some(boundary)]) = BOUNDARY.captures(kind).as_deref()
    {
        return Ok(Some(multipart(text, boundary)));
    }
    Ok(None)
}

/// The fields of a form in parts; of several with one name the last counts.
fn multipart(text: &str, boundary: &str) -> Dict {
    let mut fields = Dict::default();
    for part in text.split(&format!("--{boundary}")).map(strip) {
        let Some((headers, body)) = part.split_once("\r\n\r\n").or_else(|| part.split_once("\n\n"))
        else {
            continue;
        };
        let header = headers
            .split("\r\n")
            .find(|line| line.to_lowercase().starts_with("content-disposition:"));
        let captures = header.and_then(|line| NAME.captures(line));
        if let Some([_, Some(name)]) = captures.as_deref() {
            fields.insert(
                (*name).to_owned(),
                Value::Str(body.trim_end_matches(['\r', '\n']).to_owned()),
            );
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: &str, text: &str, expect: Option<&str>) {
        let mut content = Dict::default();
        content.insert("mimeType".to_owned(), Value::Str(kind.to_owned()));
        content.insert("text".to_owned(), Value::Str(text.to_owned()));
        let parsed = parse(&content).expect("no exception");
        assert_eq!(parsed.map(|dict| Value::Dict(dict).to_repr()).as_deref(), expect, "{text:?}");
    }

    #[test]
    fn bodies_are_read() {
        check(
            "application/x-www-form-urlencoded; charset=UTF-8",
            "a=1+2&a=3&b",
            Some("{'a': '1 2', 'b': ''}"),
        );
        check("application/json", r#"{"a": [1]}"#, Some("{'a': [1]}"));
        check("application/json", "[1]", None);
        check("text/html", "<p>", None);
        let form = "--x\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nv\r\n--x--\r\n";
        check("multipart/form-data; boundary=x", form, Some("{'n': 'v'}"));
    }
}
