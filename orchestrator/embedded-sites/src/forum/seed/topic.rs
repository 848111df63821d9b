//! The topics of the generated forums: one text file for each forum, and the templates of its
//! sentences.
//!
//! A file has lines `key: text` (one more alternative for `key`) and `key = a / b / c` (several).
//! In a text, `{key}` stands for one alternative of the forum's list, or else of the common list. A
//! key that a submission uses keeps its choice in the comments below it, so that they are about the
//! same book.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::Error;
use crate::dice::Dice;

/// Alternatives by key.
pub(super) struct Topic(HashMap<&'static str, Vec<&'static str>>);

/// The choices by key.
pub(super) type Choices = BTreeMap<String, String>;

/// Keys with a new choice at each use.
const FRESH: [&str; 1] = ["number"];
/// Keys whose choice belongs to the submission: comments make their own choices.
const OWN: [&str; 9] =
    ["person", "month", "ask", "feeling", "moment", "turn", "lesson", "why", "family"];

impl Topic {
    pub(super) fn parse(text: &'static str) -> Result<Self, Error> {
        let mut lists: HashMap<&'static str, Vec<&'static str>> = HashMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let colon = line.find(": ").unwrap_or(usize::MAX);
            let equals = line.find(" = ").unwrap_or(usize::MAX);
            if colon < equals {
                lists.entry(&line[..colon]).or_default().push(line[colon + 2..].trim());
            } else if equals < usize::MAX {
                lists
                    .entry(&line[..equals])
                    .or_default()
                    .extend(line[equals + 3..].split(" / ").map(str::trim));
            } else {
                return Err(Error::BuiltIn {
                    what: "topics",
                    reason: format!("no key in {line:?}"),
                });
            }
        }
        Ok(Self(lists))
    }

    pub(super) fn all(&self, key: &str) -> &[&'static str] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The only text under `key`.
    pub(super) fn one(&self, key: &str) -> &'static str {
        self.all(key).first().copied().unwrap_or("")
    }
}

/// The forum's texts, and the common ones as a fallback.
pub(super) struct Speech<'a> {
    pub(super) topic: &'a Topic,
    pub(super) common: &'a Topic,
}

impl Speech<'_> {
    pub(super) fn alternatives(&self, key: &str) -> &[&'static str] {
        let own = self.topic.all(key);
        if own.is_empty() { self.common.all(key) } else { own }
    }

    /// Chooses an alternative for `key`, fills in its slots, and begins its sentences with
    /// capitals.
    pub(super) fn say(&self, dice: &mut Dice, key: &str, choices: &mut Choices) -> String {
        let alternatives = self.alternatives(key);
        if alternatives.is_empty() {
            String::new()
        } else {
            let template = pick(dice, alternatives);
            self.fill(dice, template, choices)
        }
    }

    pub(super) fn fill(&self, dice: &mut Dice, template: &str, choices: &mut Choices) -> String {
        capitals(&self.expand(dice, template, choices))
    }

    fn expand(&self, dice: &mut Dice, template: &str, choices: &mut Choices) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (key, after) = after.split_once('}').unwrap_or((after, ""));
            text.push_str(before);
            match choices.get(key) {
                Some(choice) => join(&mut text, choice),
                None => {
                    let chosen = match self.alternatives(key) {
                        [] => key.to_owned(),
                        alternatives => {
                            let template = pick(dice, alternatives);
                            self.expand(dice, template, choices)
                        }
                    };
                    join(&mut text, &chosen);
                    if !FRESH.contains(&key) {
                        choices.insert(key.to_owned(), chosen);
                    }
                }
            }
            rest = after;
        }
        text + rest
    }

    /// Generates a comment on the same subject, sometimes with an opening or a closing sentence.
    /// Never repeats a template in `used`; `None` if all are used.
    pub(super) fn comment(
        &self,
        dice: &mut Dice,
        of: &Choices,
        used: &mut HashSet<&'static str>,
    ) -> Option<String> {
        let unused: Vec<&'static str> = self
            .alternatives("comment")
            .iter()
            .filter(|template| !used.contains(*template))
            .copied()
            .collect();
        let template = pick(dice, &unused);
        if !used.insert(template) || template.is_empty() {
            return None;
        }
        let mut choices = of.clone();
        choices.retain(|key, _| !OWN.contains(&key.as_str()));
        let mut text = match dice.below(100) {
            0..35 => format!("{} {}", self.say(dice, "opener", &mut choices), continued(template)),
            _ => template.to_owned(),
        };
        // `fill` adds a capital after an opening that is a sentence of its own.
        if dice.chance(25) {
            let closer = self.say(dice, "closer", &mut choices);
            text = format!("{text} {closer}");
        }
        Some(self.fill(dice, &text, &mut choices))
    }
}

fn pick(dice: &mut Dice, from: &[&'static str]) -> &'static str {
    from.get(dice.below(from.len())).copied().unwrap_or("")
}

/// Appends a choice. An article before a vowel becomes `an`.
fn join(text: &mut String, choice: &str) {
    let article = text == "A " || text.ends_with(" a ") || text.ends_with(" A ");
    if article && choice.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) {
        text.insert(text.len() - 1, 'n');
    }
    text.push_str(choice);
}

/// A sentence in the middle of another: with a small first letter, unless it is a name or the word
/// I.
fn continued(sentence: &str) -> String {
    let first = sentence.split([' ', ',', '\'']).next().unwrap_or("");
    let keeps =
        first == "I" || first.starts_with('{') || first.len() > 1 && first == first.to_uppercase();
    let mut letters = sentence.chars();
    match letters.next() {
        Some(letter) if !keeps => letter.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}

fn capitals(text: &str) -> String {
    let mut start = true;
    let mut last = ' ';
    let mut result = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == ' ' && matches!(last, '.' | '?' | '!') {
            start = true;
        }
        if start && letter.is_alphanumeric() {
            result.extend(letter.to_uppercase());
            start = false;
        } else {
            result.push(letter);
        }
        last = letter;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::{Choices, Speech, Topic, capitals, continued};
    use crate::dice::Dice;

    #[test]
    fn a_choice_is_kept_and_sentences_begin_with_capitals() {
        let topic = Topic::parse("post: {book}, again {book}\nbook = a / b / c / d\n").unwrap();
        let common = Topic::parse("number: two\n").unwrap();
        let speech = Speech { topic: &topic, common: &common };
        for seed in 0..20 {
            let post = speech.say(&mut Dice::new(seed), "post", &mut Choices::new());
            let (first, second) = post.split_once(", again ").unwrap();
            assert_eq!(first.to_lowercase(), second);
        }
        assert_eq!(capitals("one. two? three"), "One. Two? Three");
        assert_eq!(continued("The end"), "the end");
        assert_eq!(continued("I end"), "I end");
        assert!(Topic::parse("no key here").is_err());
    }

    #[test]
    fn every_slot_of_every_topic_has_words_for_it() {
        let common = Topic::parse(super::super::COMMON).unwrap();
        for text in super::super::TOPICS {
            let topic = Topic::parse(text).unwrap();
            let speech = Speech { topic: &topic, common: &common };
            for line in text.lines() {
                for slot in line.split('{').skip(1) {
                    let key = slot.split('}').next().unwrap();
                    assert!(!speech.alternatives(key).is_empty(), "{{{key}}} in {line}");
                }
            }
            assert!(topic.all("comment").len() >= 7, "{}", topic.one("name"));
        }
    }
}
