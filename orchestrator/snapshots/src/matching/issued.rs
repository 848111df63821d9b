//! Tokens that pages issue: hidden fields that have another value each time the page is made.
//!
//! A form sends such a value back, under any name. Two pages of one address show it: each has one
//! value under this name, in the form of a token, and they are not the same.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

/// The fewest and the most characters of such a token.
const LEAST: usize = 16;
const MOST: usize = 128;
/// The most tokens of one page.
const MOST_TOKENS: usize = 64;

/// The tokens that one capture of a page issues.
#[derive(Clone, Debug, Default)]
pub struct IssuedTokens {
    /// The address of the page.
    page: String,
    values: BTreeMap<String, String>,
}

impl IssuedTokens {
    /// The tokens in the hidden fields of a page, each a name and a value.
    pub fn of(url: &str, fields: Vec<(String, String)>) -> IssuedTokens {
        let mut values: BTreeMap<String, Option<String>> = BTreeMap::new();
        // What a server keeps of a page, such as `__VIEWSTATE`, is no chance.
        for (name, value) in fields.into_iter().filter(|(name, _)| !name.starts_with("__")) {
            let known = values.entry(name).or_insert_with(|| Some(value.clone()));
            if known.as_ref() != Some(&value) {
                *known = None;
            }
        }
        let tokens = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let page = url.split('#').next().unwrap_or_default().to_owned();
        let tokens = tokens.filter(|(_, value)| is_token(value)).take(MOST_TOKENS);
        IssuedTokens { page, values: tokens.collect() }
    }

    /// Whether these two values are the token of one name, one of this page and one of another
    /// capture of it.
    pub fn agree(&self, other: &IssuedTokens, value: &str, of_other: &str) -> bool {
        let [value, of_other] =
            [value, of_other].map(|text| percent_decode_str(text).decode_utf8_lossy());
        self.page == other.page
            && self.values.iter().any(|(name, own)| {
                *own == value && other.values.get(name).is_some_and(|theirs| *theirs == of_other)
            })
    }
}

/// Whether a value that is sent may be such a token.
pub fn may_be_token(value: &str) -> bool {
    is_token(&percent_decode_str(value).decode_utf8_lossy())
}

fn is_token(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    (LEAST..=MOST).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+/=:~".contains(&byte))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        // An address is what is meant.
        && !value.starts_with('/')
        && !value.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str, fields: &[(&str, &str)]) -> IssuedTokens {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        IssuedTokens::of(url, fields.collect())
    }

    #[test]
    fn a_token_is_one_of_the_same_field_of_another_capture_of_the_page() {
        const PAGE: &str = "https://a.test/login?next=1";
        let (one, other) = ("1b55234edda2c006", "f3a7eb9e158718ad");
        let agree = |fields: [&[(&str, &str)]; 2]| {
            page(PAGE, fields[0]).agree(&page(PAGE, fields[1]), one, other)
        };
        assert!(agree([&[("next", one)], &[("next", other)]]), "whatever its name is");
        assert!(agree([&[("next", one), ("next", one)], &[("next", other)]]), "in two forms");
        assert!(!agree([&[("next", one)], &[("back", other)]]));
        assert!(
            !agree([&[("item", one), ("item", other)], &[("item", other)]]),
            "one of several things"
        );
        assert!(!agree([&[("__STATE", one)], &[("__STATE", other)]]));
        assert!(!agree([&[("next", other)], &[("next", one)]]));
        let elsewhere = page("https://a.test/login?next=2", &[("next", other)]);
        assert!(!page(PAGE, &[("next", one)]).agree(&elsewhere, one, other));
        let encoded =
            [page(PAGE, &[("t", "a+b/c1234567890=")]), page(PAGE, &[("t", "d+e/f1234567890=")])];
        assert!(encoded[0].agree(&encoded[1], "a%2Bb%2Fc1234567890%3D", "d%2Be%2Ff1234567890%3D"));
        for value in [
            "868",
            "/f/books/4349/a1",
            "https://a.test/1234",
            "a name of something 1",
            "winter-sale-boots",
        ] {
            assert!(!may_be_token(value), "{value}");
        }
    }
}
