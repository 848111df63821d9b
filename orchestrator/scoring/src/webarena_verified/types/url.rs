//! `URL`: an address and its parameters; patterns for either.

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use python_compat::Value;
use python_compat::pattern::{Flags, Pattern};
use python_compat::text::{lower, strip};
use python_compat::url::{SplitResult, parse_qs, unquote};

use super::url_normalize::url_normalize;
use super::{TypedValue, is_pattern};
use crate::webarena_verified::PythonException;
use crate::webarena_verified::config::{Config, Derender};
use crate::webarena_verified::node::Node;
use crate::webarena_verified::site::Site;

/// `_NormalizedUrlValues`.
#[derive(Debug, Clone)]
pub(in crate::webarena_verified) struct Url {
    base: String,
    /// With the address of a site in the place of its name; this is what patterns are held against.
    rendered: Result<String, PythonException>,
    /// The values of each parameter.
    parameters: Vec<(String, Node)>,
    is_pattern: bool,
}

/// Two are compared by rules of their own.
impl PartialEq for Url {
    fn eq(&self, other: &Url) -> bool {
        self.base == other.base && self.is_pattern == other.is_pattern
    }
}

/// The conversion of the parameters once they are read.
pub(in crate::webarena_verified) type Retype<'a> =
    &'a dyn Fn(Vec<(String, Node)>) -> Result<Vec<(String, Node)>, PythonException>;

/// How a URL is read.
#[derive(Clone, Copy)]
pub(in crate::webarena_verified) struct UrlOptions<'a> {
    /// Stand for the parameters in the URL.
    pub(in crate::webarena_verified) parameters: Option<&'a Value>,
    pub(in crate::webarena_verified) decode_base64: bool,
    pub(in crate::webarena_verified) ignored: &'a [String],
    /// Patterns that were compiled, which are searched for.
    pub(in crate::webarena_verified) ignored_patterns: &'a [Pattern],
    pub(in crate::webarena_verified) render: Option<Render<'a>>,
    pub(in crate::webarena_verified) derender: Option<Derender<'a>>,
    pub(in crate::webarena_verified) retype: Option<Retype<'a>>,
}

/// `render_url` for the sites of a task.
#[derive(Debug, Clone, Copy)]
pub(in crate::webarena_verified) struct Render<'a> {
    pub(in crate::webarena_verified) config: &'a Config,
    pub(in crate::webarena_verified) sites: &'a [Site],
    pub(in crate::webarena_verified) strict: bool,
}

impl Render<'_> {
    fn apply(&self, template: &str) -> Result<String, PythonException> {
        self.config.render(template, self.sites, self.strict)
    }

    /// As it is done when two URLs are compared.
    fn strictly(&self, url: &str) -> Result<String, PythonException> {
        self.config.render(url, self.sites, true)
    }
}

