//! Translates search queries into the words of the index.

use crate::words::{COMMON, words};

/// Maximum number of words; others are ignored.
const MOST: usize = 64;

/// Words that stand in a row.
pub(crate) type Phrase = Vec<String>;

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// Pages with any of these match; those with more and rarer ones come first. Each is there
    /// once.
    pub(crate) any: Vec<Phrase>,
    /// How many of them, from the first on, every page must have: the quoted ones.
    pub(crate) required: usize,
    /// Pages with any of these do not match.
    pub(crate) without: Vec<Phrase>,
    /// The page must be on one of these hosts or below. Any host if empty.
    pub(crate) hosts: Vec<String>,
}

/// Parses a query. `None` if it has no words.
pub(crate) fn read(typed: &str) -> Option<Query> {
    let (mut words, mut phrases, mut without, mut hosts) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for Piece { text, quoted, not } in pieces(typed) {
        if let (false, Some(host)) = (quoted, text.strip_prefix("site:")) {
            // Excluded hosts are ignored: they would only affect the rank.
            hosts.extend(host_of(host).filter(|_| !not));
        } else if !text.contains(char::is_alphanumeric) {
        } else if not {
            without.push(phrase(text));
        } else if quoted {
            phrases.push(phrase(text));
        } else if !matches!(text, "OR" | "AND") {
            words.push(text);
        }
    }
    let common = |word: &&str| COMMON.contains(&word.to_lowercase().as_str());
    if !(phrases.is_empty() && words.iter().all(common)) {
        words.retain(|word| !common(word));
    }
    let mut any = Vec::<Phrase>::new();
    let mut add = |phrase: Phrase| {
        if !phrase.is_empty() && !any.contains(&phrase) {
            any.push(phrase);
        }
        any.len()
    };
    // Phrases are also among the optional words, so that other words affect only the rank.
    let required = phrases.into_iter().map(&mut add).last().unwrap_or_default();
    words.into_iter().map(phrase).for_each(|phrase| {
        add(phrase);
    });
    without.retain(|phrase| !phrase.is_empty());
    (!any.is_empty()).then_some(Query { any, required, without, hosts })
}

struct Piece<'a> {
    text: &'a str,
    quoted: bool,
    not: bool,
}

/// Splits the query at blanks and quotes. Each piece says whether a minus precedes it.
fn pieces(typed: &str) -> Vec<Piece<'_>> {
    const QUOTES: [char; 3] = ['"', '“', '”'];
    let (mut pieces, mut rest, mut not) = (Vec::new(), typed, false);
    while pieces.len() < MOST {
        rest = rest.trim_start();
        if let Some(bare) = rest.strip_prefix('-') {
            (rest, not) = (bare, !bare.starts_with(char::is_whitespace));
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        let inside = &rest[first.len_utf8()..];
        // A quote without an end is ignored.
        let (text, quoted, behind) =
            match inside.split_once(QUOTES).filter(|_| QUOTES.contains(&first)) {
                Some((text, behind)) => (text, true, behind),
                None => {
                    let bare = if QUOTES.contains(&first) { inside } else { rest };
                    let end = bare
                        .find(|c: char| c.is_whitespace() || QUOTES.contains(&c))
                        .unwrap_or(bare.len());
                    (&bare[..end], false, &bare[end..])
                }
            };
        pieces.push(Piece { text, quoted, not });
        (rest, not) = (behind, false);
    }
    pieces
}

/// The host of `site:`, which may contain more of a URL. `None` if nothing is left.
fn host_of(typed: &str) -> Option<String> {
    let bare = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let host = bare.split(['/', '?', '#', ':']).next().unwrap_or(bare);
    let host =
        host.trim_start_matches("*.").trim_start_matches("www.").trim_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// What is written without blanks is one or several words in a row.
fn phrase(text: &str) -> Phrase {
    let mut words = words(text);
    words.truncate(MOST);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phrases are written `any | without | hosts`, required ones with a plus.
    fn check(typed: &str, expect: &str) {
        let list =
            |phrases: &[Phrase]| phrases.iter().map(|words| words.join("_")).collect::<Vec<_>>();
        let query = read(typed).map(|query| {
            let mut any = list(&query.any);
            any[..query.required].iter_mut().for_each(|phrase| phrase.insert(0, '+'));
            [any, list(&query.without), query.hosts].map(|part| part.join(" ")).join("|")
        });
        assert_eq!(query.unwrap_or_default(), expect, "{typed}");
    }

    #[test]
    fn what_is_typed_is_read_as_search_engines_do() {
        check("Which oak is tallest?", "oak tallest||");
        check("who is it", "who is it||");
        check(r#"oak "old town" height"#, "+old_town oak height||");
        check("oak -pine OR ash", "oak ash|pine|");
        check("oak site:https://www.trees.test/a", "oak||trees.test");
        check(r#"oak "never closed"#, "oak never close||");
        check("", "");
        check("?! -", "");
        check("site:trees.test", "");
        check("-oak", "");
        check(r#"oak -"old town""#, "oak|old_town|");
        check(r#""-5 degrees""#, "+5_degre||");
        check("oak - pine", "oak pine||");
        check("oak site: -site:pine.test", "oak||");
        check("oak site:.edu site:www.a.test:8080", "oak||edu a.test");
        check("oak”old”", "+old oak||");
        check(r#"oak oaks "oak""#, "+oak||");
        check("東京a", "東_京_a||");
    }
}
