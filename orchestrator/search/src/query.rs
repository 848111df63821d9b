//! Translates search queries into expressions of SQLite FTS5.

/// Common words, which are ignored if the query has others.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "has", "have",
    "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that", "the", "there", "this", "to",
    "was", "were", "what", "when", "where", "which", "who", "why", "will", "with",
];
/// Maximum number of words; others are ignored.
const MOST: usize = 64;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    /// An FTS5 expression. Pages with any of the words match; those with more and rarer words come
    /// first. Quoted phrases are required, and words after a minus are excluded.
    pub(crate) expression: String,
    /// The page must be on one of these hosts or below. Any host if empty.
    pub(crate) hosts: Vec<String>,
}

/// Parses a query. `None` if it has no words.
pub(crate) fn read(typed: &str) -> Option<Query> {
    let (mut words, mut phrases, mut without, mut hosts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for Piece { text, quoted, not } in pieces(typed) {
        if let (false, Some(host)) = (quoted, text.strip_prefix("site:")) {
            // Excluded hosts are ignored: they would only affect the rank.
            hosts.extend(host_of(host).filter(|_| !not));
        } else if !text.contains(char::is_alphanumeric) {
        } else if not {
            without.push(literal(text));
        } else if quoted {
            phrases.push(literal(text));
        } else if !matches!(text, "OR" | "AND") {
            words.push(text);
        }
    }
    let common = |word: &&str| COMMON.contains(&word.to_lowercase().as_str());
    if !(phrases.is_empty() && words.iter().all(common)) {
        words.retain(|word| !common(word));
    }
    let words: Vec<String> = words.into_iter().map(literal).collect();
    let any = [&phrases[..], &words].concat();
    if any.is_empty() {
        return None;
    }
    // Phrases are also among the optional words, so that other words affect only the rank.
    let mut expression = format!("({})", any.join(" OR "));
    for phrase in phrases {
        expression = format!("{expression} AND {phrase}");
    }
    if !without.is_empty() {
        expression = format!("({expression}) NOT ({})", without.join(" OR "));
    }
    Some(Query { expression, hosts })
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
        let (text, quoted, behind) = match inside.split_once(QUOTES).filter(|_| QUOTES.contains(&first)) {
            Some((text, behind)) => (text, true, behind),
            None => {
                let bare = if QUOTES.contains(&first) { inside } else { rest };
                let end = bare.find(|c: char| c.is_whitespace() || QUOTES.contains(&c)).unwrap_or(bare.len());
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
    let host = host.trim_start_matches("*.").trim_start_matches("www.").trim_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}

/// A string of FTS5. Its tokenizer splits the text into one or several adjacent words.
fn literal(text: &str) -> String {
    let text: String = text.chars().filter(|c| *c != '\0').collect();
    format!("\"{}\"", divided(&text).replace('"', "\"\""))
}

/// An invisible divider between characters of scripts without blanks between words. It makes each
/// character a word.
pub(crate) const DIVIDER: char = '\u{200b}';

/// Puts a [`DIVIDER`] around each character of such a script.
pub(crate) fn divided(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Kana and ideographs.
            '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{2ffff}' => {
                out.extend([DIVIDER, c, DIVIDER]);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expect: Option<(&str, &[&str])>) {
        let query = read(typed);
        let query = query.as_ref().map(|query| (query.expression.as_str(), query.hosts.clone()));
        let expect = expect
            .map(|(expression, hosts)| (expression, hosts.iter().map(|host| (*host).to_owned()).collect()));
        assert_eq!(query, expect, "{typed}");
    }

    #[test]
    fn what_is_typed_is_read_as_search_engines_do() {
        check("Which oak is tallest?", Some((r#"("oak" OR "tallest?")"#, &[])));
        check("who is it", Some((r#"("who" OR "is" OR "it")"#, &[])));
        check(r#"oak "old town" height"#, Some((r#"("old town" OR "oak" OR "height") AND "old town""#, &[])));
        check("oak -pine OR ash", Some((r#"(("oak" OR "ash")) NOT ("pine")"#, &[])));
        check("oak site:https://www.trees.test/a", Some((r#"("oak")"#, &["trees.test"])));
        check(r#"oak "never closed"#, Some((r#"("oak" OR "never" OR "closed")"#, &[])));
        check("", None);
        check("?! -", None);
        check("site:trees.test", None);
        check("-oak", None);
        check(r#"oak -"old town""#, Some((r#"(("oak")) NOT ("old town")"#, &[])));
        check(r#""-5 degrees""#, Some((r#"("-5 degrees") AND "-5 degrees""#, &[])));
        check("oak - pine", Some((r#"("oak" OR "pine")"#, &[])));
        check("oak site: -site:pine.test", Some((r#"("oak")"#, &[])));
        check("oak site:.edu site:www.a.test:8080", Some((r#"("oak")"#, &["edu", "a.test"])));
        check("oak”old”", Some((r#"("old" OR "oak") AND "old""#, &[])));
        check("東京a", Some(("(\"\u{200b}東\u{200b}\u{200b}京\u{200b}a\")", &[])));
    }
}
