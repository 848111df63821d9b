//! `NetworkEventEvaluator`: what the agent's browser asked the sites for, and what they answered.

use python_compat::text::lower;
use python_compat::{Dict, Value};

use super::compare::{CompareOptions, compare};
use super::node::{Node, is_truthy};
use super::report::Assertion;
use super::schema::Normalizer;
use super::task::{ExpectedEvent, ExpectedValues, NetworkRule, Object};
use super::trace::Event;
use super::types::{Render, TypedValue, UrlOptions, same_path};
use super::{Context, PythonException};

/// An expected event, or one that was seen, before its values are read.
#[derive(Default)]
struct Spec {
    url: Value,
    headers: Option<Dict>,
    parameters: Option<Value>,
    post_data: Option<Dict>,
    response_content: Option<Dict>,
    status: Value,
    method: String,
    response_cookies: Option<Dict>,
}

/// Returns what is wrong with the events.
pub(super) fn evaluate(
    events: &[Event],
    rule: &NetworkRule,
    context: &Context<'_>,
) -> Result<Vec<Assertion>, PythonException> {
    let evaluator = Evaluator { rule, context };
    let matching = evaluator.matching(events)?;
    let selected = match matching.last() {
        Some(last) if rule.last_event_only => vec![*last],
        _ => matching,
    };
    let actual: Vec<Spec> =
        selected.iter().map(|event| evaluator.seen(event)).collect::<Result<_, _>>()?;
    let expected = evaluator.normalized(expected(&rule.expected), true)?;
    let actual: Vec<Node> = actual
        .into_iter()
        .map(|spec| evaluator.normalized(spec, false))
        .collect::<Result<_, _>>()?;
    evaluator.judge(&actual, &expected)
}

fn expected(event: &ExpectedEvent) -> Spec {
    let dict = |object: &Option<Object>| object.as_ref().map(|Object(dict)| dict.clone());
    let values =
        |picked: &Option<ExpectedValues>| picked.as_ref().map(|picked| picked.values.clone());
    Spec {
        url: event.url.0.clone(),
        headers: dict(&event.headers),
        parameters: dict(&event.query_params).map(Value::Dict),
        post_data: values(&event.post_data),
        response_content: values(&event.response_content),
        status: Value::Int(event.response_status.to_string()),
        method: event.http_method.clone(),
        response_cookies: dict(&event.response_cookies),
    }
}

struct Evaluator<'a> {
    rule: &'a NetworkRule,
    context: &'a Context<'a>,
}

