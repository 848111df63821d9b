//! `URLEvaluator`: the page that an episode ends on against a task's `reference_url`.

use python_compat::text::lower;
use python_compat::url::Url;
use serde::{Deserialize, Serialize};

use super::super::ScoreError;
use super::super::mode::ScoringMode;
use super::{BAD_VALUE, OR, OtherUrl, points};

/// `reference_url` and `url_note` of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlMatch {
    /// Alternatives are divided by ` |OR| `.
    pub reference_url: String,
    /// How to compare; what a missing note means depends on the benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_note: Option<String>,
}

impl UrlMatch {
    /// Scores an address: 1 when host and path of an alternative are in it and it has one of the
    /// values that the alternatives together name for each key of theirs, else 0. Without a note
    /// the rule is `GOLD in PRED`.
    ///
    /// # Errors
    /// Where the published code raises an exception: at another note, or at an address that Python
    /// cannot parse.
    pub fn score(&self, url: &str, mode: ScoringMode) -> Result<f64, ScoreError> {
        if self.url_note.as_deref().is_some_and(|note| note != "GOLD in PRED") {
            return Err(BAD_VALUE);
        }
        let references = self.reference_url.split(OR).map(parse).collect::<Result<Vec<_>, _>>()?;
        let page = parse(url)?;
        Ok(points(match mode {
            ScoringMode::Faithful => is_at(&page, &references),
            ScoringMode::Fixed => {
                references.iter().any(|reference| is_at(&page, std::slice::from_ref(reference)))
            }
        }))
    }

    /// The same by WebChoreArena's rules: capitals are none, and of further addresses the best
    /// counts.
    ///
    /// # Errors
    /// Where the published code raises an exception.
    pub(super) fn score_webchore(
        &self,
        others: &[OtherUrl],
        url: &str,
        mode: ScoringMode,
    ) -> Result<f64, ScoreError> {
        let addresses = others.iter().map(|other| other.reference_url.as_str());
        let url = lower(url);
        let mut best: f64 = 0.0;
        for address in std::iter::once(self.reference_url.as_str()).chain(addresses) {
            // Divided before capitals go, as ` |OR| ` has some.
            let lowered: Vec<String> =
                address.split(OR).map(|one| lower(one).into_owned()).collect();
            let rule =
                UrlMatch { reference_url: lowered.join(OR), url_note: self.url_note.clone() };
            best = best.max(rule.score(&url, mode)?);
        }
        Ok(best)
    }
}

/// Whether the page is at one of the places, and has one of the values that they together name for
/// each key.
fn is_at(page: &Url<'_>, references: &[Url<'_>]) -> bool {
    let place = |url: &Url<'_>| [&*url.netloc, &*url.path].concat();
    let here = place(page);
    if !references.iter().any(|reference| here.contains(&place(reference))) {
        return false;
    }
    let given: Vec<_> = page.parameters().collect();
    let wanted: Vec<_> = references.iter().flat_map(Url::parameters).collect();
    let has_one =
        |key: &str| given.iter().any(|parameter| parameter.0 == key && wanted.contains(parameter));
    wanted.iter().all(|(key, _)| has_one(key))
}

/// `urlparse(clean_url(url))`
fn parse(url: &str) -> Result<Url<'_>, ScoreError> {
    Url::parse(url.trim_end_matches('/')).ok_or(BAD_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reference: &str, url: &str, expect: Result<f64, ScoreError>) {
        let rule = UrlMatch { reference_url: reference.to_owned(), url_note: None };
        assert_eq!(rule.score(url, ScoringMode::Faithful), expect, "{reference} of {url}");
    }

    #[test]
    fn a_place_is_a_part_of_host_and_path() {
        check("http://a.test/b/", "https://a.test/b//", Ok(1.0));
        check("http://a.test/b", "https://a.test/bc#d", Ok(1.0));
        check("http://a.test/b", "https://a.test/B", Ok(0.0));
        check("http://a.test/b/?c=d", "https://a.test/b?c=d", Ok(0.0));
        check("http://x.test |OR| http://a.test", "https://a.test/b", Ok(1.0));
        check("", "https://a.test/b", Ok(1.0));
    }

    #[test]
    fn keys_of_all_alternatives_are_pooled() {
        let either = "http://a.test/x?k=1 |OR| http://a.test/y?k=2&l=3";
        check(either, "http://a.test/x?k=2&l=3", Ok(1.0));
        check(either, "http://a.test/x?k=1", Ok(0.0));
        let mended = UrlMatch { reference_url: either.to_owned(), url_note: None };
        assert_eq!(mended.score("http://a.test/x?k=1", ScoringMode::Fixed), Ok(1.0));
        assert_eq!(mended.score("http://a.test/x?k=2&l=3", ScoringMode::Fixed), Ok(0.0));
        check("http://a.test/?q=a+b&e=", "http://a.test/?z=1&q=c&q=a%20b", Ok(1.0));
    }

    #[test]
    fn other_notes_and_bad_addresses_raise() {
        check("http://[bad/", "http://a.test", Err(BAD_VALUE));
        check("http://a.test", "http://a]b/", Err(BAD_VALUE));
        let exact =
            UrlMatch { reference_url: "http://a".to_owned(), url_note: Some("EXACT".to_owned()) };
        assert_eq!(exact.score("http://a", ScoringMode::Faithful), Err(BAD_VALUE));
    }
}
