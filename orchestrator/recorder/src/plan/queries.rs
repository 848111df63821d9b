//! The queries for sites' own searches, made of the words of a task's goal.

use std::collections::HashSet;

/// Words that say nothing about what is looked for. They are those of orders and questions.
const COMMON: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "between", "browse",
    "but", "by", "can", "check", "compare", "did", "do", "does", "find", "first", "for", "from",
    "get", "give", "go", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "list",
    "look", "many", "me", "most", "much", "my", "name", "no", "not", "of", "on", "one", "open",
    "or", "page", "please", "search", "see", "show", "site", "than", "that", "the", "their",
    "them", "there", "these", "they", "this", "to", "up", "use", "view", "was", "were", "what",
    "when", "where", "which", "who", "whose", "will", "with", "within", "you", "your",
];
const QUOTES: [char; 3] = ['"', '“', '”'];
/// Words beside which a goal gives a secret.
const SECRETS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "pin",
    "secret",
    "token",
    "credentials",
    "passwort",
    "kennwort",
    "key",
];
/// Words of goals that log in. What looks like a password there is one.
const LOG_IN: &[&str] =
    &["login", "log", "sign", "signin", "credentials", "authenticate", "account"];
/// Words between the name of a secret and the secret.
const LINKS: &[&str] = &[
    "is", "as", "to", "of", "the", "your", "my", "a", "be", "with", "and", "for", "using", "use",
    "their", "new",
];
/// How many words a query has at most. Sites' searches often want all of them on one page.
const MOST_WORDS: usize = 4;
/// How many queries a task has at most.
const MOST_QUERIES: usize = 3;

/// The words of a text that say what it is about, in small letters, each once, in their order.
pub fn words(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-');
    let words = words.map(|word| word.trim_matches(['\'', '-']).to_lowercase());
    words
        .filter(|word| word.chars().count() > 1 && !COMMON.contains(&word.as_str()))
        .filter(|word| seen.insert(word.clone()))
        .collect()
}

/// Queries for a goal: what it quotes, its names (words in a row that begin with capitals), and its
/// first words.
pub(super) fn of_goal(goal: &str) -> Vec<String> {
    // A search is typed into other people's sites.
    let goal = &without_secrets(goal);
    let mut queries = quoted(goal);
    // Every second part is quoted.
    let unquoted: Vec<&str> = goal.split(QUOTES).step_by(2).collect();
    queries.extend(names(&unquoted.join(" , ")));
    queries.push(words(goal).into_iter().take(MOST_WORDS).collect::<Vec<_>>().join(" "));
    let mut seen = HashSet::new();
    queries.retain(|query| !query.is_empty() && seen.insert(query.to_lowercase()));
    queries.truncate(MOST_QUERIES);
    queries
}

/// A goal without passwords: what follows the name of a secret, what precedes `as the password`,
/// and, where somebody logs in, what is no word of a language.
fn without_secrets(goal: &str) -> String {
    let plain = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_secret = |word: &str| {
        let word = plain(word);
        SECRETS.contains(&word.split([':', '=']).next().unwrap_or_default())
    };
    let words: Vec<&str> = goal.split_whitespace().collect();
    let has_secret = words.iter().any(|word| is_secret(word));
    let logs_in = has_secret || words.iter().any(|word| LOG_IN.contains(&plain(word).as_str()));
    let mut keep = vec![true; words.len()];
    for at in (0..words.len()).filter(|at| is_secret(words[*at])) {
        // `password:x` in one word.
        keep[at] = !words[at].trim_end_matches([':', '=']).contains([':', '=']);
        let is_link = |word: &str| LINKS.contains(&plain(word).as_str()) || plain(word).is_empty();
        let after =
            (at + 1..words.len()).find(|at| !is_link(words[*at]) || words[*at].contains(QUOTES));
        if let Some(start) = after.filter(|_| keep[at]) {
            let opens = words[start].starts_with(['"', '“', '\'', '`']);
            let closes = |word: &str| {
                word.trim_end_matches(['.', ',', ';']).ends_with(['"', '”', '\'', '`'])
            };
            let quoted =
                (start..words.len()).find(|end| closes(words[*end]) && words[*end].len() > 1);
            let end = if opens { quoted.unwrap_or(words.len() - 1) } else { start };
            keep[start..=end].fill(false);
        }
        let before = (0..at).rev().find(|at| !is_link(words[*at]));
        if let Some(before) = before.filter(|before| words[before + 1..at].contains(&"as")) {
            keep[before] = false;
        }
    }
    let is_mixed = |word: &str| {
        let has = |of: fn(char) -> bool| word.trim_matches(['.', ',', '"', '?']).contains(of);
        has(char::is_alphabetic)
            && (has(|c| c.is_ascii_digit()) || has(|c| "@#$%&*!=/".contains(c)))
    };
    let kept =
        words.iter().zip(keep).map(|(word, keep)| match keep && !(logs_in && is_mixed(word)) {
            true => *word,
            false => ",",
        });
    kept.collect::<Vec<_>>().join(" ")
}