impl Evaluator<'_> {
    fn judge(&self, actual: &[Node], expected: &Node) -> Result<Vec<Assertion>, PythonException> {
        let failure =
            |name: &str, message: String| Ok(vec![Assertion::failure(name, vec![message])]);
        let count = actual.len();
        if self.rule.should_not_exist {
            return match count {
                0 => Ok(Vec::new()),
                count => failure(
                    "unexpected_navigation_event",
                    format!(
                        "Found {count} matching event(s) when none were expected (should_not_exist=True)."
                    ),
                ),
            };
        }
        if count == 0 {
            let message = "No matching network event found that satisfies all expected criteria.";
            return failure("missing_navigation_event", message.to_owned());
        }
        for actual in actual {
            let options = CompareOptions { ignore_extra_keys: true, ..CompareOptions::default() };
            if compare(actual, expected, "network_event", options)?.is_empty() {
                return Ok(Vec::new());
            }
        }
        let message = format!(
            "No matching network event found. Checked {count} event(s) but none matched all expected criteria."
        );
        failure("missing_navigation_event", message)
    }

    /// `_filter_events_by_criteria`.
    fn matching<'e>(&self, events: &'e [Event]) -> Result<Vec<&'e Event>, PythonException> {
        let mut relevant = Vec::new();
        for event in events {
            if event.is_relevant()? {
                relevant.push(event);
            }
        }
        if relevant.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = &self.rule.expected;
        // To navigate is to end on the page, so earlier pages do not count.
        if self.context.task.task_type() == "NAVIGATE" && wanted.http_method == "GET" {
            let mut last = None;
            for event in relevant {
                if event.is_navigation()? {
                    last = Some(event);
                }
            }
            return Ok(last.into_iter().collect());
        }
        let url = self.typed_url(&wanted.url.0, None, true)?;
        let referer = wanted.headers.as_ref().and_then(|Object(headers)| headers.get("referer"));
        let referer = match referer {
            Some(referer) => Some(self.typed_url(referer, None, true)?),
            None => None,
        };
        let mut matching = Vec::new();
        for event in relevant {
            if !wanted.http_method.is_empty()
                && lower(event.method()?) != lower(&wanted.http_method)
            {
                continue;
            }
            let raw = event.url()?;
            let event_url = self.url(&Value::Str(raw.to_owned()), None, false)?;
            if !matches!(event_url, Node::Typed(_)) {
                let text = event_url.to_text();
                return Err(PythonException(format!(
                    "Event URL '{raw}' normalized to string ('{text}') instead of URL object."
                )));
            }
            if !same_path(&url, &event_url)? {
                continue;
            }
            let sent = event.header("referer")?.filter(|sent| !sent.is_empty());
            // An event without a referer fits any that is expected.
            if let (Some(referer), Some(sent)) = (&referer, sent) {
                let sent = self.url(&Value::Str(lower(sent).into_owned()), None, false)?;
                if !same_path(referer, &sent)? {
                    continue;
                }
            }
            matching.push(event);
        }
        Ok(matching)
    }

    /// `_extract_event_data`: as far as something is expected of it.
    fn seen(&self, event: &Event) -> Result<Spec, PythonException> {
        let wanted = &self.rule.expected;
        let names = |object: &Option<Object>| -> Vec<String> {
            object
                .iter()
                .flat_map(|Object(dict)| dict.iter().map(|(name, _)| name.to_owned()))
                .collect()
        };
        let mut headers = Dict::default();
        for name in names(&wanted.headers) {
            if let Some(value) = event.header(&lower(&name))? {
                headers.insert(name, Value::Str(value.to_owned()));
            }
        }
        let mut cookies = Dict::default();
        for name in names(&wanted.response_cookies) {
            if let Some(value) = event.response_cookie(&name)? {
                cookies.insert(name, Value::Str(value));
            }
        }
        // A body of which nothing is expected is not parsed: it might raise an exception.
        let picked = |picked: &Option<ExpectedValues>| {
            picked.as_ref().is_some_and(|picked| !picked.values.is_empty())
        };
        let url = event.url()?;
        if url.is_empty() {
            return Err(PythonException::new("an event has no URL"));
        }
        Ok(Spec {
            url: Value::Str(url.to_owned()),
            headers: Some(headers).filter(|headers| !headers.is_empty()),
            parameters: None,
            post_data: if picked(&wanted.post_data) { event.post_data()? } else { None },
            response_content: if picked(&wanted.response_content) {
                event.response_content()?
            } else {
                None
            },
            status: whole(event.status()?)?,
            method: event.method()?.to_owned(),
            response_cookies: Some(cookies).filter(|cookies| !cookies.is_empty()),
        })
    }

    /// `_normalize_value`.
    fn normalized(&self, spec: Spec, strict: bool) -> Result<Node, PythonException> {
        let mut fields = vec![("url", self.url(&spec.url, spec.parameters.as_ref(), strict)?)];
        if let Some(headers) = &spec.headers {
            fields.push(("headers", self.headers(headers, strict)?));
        }
        fields.push(("response_status", Node::Raw(spec.status)));
        fields.push(("http_method", Node::text(spec.method)));
        fields.push(("post_data", self.post_data(spec.post_data, strict)?));
        let content = spec.response_content.filter(|content| !content.is_empty());
        fields.push((
            "response_content",
            match content {
                None => Node::NONE,
                Some(content) if strict => Node::raw(&Value::Dict(content)),
                Some(content) => match &self.rule.expected.response_content {
                    Some(wanted) => Node::raw(&Value::Dict(picked(&content, wanted, false)?)),
                    None => Node::raw(&Value::Dict(content)),
                },
            },
        ));
        let cookies = spec.response_cookies.filter(|cookies| !cookies.is_empty());
        fields.push((
            "response_cookies",
            match cookies {
                None => Node::NONE,
                Some(cookies) => {
                    let normalizer = Normalizer { strict, reading: self.context.reading(None) };
                    let cookies = cookies.iter().map(|(name, value)| {
                        Ok((name.to_owned(), normalizer.single(value, "string")?))
                    });
                    Node::Dict(cookies.collect::<Result<_, PythonException>>()?)
                }
            },
        ));
        Ok(Node::Dict(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
    }

    fn headers(&self, headers: &Dict, strict: bool) -> Result<Node, PythonException> {
        let mut nodes = Vec::new();
        for (name, value) in headers.iter() {
            let node = if matches!(name, "redirect_url" | "referer") && is_truthy(value) {
                self.url(value, None, strict)?
            } else {
                self.header(value, strict).unwrap_or_else(|_| Node::raw(value))
            };
            nodes.push((name.to_owned(), node));
        }
        Ok(Node::Dict(nodes))
    }

    fn header(&self, value: &Value, strict: bool) -> Result<Node, PythonException> {
        let derender = self.context.derender(false);
        let derendered = |value: &Value| match value {
            Value::Str(text) => derender.apply(text).map(Value::Str),
            _ => Err(PythonException::new("")),
        };
        let value = match value {
            Value::List(items) => {
                Value::List(items.iter().map(derendered).collect::<Result<_, _>>()?)
            }
            value => derendered(value)?,
        };
        Normalizer { strict, reading: self.context.reading(None) }.single(&value, "string")
    }

    fn post_data(&self, data: Option<Dict>, strict: bool) -> Result<Node, PythonException> {
        let Some(mut data) = data.filter(|data| !data.is_empty()) else { return Ok(Node::NONE) };
        let ignored = &self.rule.ignored_post_data_params_patterns.0;
        if !ignored.is_empty() {
            let mut kept = Dict::default();
            let is_ignored =
                |name: &str| ignored.iter().any(|pattern| pattern.is_match(name) == Ok(true));
            for (name, value) in data.iter().filter(|(name, _)| !is_ignored(name)) {
                kept.insert(name.to_owned(), value.clone());
            }
            data = kept;
        }
        if let Some(wanted) = self.rule.expected.post_data.as_ref().filter(|_| !strict) {
            let kept = self.kept_keys(wanted);
            if !kept.is_empty() {
                data =
                    picked(&data, &ExpectedValues { values: Dict::default(), keys: kept }, true)?;
            }
        }
        if data.is_empty() {
            return Ok(Node::Dict(Vec::new()));
        }
        let normalizer = Normalizer { strict, reading: self.context.reading(Some(strict)) };
        let schema = self.rule.post_data_schema.as_ref().map(|Object(schema)| schema);
        normalizer.fields(&Value::Dict(data), schema)
    }

    /// Keys that are not ignored among those that are expected.
    fn kept_keys(&self, wanted: &ExpectedValues) -> Vec<(String, Option<super::jsonpath::Path>)> {
        let ignored = &self.rule.ignored_post_data_params_patterns.0;
        let names = wanted.values.iter().map(|(name, _)| name).zip(&wanted.keys);
        let kept = names
            .filter(|(name, _)| !ignored.iter().any(|pattern| pattern.is_match(name) == Ok(true)));
        kept.map(|(_, key)| key.clone()).collect()
    }

    fn typed_url(
        &self,
        url: &Value,
        parameters: Option<&Value>,
        strict: bool,
    ) -> Result<TypedValue, PythonException> {
        let schema = self.rule.query_params_schema.as_ref().map(|Object(schema)| schema);
        let normalizer = Normalizer { strict, reading: self.context.reading(None) };
        let retype = |parameters: Vec<(String, Node)>| {
            let mut dict = Dict::default();
            for (name, values) in parameters {
                let values = match values {
                    Node::Tuple(values) => values
                        .into_iter()
                        .filter_map(
                            |value| if let Node::Raw(value) = value { Some(value) } else { None },
                        )
                        .collect(),
                    _ => Vec::new(),
                };
                dict.insert(name, Value::Tuple(values));
            }
            match normalizer.fields(&Value::Dict(dict), schema)? {
                Node::Dict(parameters) => Ok(parameters),
                _ => Ok(Vec::new()),
            }
        };
        let options = UrlOptions {
            parameters,
            decode_base64: self.rule.decode_base64_query,
            ignored: self.rule.ignored_query_params.as_deref().unwrap_or_default(),
            ignored_patterns: &self.rule.ignored_query_params_patterns.0,
            render: Some(Render {
                config: self.context.config,
                sites: &self.context.task.sites,
                strict,
            }),
            derender: Some(self.context.derender(strict)),
            retype: if schema.is_some_and(|schema| !schema.is_empty()) {
                Some(&retype)
            } else {
                None
            },
        };
        TypedValue::url(url, &options)
    }

    fn url(
        &self,
        url: &Value,
        parameters: Option<&Value>,
        strict: bool,
    ) -> Result<Node, PythonException> {
        match self.typed_url(url, parameters, strict) {
            Ok(url) => Ok(Node::Typed(Box::new(url))),
            Err(raised) if strict => Err(raised),
            Err(_) => Ok(Node::raw(url)),
        }
    }
}

/// The values of an event that are expected: first those of plain keys, then those that are found
/// by paths.
fn picked(
    data: &Dict,
    wanted: &ExpectedValues,
    missing_too: bool,
) -> Result<Dict, PythonException> {
    let mut found = Dict::default();
    for (key, path) in &wanted.keys {
        match (path, data.get(key)) {
            (None, Some(value)) => found.insert(key.clone(), value.clone()),
            (None, None) if missing_too => found.insert(key.clone(), Value::None),
            _ => {}
        }
    }
    for (key, path) in &wanted.keys {
        if let Some(path) = path {
            found.insert(key.clone(), path.extract(data)?);
        }
    }
    Ok(found)
}

/// A status is an integer, or a text or number that stands for one.
fn whole(status: &Value) -> Result<Value, PythonException> {
    let number = match status {
        Value::Int(digits) => Some(digits.clone()),
        Value::Bool(truth) => Some(u8::from(*truth).to_string()),
        Value::Float(number) if number.fract() == 0.0 => Some(format!("{number:.0}")),
        Value::Str(text) => text.trim().parse::<i64>().ok().map(|number| number.to_string()),
        _ => None,
    };
    number
        .map(Value::Int)
        .ok_or_else(|| PythonException(format!("the status of an event is {}", status.to_repr())))
}
