//! What sites' own searches are asked for a task: made of the words of its goal.

use std::collections::HashSet;

/// Words that say nothing about what is looked for. They are those of orders and questions.
const COMMON: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "between", "browse", "but",
    "by", "can", "check", "compare", "did", "do", "does", "find", "first", "for", "from", "get", "give",
    "go", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "list", "look", "many", "me",
    "most", "much", "my", "name", "no", "not", "of", "on", "one", "open", "or", "page", "please", "search",
    "see", "show", "site", "than", "that", "the", "their", "them", "there", "these", "they", "this", "to",
    "up", "use", "view", "was", "were", "what", "when", "where", "which", "who", "whose", "will", "with",
    "within", "you", "your",
];
const QUOTES: [char; 3] = ['"', '“', '”'];
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
    fn words_are_those_that_say_something() {
        assert_eq!(words("Compare the AeroAPI's plans, plans on it"), ["aeroapi's", "plans"]);
    }
}
