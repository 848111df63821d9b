//! Plain rules for tasks of one's own: the answer, or the address of the last page, is a text, has
//! a text in it, or matches a pattern.
//!
//! Whoever compares texts here does not mind letter case, nor how much white space there is: people
//! write golds, and models write answers. Numbers are texts: 1986 is as far from 1987 as 12 is.

mod page;
mod rule;
mod site_state;

use std::fmt;

use fancy_regex::Regex;
pub use page::{PageCheck, Verdict};
pub(crate) use rule::ask;
pub use rule::{
    Contains, Equals, Infeasible, Matches, PageState, ProgramState, SiteState, UrlState,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
pub use site_state::{Expectation, StateCheck};

use crate::beginning::LONGEST_TEXT;

/// One text or several. A single one is written as such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts(pub Vec<String>);

/// A regular expression, in Python's notation, that is found somewhere in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Pattern(String);

/// The condition on the address of the last page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UrlRule {
    /// It is this, or one of these. A fragment, and a slash at the end, make no difference.
    Equals(Texts),
    /// It has each of these in it.
    Contains(Texts),
    /// It matches this regular expression somewhere.
    Matches(Pattern),
}

/// As [`UrlRule`]; one or several addresses alone are those that it has to equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlCheck(pub UrlRule);

/// Describes why an answer is none of these texts, if it is not.
fn equals(wanted: &Texts, answer: &str) -> Option<String> {
    let found = wanted.0.iter().any(|text| folded(text) == folded(answer));
    (!found).then(|| format!("the answer is {answer:?}, and not {wanted}"))
}

/// Describes which of these texts an answer lacks, if it does.
fn contains(wanted: &Texts, answer: &str) -> Option<String> {
    let lacks = wanted.0.iter().find(|text| !folded(answer).contains(&folded(text)))?;
    Some(format!("the answer is {answer:?}, without {lacks:?}"))
}

/// Describes why an answer does not match, if it does not.
fn matches(wanted: &Pattern, answer: &str) -> Option<String> {
    if answer.len() > LONGEST_TEXT && wanted.goes_back() {
        let length = answer.len();
        return Some(format!(
            "the answer has {length} bytes, and {:?} is tried on {LONGEST_TEXT} at most",
            wanted.0
        ));
    }
    (!wanted.is_in(answer))
        .then(|| format!("the answer is {answer:?}, which does not match {:?}", wanted.0))
}

impl UrlCheck {
    /// Describes why an address breaks the condition, if it does.
    fn judge(&self, url: &str) -> Option<String> {
        let right = match &self.0 {
            UrlRule::Equals(texts) => texts.0.iter().any(|text| plain(text) == plain(url)),
            UrlRule::Contains(texts) => texts.0.iter().all(|text| url.contains(text.as_str())),
            UrlRule::Matches(pattern) => pattern.is_in(url),
        };
        (!right).then(|| format!("the last page is {url}"))
    }
}

impl Pattern {
    /// A pattern that runs away has not matched. A pattern that goes back is tried at each place of
    /// a text, and may read the rest of the text each time; that is why its texts are bounded.
    fn is_in(&self, text: &str) -> bool {
        if text.len() > LONGEST_TEXT && self.goes_back() {
            return false;
        }
        Regex::new(&self.0).is_ok_and(|pattern| pattern.is_match(text).unwrap_or(false))
    }

    /// Whether it may have what no linear search can do: looking around, references to groups,
    /// atomic groups, possessive repetition.
    fn goes_back(&self) -> bool {
        const MARKS: [&str; 14] = [
            "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?P=", "(?P>", "(?(", "\\k", "\\K", "\\G", "++",
            "*+", "?+",
        ];
        let digit = |pair: &[u8]| pair[0] == b'\\' && pair[1].is_ascii_digit();
        MARKS.iter().any(|mark| self.0.contains(mark))
            || self.0.contains("}+")
            || self.0.as_bytes().windows(2).any(digit)
    }
}

/// Without letter case, and with one space for each white space.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn plain(url: &str) -> &str {
    url.split('#').next().unwrap_or(url).trim_end_matches('/')
}

impl fmt::Display for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, text) in self.0.iter().enumerate() {
            write!(f, "{}{text:?}", if at == 0 { "" } else { " or " })?;
        }
        Ok(())
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(output),
            several => several.serialize(output),
        }
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Texts, D::Error> {
        input.deserialize_any(OneOrMore)
    }
}

/// A text, or a whole number, which YAML does not take for a text.
struct Text(String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Text, D::Error> {
        let mut texts = input.deserialize_any(OneOrMore)?.0;
        match (texts.pop(), texts.is_empty()) {
            (Some(text), true) => Ok(Text(text)),
            _ => Err(de::Error::custom("a list in a list makes no sense here")),
        }
    }
}

struct OneOrMore;