fn quoted(goal: &str) -> Vec<String> {
    let mut parts = goal.split(QUOTES);
    let mut found = Vec::new();
    while let (Some(_), Some(inside)) = (parts.next(), parts.next()) {
        let inside = inside.trim().trim_end_matches(['.', ',']);
        if (1..=MOST_WORDS + 2).contains(&inside.split_whitespace().count()) {
            found.push(inside.to_owned());
        }
    }
    found
}

/// Words in a row that begin with capitals, longest first. The first word of a sentence does not
/// count, as every such word has one.
fn names(goal: &str) -> Vec<String> {
    let mut names: Vec<Vec<&str>> = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    let mut begins = true;
    for word in goal.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = !begins && bare.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit());
        if is_name && current.len() < MOST_WORDS {
            current.push(bare);
        }
        begins = word.ends_with(['.', '?', '!']);
        if !is_name || begins || word.ends_with([',', ':', ';', '"', '”']) {
            names.push(std::mem::take(&mut current));
        }
    }
    names.push(current);
    names.retain(|name| name.iter().any(|word| word.starts_with(char::is_uppercase)));
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names.into_iter().map(|name| name.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_what_a_person_would_type() {
        for (goal, expected) in [
            (
                "Give a 10 rating to The Terminator II: Judgement Day on imdb",
                &["The Terminator II", "Judgement Day", "10 rating terminator ii"][..],
            ),
            (
                "Find the review titled \"Never again\" of the blue kettle.",
                &["Never again", "review titled never again"],
            ),
            ("Which homes have a roof terrace?", &["homes roof terrace"]),
            ("", &[]),
            ("the", &[]),
        ] {
            assert_eq!(of_goal(goal), expected, "{goal}");
        }
    }

    #[test]
    fn passwords_are_in_no_query() {
        for goal in [
            "Log in as Ann with the password Clay-secret and open the Orders page",
            "Log in as Ann, password: Clay-secret. Open the Orders page",
            "Sign in with ann@shop.test / Clay-s3cret, then open the Orders page",
            "Log in as Ann (password \"Clay-secret horse\") and open the Orders page",
            "Use Clay-secret as the password of Ann and open the Orders page",
            "Log in with password=Clay-secret and open the Orders page",
            "Change the password to 'Clay-secret' and open the Orders page",
        ] {
            let queries = of_goal(goal).join("; ").to_lowercase();
            for part in ["clay", "secret", "s3cret", "horse"] {
                assert!(!queries.contains(part), "{goal}: {queries}");
            }
            // Where it is not clear where a password ends, all that follows is left out.
            assert!(queries.contains("orders") || goal.contains('('), "{goal}: {queries}");
        }
    }

    #[test]
    fn words_are_those_that_say_something() {
        assert_eq!(words("Compare the AeroAPI's plans, plans on it"), ["aeroapi's", "plans"]);
    }
}