impl<'a> UrlOptions<'a> {
    pub(in crate::webarena_verified) fn plain(derender: Option<Derender<'a>>) -> UrlOptions<'a> {
        UrlOptions {
            parameters: None,
            decode_base64: false,
            ignored: &[],
            ignored_patterns: &[],
            render: None,
            derender,
            retype: None,
        }
    }

    fn ignores(&self, name: &str) -> bool {
        self.ignored.iter().any(|ignored| ignored == name)
            || self.ignored_patterns.iter().any(|pattern| pattern.is_match(name) == Ok(true))
    }

    fn derendered(&self, url: &str) -> Result<String, PythonException> {
        self.derender.map_or_else(|| Ok(url.to_owned()), |derender| derender.apply(url))
    }
}

pub(super) fn normalise(value: &Value, options: &UrlOptions<'_>) -> Result<Url, PythonException> {
    let Value::Str(text) = value else {
        // As Python's `value.rstrip`, on which the package calls it for any truthy value.
        return Err(match value {
            value if crate::webarena_verified::node::is_truthy(value) => {
                let kind = crate::webarena_verified::node::type_name(value);
                PythonException(format!("'{kind}' object has no attribute 'rstrip'"))
            }
            _ => PythonException::new("Empty URL value"),
        });
    };
    let text = strip(text);
    if text.is_empty() {
        return Err(PythonException::new("Empty URL value"));
    }
    // The package normalises no regular expression, but for the slashes at its end.
    if is_pattern(text) {
        let parameters = match options.parameters {
            Some(given) => typed(given_parameters(given), options)?,
            None => Vec::new(),
        };
        return Ok(Url::new(
            text.trim_end_matches('/').to_owned(),
            parameters,
            true,
            options.render,
        ));
    }
    let mut text = text.trim_end_matches('/').to_owned();
    if text.starts_with("__")
        && let Some(render) = options.render
    {
        text = render.apply(&text)?;
    }
    if is_ssh(&text) {
        return Ok(Url::new(ssh(&text)?, Vec::new(), false, options.render));
    }
    let normal =
        url_normalize(&text).ok_or_else(|| PythonException(format!("Invalid URL: {text}")))?;
    let parsed = SplitResult::of(&options.derendered(&normal)?)
        .ok_or_else(|| PythonException::new("Invalid IPv6 URL"))?;
    let mut path = parsed.path_with_parameters().to_owned();
    let parameters = match options.parameters {
        Some(given) => given_parameters(given),
        None => {
            let mut queries = Vec::new();
            if options.decode_base64 {
                (path, queries) = without_base64(&path);
            }
            if !parsed.query.is_empty() {
                queries.push(strip(&parsed.query).to_owned());
            }
            read_query(&queries.join("&"))
        }
    };
    let parameters = typed(parameters, options)?;
    let base = SplitResult { netloc: netloc(&parsed), path, query: String::new(), ..parsed }.join();
    Ok(Url::new(base, parameters, false, options.render))
}

/// In small letters, without the port that is usual.
fn netloc(parsed: &SplitResult) -> String {
    let (host, port) = parsed.host_and_port();
    let port = port.filter(|port| port.bytes().all(|b| b.is_ascii_digit()));
    let port = port.map(|port| port.trim_start_matches('0'));
    let usual =
        matches!((parsed.scheme.as_str(), port), ("http", Some("80")) | ("https", Some("443")));
    if usual && !host.is_empty() { host } else { lower(&parsed.netloc).into_owned() }
}

fn is_ssh(url: &str) -> bool {
    let url = lower(url);
    url.starts_with("ssh://")
        || (url.starts_with("git@") && url.contains(':') && !url.contains("://"))
}

/// `git@__SSH_HOST__:path`, whatever the host.
fn ssh(url: &str) -> Result<String, PythonException> {
    let (user, path) = if lower(url).starts_with("ssh://") {
        let parsed =
            SplitResult::of(url).ok_or_else(|| PythonException::new("Invalid IPv6 URL"))?;
        let user = match parsed.netloc.split_once('@') {
            Some((user, _)) => lower(user).into_owned(),
            None => "git".to_owned(),
        };
        (user, parsed.path)
    } else {
        let (user, rest) = url.split_once('@').unwrap_or(("", url));
        let Some((_, path)) = rest.split_once(':') else {
            return Err(PythonException(format!(
                "Invalid SCP-like URL format (missing colon after @): {url}"
            )));
        };
        (lower(user).into_owned(), path.to_owned())
    };
    Ok(format!("{user}@__SSH_HOST__:{}", lower(path.trim_start_matches('/'))))
}

/// From `query_params` of a task: lists of texts.
fn given_parameters(given: &Value) -> Vec<(String, Vec<Value>)> {
    let Value::Dict(dict) = given else { return Vec::new() };
    let values = |value: &Value| match value {
        Value::List(items) | Value::Tuple(items) => items.clone(),
        Value::Str(text) => text.chars().map(|c| Value::Str(c.to_string())).collect(),
        other => vec![other.clone()],
    };
    dict.iter().map(|(name, value)| (name.to_owned(), values(value))).collect()
}

/// `normalize_query`: names and values are unescaped twice.
fn read_query(query: &str) -> Vec<(String, Vec<Value>)> {
    let mut parameters: Vec<(String, Vec<Value>)> = Vec::new();
    for (name, values) in parse_qs(query) {
        let name = unquote(&name);
        let values = values.iter().map(|value| Value::Str(unquote(value))).collect();
        match parameters.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = values,
            None => parameters.push((name, values)),
        }
    }
    parameters
}