impl<'de> Visitor<'de> for OneOrMore {
    type Value = Texts;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(
            "a text or a list of texts, in quotes where YAML takes them for something else",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Texts, E> {
        if text.trim().is_empty() {
            return Err(E::custom("is empty"));
        }
        Ok(Texts(vec![text.to_owned()]))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Texts, E> {
        Ok(Texts(vec![number.to_string()]))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Texts, E> {
        Ok(Texts(vec![number.to_string()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
        let mut texts = Vec::new();
        while let Some(Text(text)) = items.next_element()? {
            texts.push(text);
        }
        match texts.is_empty() {
            true => Err(de::Error::custom("is an empty list")),
            false => Ok(Texts(texts)),
        }
    }
}

impl JsonSchema for Texts {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Texts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A text, or a list of texts.",
            "anyOf": [
                { "type": ["string", "integer"] },
                { "type": "array", "items": { "type": ["string", "integer"] }, "minItems": 1 }
            ]
        })
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Pattern, D::Error> {
        yaml::text(input, |text| match Regex::new(text) {
            Ok(_) => Ok(Pattern(text.to_owned())),
            Err(error) => Err(format!("`{text}` is no regular expression: {error}")),
        })
    }
}

impl Serialize for UrlCheck {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            UrlRule::Equals(texts) => texts.serialize(output),
            other => other.serialize(output),
        }
    }
}

impl<'de> Deserialize<'de> for UrlCheck {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<UrlCheck, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = UrlCheck;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str(
                    "an address, a list of addresses, or one of `equals`, `contains` and `matches`",
                )
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<UrlCheck, E> {
                OneOrMore.visit_str(text).map(|texts| UrlCheck(UrlRule::Equals(texts)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<UrlCheck, A::Error> {
                OneOrMore.visit_seq(items).map(|texts| UrlCheck(UrlRule::Equals(texts)))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<UrlCheck, A::Error> {
                let rule = match map.next_key::<String>()?.as_deref() {
                    Some("equals") => UrlRule::Equals(map.next_value()?),
                    Some("contains") => UrlRule::Contains(map.next_value()?),
                    Some("matches") => UrlRule::Matches(map.next_value()?),
                    Some(other) => {
                        return Err(de::Error::unknown_field(
                            other,
                            &["equals", "contains", "matches"],
                        ));
                    }
                    None => return Err(de::Error::invalid_length(0, &self)),
                };
                match map.next_key::<String>()? {
                    None => Ok(UrlCheck(rule)),
                    Some(_) => Err(de::Error::custom("takes one rule; `all` takes several")),
                }
            }
        }

        input.deserialize_any(Either)
    }
}

impl JsonSchema for UrlCheck {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "UrlCheck".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (texts, rule) =
            (generator.subschema_for::<Texts>(), generator.subschema_for::<UrlRule>());
        json_schema!({
            "description": "One or several addresses, or one of `equals`, `contains` and `matches`.",
            "anyOf": [texts, rule]
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde::{Deserialize, Serialize};

    use crate::{Scorer, Step};

    /// As a task's file has it.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Task {
        #[serde(with = "serde_yaml::with::singleton_map_recursive")]
        scorer: Scorer,
    }

    fn score(scorer: &str, url: &str, answer: Option<&str>) -> f64 {
        let text = format!("scorer: {{{scorer}}}\n");
        let task: Task =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{scorer}: {error}"));
        let again = serde_yaml::to_string(&task).unwrap();
        assert_eq!(serde_yaml::from_str::<Task>(&again).unwrap(), task, "{again}");
        let scorer: Scorer = task.scorer;
        let mut assessment = scorer.start();
        assessment.observe(&Step { url, ..Step::default() });
        assessment.observe(&Step { url, answer, ..Step::default() });
        assessment.score().unwrap().value
    }

    #[test]
    fn an_answer_is_right_or_wrong_and_never_nearly_right() {
        for (scorer, right, wrong) in [
            ("equals: 1987", "1987", "1986"),
            ("equals: \"1987\"", " 1987\n", "In 1987"),
            ("equals: Rue de l'Étuve", "rue  de l'étuve", "Rue de l'Etuve"),
            ("equals: [Oak, 'Ash']", "ash", "Oak, Ash"),
            ("contains: documentation", "For Documentation.", "for examples"),
            ("contains: [documentation, 2]", "2 documentations", "documentation"),
            ("matches: '^RE \\d+$'", "RE 408", "It is RE 408"),
            ("matches: '(?i)oak|ash'", "An OAK", "elm"),
            ("all: [{contains: a}, {contains: b}]", "ab", "a"),
        ] {
            assert_eq!(
                (score(scorer, "", Some(right)), score(scorer, "", Some(wrong))),
                (1.0, 0.0),
                "{scorer}"
            );
            assert_eq!(score(scorer, "", None), 0.0, "{scorer}");
        }
    }

    #[test]
    fn the_last_page_is_right_or_wrong() {
        for (scorer, right, wrong) in [
            (
                "url: https://shop.test/cart",
                "https://shop.test/cart/#top",
                "https://shop.test/carts",
            ),
            ("url: [https://a.test, https://b.test/]", "https://b.test", "https://c.test"),
            (
                "url: {contains: [shop.test, id=7]}",
                "https://shop.test/a?id=7",
                "https://shop.test/a?id=8",
            ),
            (
                "url: {matches: '/orders/\\d+$'}",
                "https://shop.test/orders/12",
                "https://shop.test/orders/",
            ),
            ("url: {equals: https://a.test}", "https://a.test/", "https://a.test/b"),
        ] {
            assert_eq!(
                (score(scorer, right, None), score(scorer, wrong, None)),
                (1.0, 0.0),
                "{scorer}"
            );
        }
    }

    #[test]
    fn what_makes_no_rule_is_an_error() {
        for (scorer, wrong) in [
            ("equals: ''", "is empty"),
            ("contains: []", "is an empty list"),
            ("equals: [[a, b]]", "a list in a list makes no sense here"),
            ("equals: true", "in quotes where YAML takes them for something else"),
            ("equals: 1.50", "in quotes where YAML takes them for something else"),
            ("matches: '('", "`(` is no regular expression"),
            ("url: {equals: a, contains: b}", "takes one rule; `all` takes several"),
            ("url: {is: a}", "unknown field `is`"),
        ] {
            let text = format!("scorer: {{{scorer}}}\n");
            let error = serde_yaml::from_str::<Task>(&text).unwrap_err().to_string();
            assert!(error.contains(wrong), "{scorer}: {error}");
        }
    }
}
