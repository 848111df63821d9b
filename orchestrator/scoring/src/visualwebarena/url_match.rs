//! `URLExactEvaluator`: the page that an episode ends on against a task's `reference_url`.

use std::borrow::Cow;

use python_compat::text::replace;
use serde::{Deserialize, Serialize};

use super::super::ScoreError;
use super::super::webarena::{self, BAD_VALUE, OR, points};

/// `reference_url` and `url_note` of a task, as in [WebArena](webarena::UrlMatch).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlMatch(pub webarena::UrlMatch);

impl UrlMatch {
    /// Scores an address: 1 when it is one of the alternatives, letter by letter, or with the note
    /// `GOLD in PRED` when one of them is in it; else 0. Without a note the rule is `EXACT`.
    ///
    /// # Errors
    /// Where the published code raises an exception: at another note.
    pub fn score(&self, url: &str) -> Result<f64, ScoreError> {
        let url = clean(url);
        let mut references = self.0.reference_url.split(OR).map(clean);
        match self.0.url_note.as_deref().unwrap_or("EXACT") {
            "EXACT" => Ok(points(references.any(|reference| url == reference))),
            "GOLD in PRED" => Ok(points(references.any(|reference| url.contains(&*reference)))),
            _ => Err(BAD_VALUE),
        }
    }
}

/// `clean_url`: one spelling of this machine, and no slash at the end.
fn clean(url: &str) -> Cow<'_, str> {
    let url = url.strip_suffix('/').unwrap_or(url);
    replace(url.into(), "localhost", "127.0.0.1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reference: &str, note: Option<&str>, url: &str, expect: Result<f64, ScoreError>) {
        let rule = webarena::UrlMatch {
            reference_url: reference.to_owned(),
            url_note: note.map(str::to_owned),
        };
        assert_eq!(UrlMatch(rule).score(url), expect, "{reference} {note:?} of {url}");
    }

    #[test]
    fn addresses_are_compared_as_text() {
        check("http://localhost/a |OR| http://b", None, "http://127.0.0.1/a/", Ok(1.0));
        check("http://b", Some("EXACT"), "http://b//", Ok(0.0));
        check("b?x", Some("GOLD in PRED"), "http://b?x=1", Ok(1.0));
        check("b/?x", Some("GOLD in PRED"), "http://b?x=1", Ok(0.0));
        check("http://b", Some("exact"), "http://b", Err(BAD_VALUE));
    }
}