/// Without what is ignored, in small letters and in order; then by the schema.
fn typed(
    parameters: Vec<(String, Vec<Value>)>,
    options: &UrlOptions<'_>,
) -> Result<Vec<(String, Node)>, PythonException> {
    let kept = parameters.into_iter().filter(|(name, _)| !options.ignores(name));
    let parameters = kept.map(|(name, values)| {
        let mut texts: Vec<Value> = values
            .into_iter()
            .map(|value| match value {
                Value::Str(text) => Value::Str(strip(&lower(&text)).to_owned()),
                other => other,
            })
            .collect();
        texts.sort_by_key(Value::to_text);
        (name, Node::Tuple(texts.into_iter().map(Node::Raw).collect()))
    });
    let parameters: Vec<(String, Node)> = parameters.collect();
    match options.retype {
        Some(retype) if !parameters.is_empty() => retype(parameters),
        _ => Ok(parameters),
    }
}

/// As lenient as `urlsafe_b64decode`.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// `extract_base64_query`: segments of a path that hold parameters are taken out of it.
fn without_base64(path: &str) -> (String, Vec<String>) {
    let mut queries = Vec::new();
    let kept: Vec<&str> = path
        .split('/')
        .filter(|segment| {
            let query = decoded_query(segment);
            let is_query = query.is_some();
            queries.extend(query);
            !segment.is_empty() && !is_query
        })
        .collect();
    let mut clean = kept.join("/");
    if path.starts_with('/') {
        clean.insert(0, '/');
    }
    if path.ends_with('/') && !clean.is_empty() && !clean.ends_with('/') && !kept.is_empty() {
        clean.push('/');
    }
    (clean, queries)
}

fn decoded_query(segment: &str) -> Option<String> {
    let body = segment.strip_suffix("==").or_else(|| segment.strip_suffix('=')).unwrap_or(segment);
    let valid = body.len() >= 4
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !valid
        || (!segment.len().is_multiple_of(4)
            && segment.len() != body.len()
            && padded_wrongly(segment))
    {
        return None;
    }
    let text = String::from_utf8(LENIENT.decode(body).ok()?).ok()?;
    if !text.contains('=') {
        return None;
    }
    let query = unquote(&text);
    let query = strip(&query);
    (!query.is_empty()).then(|| query.trim_start_matches(['?', '&']).to_owned())
}

/// More padding than the length asks for does no harm, less is filled up.
fn padded_wrongly(segment: &str) -> bool {
    segment.trim_end_matches('=').len() % 4 == 1
}

impl Url {
    /// A text that is compared as it stands.
    pub(in crate::webarena_verified) fn literal(text: &str) -> Url {
        Url::new(text.trim_end_matches('/').to_owned(), Vec::new(), false, None)
    }

