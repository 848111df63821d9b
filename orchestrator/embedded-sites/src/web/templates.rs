//! The template engine, with escaping and filters for times, counts and Markdown.

use jiff::Timestamp;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Output, State, Value, escape_formatter};
use url::form_urlencoded;

use crate::{Error, markdown};

/// An engine with these `templates` (name, text). Names end in `.html`, which enables escaping.
pub(crate) fn environment(
    templates: &[(&'static str, &'static str)],
) -> Result<Environment<'static>, Error> {
    let broken = |error: minijinja::Error| Error::BuiltIn {
        what: "templates",
        reason: format!("{error:#}"),
    };
    let mut environment = Environment::new();
    environment.set_formatter(escape);
    environment.set_syntax(
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(broken)?,
    );
    environment.add_filter("ago", ago);
    environment.add_filter("moment", moment);
    environment.add_filter("iso", |seconds: i64| stamp(seconds, "%Y-%m-%dT%H:%M:%S+00:00"));
    environment.add_filter("thousands", thousands);
    environment.add_filter("urlencode", |text: &str| -> String {
        form_urlencoded::byte_serialize(text.as_bytes()).collect()
    });
    environment.add_filter("truncate_to", truncate_to);
    // Not escaped again: `render` lets no HTML of the text through.
    environment
        .add_filter("markdown", |text: &str| Value::from_safe_string(markdown::render(text)));
    for (name, text) in templates {
        environment.add_template(name, text).map_err(broken)?;
    }
    Ok(environment)
}

/// Escapes only characters that can end a text or an attribute. URLs stay readable in the source.
fn escape(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), minijinja::Error> {
    let Some(text) =
        value.as_str().filter(|_| !value.is_safe() && *state.auto_escape() == AutoEscape::Html)
    else {
        return escape_formatter(out, state, value);
    };
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        let entity = match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        };
        out.write_str(&rest[..at])?;
        out.write_str(entity)?;
        rest = &rest[at + 1..];
    }
    Ok(out.write_str(rest)?)
}

fn stamp(seconds: i64, format: &str) -> String {
    Timestamp::from_second(seconds)
        .map_or_else(|_| String::new(), |time| time.strftime(format).to_string())
}

/// Formats a time as `June 15, 2023 at 9:00 AM`.
fn moment(seconds: i64) -> String {
    stamp(seconds, "%B %-d, %Y at %-I:%M %p")
}

/// The time since then, in the largest fitting unit. Uses the page's own `now`.
fn ago(state: &State<'_, '_>, seconds: i64) -> String {
    let now = state.lookup("now").and_then(|now| i64::try_from(now).ok()).unwrap_or(seconds);
    let past = (now - seconds).max(0);
    let units = [
        (31_536_000, "year"),
        (2_592_000, "month"),
        (604_800, "week"),
        (86_400, "day"),
        (3600, "hour"),
        (60, "minute"),
    ];
    for (length, unit) in units {
        let count = past / length;
        if count > 0 {
            return format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" });
        }
    }
    "just now".to_owned()
}

/// The beginning of a text.
fn truncate_to(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Formats a number as `12,345`.
fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut shown = String::from(if number < 0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::{environment, thousands};

    #[test]
    fn times_and_counts_read_as_people_write_them() {
        for (number, shown) in [(0, "0"), (999, "999"), (1000, "1,000"), (-1234567, "-1,234,567")] {
            assert_eq!(thousands(number), shown);
        }
        let engine =
            environment(&[("t.html", "{{ then|ago }}|{{ then|moment }}|{{ then|iso }}")]).unwrap();
        let show = |now: i64, then: i64| {
            engine.get_template("t.html").unwrap().render(context! { now, then }).unwrap()
        };
        let noon = 1_686_819_600; // 2023-06-15T09:00:00Z
        assert_eq!(
            show(noon + 59, noon),
            "just now|June 15, 2023 at 9:00 AM|2023-06-15T09:00:00+00:00"
        );
        assert!(show(noon + 60, noon).starts_with("1 minute ago|"));
        assert!(show(noon + 86_400 * 3, noon).starts_with("3 days ago|"));
        assert!(show(noon - 500, noon).starts_with("just now|"));
    }
}
