//! `word_tokenize` of NLTK 3.8.1 on lower-case text: Punkt's English sentences, and in each the
//! Treebank's words.
//!
//! The scorers that split text into words lower-case it first. That makes most of Punkt's model
//! idle, so what only capital letters can reach is left out here.

mod model;
mod punkt;
mod sentence_end;
mod treebank;

use std::borrow::Cow;

/// `word_tokenize(text)`, for text that has been through `lower()`.
pub fn word_tokenize(text: &str) -> Vec<Cow<'_, str>> {
    if is_plain(text) {
        return text.split_ascii_whitespace().map(Cow::Borrowed).collect();
    }
    tokenize(text).into_iter().map(Cow::Owned).collect()
}

fn tokenize(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let sentences = punkt::sentences(&text);
    sentences
        .into_iter()
        .flat_map(|range| treebank::words(text.get(range).unwrap_or_default()))
        .collect()
}

/// Whether words are what stands between spaces, because no expression of Punkt or of the Treebank
/// finds anything: many answers are so.
fn is_plain(text: &str) -> bool {
    let is_found =
        |pair: &[u8]| pair == b"--" || treebank::may_contract(pair[0].into(), pair[1].into());
    text.bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'-' | b'_' | b'/' | b'+' | b'='))
        && !text.as_bytes().windows(2).any(is_found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn plain_texts_are_split_as_others_are(text in "([a-z0-9 _/+=-]{1,3}|cannot|gonna|gotta|gimme){0,8}") {
            prop_assert_eq!(word_tokenize(&text), tokenize(&text));
        }
    }

    fn check(text: &str, expect: &str) {
        assert_eq!(word_tokenize(text).join("|"), expect, "{text:?}");
    }

    #[test]
    fn sentences_end_where_the_model_says() {
        check("it is 5. done", "it|is|5.|done");
        check("it is 5. (done)", "it|is|5|.|(|done|)");
        check("see mr. jones. yes.", "see|mr.|jones|.|yes|.");
        check("(one.) two. \"three.\" four", "(|one|.|)|two|.|``|three|.|''|four");
        check("no. 5! really?! yes", "no|.|5|!|really|?|!|yes");
        check("j. s. bach... and so on. . . . end", "j.|s.|bach|...|and|so|on|.|.|.|.|end");
        check("5. administrators", "5|.|administrators");
        check("", "");
        check(" . ", ".");
    }

    #[test]
    fn words_are_the_treebanks() {
        check(
            "i can't, won't; they'll say it's bob's",
            "i|ca|n't|,|wo|n't|;|they|'ll|say|it|'s|bob|'s",
        );
        check("cannot gonna gimme wanna d'ye 'tis", "can|not|gon|na|gim|me|wan|na|d|'ye|'t|is");
        check("\"quoted\" 'x' ''y'' `z`", "``|quoted|''|'|x|'|``|y|''|`|z|`");
        check("$5.00 5% a:b 1:2 1,000 a,b x--y", "$|5.00|5|%|a|:|b|1:2|1,000|a|,|b|x|--|y");
        check("«a» “b” [c]{d}<e> *f* g@h #1 &", "«|a|»|“|b|”|[|c|]|{|d|}|<|e|>|*|f|*|g|@|h|#|1|&");
    }
}