    fn new(
        base: String,
        parameters: Vec<(String, Node)>,
        is_pattern: bool,
        render: Option<Render<'_>>,
    ) -> Url {
        let render = |url: &str| match render {
            Some(render) if url.starts_with("__") => render.strictly(url),
            _ => Ok(url.to_owned()),
        };
        let rendered = match base.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')) {
            Some(inside) if is_pattern => render(inside).map(|inside| format!("^{inside}$")),
            _ => render(&base),
        };
        Url { base, rendered, parameters, is_pattern }
    }

    /// `matches_base_path`: patterns may stand on either side.
    fn matches_base(&self, other: &Url) -> Result<bool, PythonException> {
        if !self.is_pattern && !other.is_pattern {
            let plain = |url: &Url| lower(&url.base).trim_end_matches('/').to_owned();
            return Ok(plain(self) == plain(other));
        }
        for (pattern, text) in [(self, other), (other, self)] {
            if !pattern.is_pattern {
                continue;
            }
            let (written, text) = (pattern.rendered.clone()?, text.rendered.clone()?);
            let compiled = Pattern::at_start(&written, Flags::default()).ok_or_else(|| {
                PythonException(format!(
                    "Invalid regex pattern '{}': it is not valid",
                    pattern.base
                ))
            })?;
            if compiled.is_match(&text).map_err(|_| PythonException::too_long(&written))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `_compare_query_params`: patterns stand on this side. What is missing is an empty text, and
    /// first values count.
    fn parameters_equal(&self, other: &Url) -> Result<bool, PythonException> {
        let names = self.parameters.iter().chain(&other.parameters).map(|(name, _)| name);
        for name in names {
            let (one, another) = (self.first(name)?, other.first(name)?);
            let pattern = match &one {
                Node::Typed(typed) => typed.is_pattern(),
                Node::Raw(Value::Str(text)) => is_pattern(text),
                _ => false,
            };
            let equal = if pattern {
                let (written, text) = (one.to_text(), another.to_text());
                let compiled = Pattern::at_start(&written, Flags::default()).ok_or_else(|| {
                    PythonException(format!(
                        "Invalid regex pattern in query param '{name}': '{written}': it is not valid"
                    ))
                })?;
                compiled.is_match(&text).map_err(|_| PythonException::too_long(&written))?
            } else {
                one.equals(&another)?
            };
            if !equal {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn first(&self, name: &str) -> Result<Node, PythonException> {
        let value = self.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        Ok(match value {
            None => Node::text(""),
            Some(Node::Tuple(items) | Node::List(items)) => match items.first() {
                None => Node::text(""),
                Some(first) if first.is_none() => Node::text(""),
                // A typed value that equals the empty text is one.
                Some(first) if first.equals(&Node::text(""))? => Node::text(""),
                Some(first) => first.clone(),
            },
            Some(Node::Typed(typed)) => {
                return Err(PythonException(format!(
                    "'{}' object is not subscriptable",
                    typed.kind.class()
                )));
            }
            Some(Node::Raw(Value::Str(text))) => {
                Node::text(text.chars().next().map(String::from).unwrap_or_default())
            }
            Some(_) => Node::text(""),
        })
    }

    /// `str(self)`.
    pub(super) fn to_text(&self) -> String {
        let mut parameters: Vec<&(String, Node)> = self.parameters.iter().collect();
        parameters.sort_by_key(|(name, _)| name);
        let parts = parameters.into_iter().flat_map(|(name, values)| match values {
            Node::Tuple(values) => {
                values.iter().map(|value| format!("{name}={}", value.to_text())).collect()
            }
            other => vec![format!("{name}={}", other.to_text())],
        });
        let query = parts.collect::<Vec<_>>().join("&");
        match SplitResult::of(&self.base) {
            Some(mut parsed) => {
                parsed.path = python_compat::url::Url::parse(&self.base)
                    .map_or(parsed.path, |url| url.path.into_owned());
                SplitResult { query, ..parsed }.join()
            }
            None => self.base.clone(),
        }
    }

    /// `repr(self)`.
    pub(super) fn to_repr(&self) -> String {
        let base = Value::Str(self.base.clone()).to_repr();
        let parameters = crate::webarena_verified::node::entries_repr(&self.parameters);
        let pattern = Value::Bool(self.is_pattern).to_repr();
        format!(
            "_NormalizedUrlValues(base_url={base}, query_params=mappingproxy({{{parameters}}}), is_regex={pattern})"
        )
    }
}

/// `compare_path`.
pub(in crate::webarena_verified) fn same_path(
    one: &TypedValue,
    other: &Node,
) -> Result<bool, PythonException> {
    let literal;
    let others: Vec<&Url> = match other {
        Node::Typed(typed) => typed.urls().collect(),
        other => {
            literal = Url::literal(&other.to_text());
            vec![&literal]
        }
    };
    for one in one.urls() {
        for other in &others {
            if one.matches_base(other)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// `==`: the address, then the parameters.
pub(super) fn equal(one: &TypedValue, other: &TypedValue) -> Result<bool, PythonException> {
    for a in one.urls() {
        for b in other.urls() {
            if a.matches_base(b)? && a.parameters_equal(b)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
