//! The traffic of the network: a HAR file, or the `trace.network` of Playwright.

use python_compat::text::lower;
use python_compat::url::{Url, unquote};
use python_compat::{Dict, Value, json};

use super::node::is_truthy;
use super::{PythonException, body};

/// Paths that end so are not looked at.
const STATIC: [&str; 12] = [
    ".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico",
    ".webp",
];

/// One request with its answer.
#[derive(Debug, Clone)]
pub(super) struct Event(Dict);

/// Reads the file as a HAR, or else as lines of Playwright.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Event>, PythonException> {
    let har = std::str::from_utf8(bytes).ok().and_then(json::parse);
    if let Some(entries) = har.as_ref().and_then(har_entries) {
        return entries.iter().map(event).collect();
    }
    let text = String::from_utf8_lossy(bytes).replace('\u{fffd}', "");
    let mut events = Vec::new();
    for line in text.lines() {
        let Some(item) = json::parse(line) else {
            return Err(PythonException::new(
                "neither a HAR with entries nor lines of Playwright's trace.network",
            ));
        };
        let Value::Dict(item) = item else {
            return Err(PythonException::new("a line of the trace is no object"));
        };
        if *required(&item, "type")? == Value::Str("resource-snapshot".to_owned()) {
            events.push(event(required(&item, "snapshot")?)?);
        }
    }
    Ok(events)
}

fn har_entries(har: &Value) -> Option<&[Value]> {
    let Value::Dict(har) = har else { return None };
    let Some(Value::Dict(log)) = har.get("log") else { return None };
    match log.get("entries") {
        Some(Value::List(entries)) if !entries.is_empty() => Some(entries),
        _ => None,
    }
}

fn event(entry: &Value) -> Result<Event, PythonException> {
    match entry {
        Value::Dict(entry) => Ok(Event(entry.clone())),
        other => {
            let kind = super::node::type_name(other);
            Err(PythonException(format!("mappingproxy() argument must be a mapping, not {kind}")))
        }
    }
}

/// `dict[key]`.
fn required<'a>(dict: &'a Dict, key: &str) -> Result<&'a Value, PythonException> {
    dict.get(key).ok_or_else(|| PythonException(format!("'{key}'")))
}

fn as_dict(value: &Value) -> Result<&Dict, PythonException> {
    match value {
        Value::Dict(dict) => Ok(dict),
        other => Err(PythonException(format!(
            "an object is expected in the trace, not '{}'",
            super::node::type_name(other)
        ))),
    }
}

fn as_text(value: &Value) -> Result<&str, PythonException> {
    match value {
        Value::Str(text) => Ok(text),
        other => Err(PythonException(format!(
            "a text is expected in the trace, not '{}'",
            super::node::type_name(other)
        ))),
    }
}

impl Event {
    fn request(&self) -> Result<&Dict, PythonException> {
        as_dict(required(&self.0, "request")?)
    }

    fn response(&self) -> Result<&Dict, PythonException> {
        as_dict(required(&self.0, "response")?)
    }

    pub(super) fn url(&self) -> Result<&str, PythonException> {
        as_text(required(self.request()?, "url")?)
    }

    pub(super) fn method(&self) -> Result<&str, PythonException> {
        as_text(required(self.request()?, "method")?)
    }

    pub(super) fn status(&self) -> Result<&Value, PythonException> {
        required(self.response()?, "status")
    }

    /// Names in small letters; of several with one name the last counts.
    pub(super) fn headers(&self) -> Result<Vec<(String, &str)>, PythonException> {
        let Value::List(headers) = required(self.request()?, "headers")? else {
            return Err(PythonException::new("the headers of a request are no list"));
        };
        let header = |header: &'static str, value| required(value, header).and_then(as_text);
        headers
            .iter()
            .map(|value| {
                let value = as_dict(value)?;
                Ok((
                    lower(header("name", value)?).into_owned(),
                    as_text(required(value, "value")?)?,
                ))
            })
            .collect()
    }

    pub(super) fn header(&self, name: &str) -> Result<Option<&str>, PythonException> {
        Ok(self.headers()?.into_iter().rfind(|(other, _)| other == name).map(|(_, value)| value))
    }

    pub(super) fn post_data(&self) -> Result<Option<Dict>, PythonException> {
        content(self.request()?.get("postData"))
    }

    pub(super) fn response_content(&self) -> Result<Option<Dict>, PythonException> {
        content(self.response()?.get("content"))
    }

    /// Values are unescaped.
    pub(super) fn response_cookie(&self, name: &str) -> Result<Option<String>, PythonException> {
        let Some(cookies) = self.response()?.get("cookies") else { return Ok(None) };
        let Value::List(cookies) = cookies else {
            return Err(PythonException::new("the cookies of an answer are no list"));
        };
        let mut found = None;
        for cookie in cookies {
            let cookie = as_dict(cookie)?;
            let this = as_text(required(cookie, "name")?)?;
            let value = cookie.get("value").map_or(Ok(""), as_text)?;
            if this == name {
                found = Some(unquote(value));
            }
        }
        Ok(found)
    }

    /// Not an image, a style or the like.
    pub(super) fn is_relevant(&self) -> Result<bool, PythonException> {
        let url =
            Url::parse(self.url()?).ok_or_else(|| PythonException::new("Invalid IPv6 URL"))?;
        Ok(!STATIC.iter().any(|end| url.path.ends_with(end)))
    }

    /// A page that somebody went to.
    pub(super) fn is_navigation(&self) -> Result<bool, PythonException> {
        if self.method()? != "GET" {
            return Ok(false);
        }
        let header = |name: &str| Ok(self.header(name)?.map(lower));
        let accept = header("accept")?.unwrap_or_default();
        let Some(user) = header("sec-fetch-user")? else {
            return Ok(accept.starts_with("text/html"));
        };
        Ok(header("sec-fetch-dest")?.as_deref() == Some("document")
            && header("sec-fetch-mode")?.as_deref() == Some("navigate")
            && user == "?1"
            && accept.contains("text/html"))
    }
}

fn content(content: Option<&Value>) -> Result<Option<Dict>, PythonException> {
    match content {
        Some(content) if is_truthy(content) => body::parse(as_dict(content)?),
        _ => Ok(None),
    }
}
