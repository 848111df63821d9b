//! What people type into search engines, as SQLite's full-text search takes it.

/// Words that say little, as long as others say more.
const COMMON: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "has", "have",
    "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "that", "the", "there", "this", "to",
    "was", "were", "what", "when", "where", "which", "who", "why", "will", "with",
];
/// More words than that are not looked for.
const MOST: usize = 64;

/// A query that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Query {
    /// An expression of FTS5. Pages with any of the words are found, those with more and rarer ones first; phrases in quotes have to be there, and what has
    /// a minus before it must not.
    pub(crate) expression: String,
    /// Hosts, and the hosts below them, of which the page has to be one; any where there is none.
    pub(crate) hosts: Vec<String>,
}

/// Reads what was typed; none where no word is in it.
pub(crate) fn read(typed: &str) -> Option<Query> {
    let (mut words, mut phrases, mut without, mut hosts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for piece in pieces(typed).into_iter().take(MOST) {
        let (not, text) = piece.text.strip_prefix('-').map_or((false, piece.text), |rest| (true, rest));
        match text.strip_prefix("site:") {
            Some(host) if !piece.quoted && !not => hosts.push(host_of(host)),
            _ if !text.contains(char::is_alphanumeric) => {}
            _ if not => without.push(literal(text)),
            _ if piece.quoted => phrases.push(literal(text)),
            _ if matches!(text, "OR" | "AND") => {}
            _ => words.push(text),
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
    // All phrases are among the words, too: where a word only ranks, that lets the rest of the expression hold without it.
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
}

/// What stands between blanks, and between quotes.
fn pieces(typed: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for (place, part) in typed.split(['"', '“', '”']).enumerate() {
        // A quote that is never closed is none.
        let quoted = place % 2 == 1 && typed.matches(['"', '“', '”']).count() > place;
        if quoted {
            pieces.push(Piece { text: part, quoted });
        } else {
            pieces.extend(part.split_whitespace().map(|text| Piece { text, quoted }));
        }
    }
    pieces
}

fn host_of(typed: &str) -> String {
    let bare = typed.split_once("://").map_or(typed, |(_, rest)| rest);
    let host = bare.split(['/', '?', '#']).next().unwrap_or(bare);
    host.trim_start_matches("*.").trim_start_matches("www.").to_lowercase()
}

/// A string of FTS5: whatever is in it is text, of which its tokenizer makes one or several words in a row.
fn literal(text: &str) -> String {
    let text: String = text.chars().filter(|c| *c != '\0').collect();
    format!("\"{}\"", text.replace('"', "\"\""))
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
    }
}
