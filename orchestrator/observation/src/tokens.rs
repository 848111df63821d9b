//! Token budgets. WebArena's agents see the first `max_obs_length` tokens of an observation, 1,920
//! in the published runs; VisualWebArena's see 3,840 (`CoTPromptConstructor.construct` in
//! `agent/prompts/prompt_constructor.py` of each: encode, cut, decode). Tokens are those of
//! `cl100k_base`, which tiktoken uses for the models of those runs. WebCanvas and TurkingBench cut
//! nothing.
//!
//! Text that looks like a special token of the vocabulary is plain text here. tiktoken refuses to
//! encode it, and the published agents end there.

use tiktoken_rs::cl100k_base_singleton;

/// The number of tokens in a text.
pub fn count_tokens(text: &str) -> usize {
    cl100k_base_singleton().encode_ordinary(text).len()
}

/// The first tokens of a text. A character that is cut in two becomes U+FFFD, as in `decode`.
pub fn truncate(text: &str, tokens: usize) -> String {
    // No token is shorter than a byte.
    if text.len() <= tokens {
        return text.to_owned();
    }
    let vocabulary = cl100k_base_singleton();
    let mut encoded = vocabulary.encode_ordinary(text);
    if encoded.len() <= tokens {
        return text.to_owned();
    }
    encoded.truncate(tokens);
    let bytes = vocabulary.decode_bytes(&encoded).expect("the vocabulary has what it gave");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tokens_are_counted_as_tiktoken_does() {
        // The values of OpenAI's cookbook.
        assert_eq!(count_tokens("antidisestablishmentarianism"), 6);
        assert_eq!(count_tokens("2 + 2 = 4"), 7);
        assert_eq!(count_tokens("お誕生日おめでとう"), 9);
        assert!(count_tokens("<|endoftext|>") > 1);
        assert_eq!(truncate("tiktoken is great!", 3), "tiktoken");
        assert_eq!(truncate("tiktoken is great!", 6), "tiktoken is great!");
        assert_eq!(truncate("a 🦀", 2), "a \u{fffd}");
        assert_eq!(truncate("", 0), "");
        assert_eq!(truncate("word", 0), "");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_cut_is_a_beginning_within_the_budget(text in "(\\PC| |\n){0,60}", tokens in 0..40_usize) {
            let cut = truncate(&text, tokens);
            let whole = cut.trim_end_matches(char::REPLACEMENT_CHARACTER);
            prop_assert!(text.starts_with(whole));
            prop_assert!(count_tokens(&text) > tokens || cut == text);
        }
    }
}
