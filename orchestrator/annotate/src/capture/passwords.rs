//! Passwords that were typed, in the memory of this process and nowhere else: a form may send one
//! in its address, from where it would come into steps and pages.
//!
//! What follows a `=` is taken for the value of a query. It is decoded, also more than once, as an
//! address within an address has it. A password that is long enough to be no other word is found
//! anywhere.

use std::fmt;

use browser::Password;
use percent_encoding::{percent_decode_str, utf8_percent_encode};
use snapshots::ops::URI_COMPONENT;
use url::form_urlencoded;

use super::SECRET;

/// The characters that end the value of a query, in an address and in HTML.
const ENDS: &[char] = &['&', '=', '#', ';', '"', '\'', '<', '>', '\\', ' ', '\t', '\n', '\r'];
/// How often a value is decoded.
const DEPTH: usize = 3;
/// From this length on, in characters, a password is found anywhere.
const LONG: usize = 8;
/// Passwords that were typed.
#[derive(Default)]
pub(crate) struct Passwords {
    typed: Vec<String>,
    /// How they are written, the longest first.
    spellings: Vec<String>,
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Passwords").field("count", &self.typed.len()).finish_non_exhaustive()
    }
}

impl Passwords {
    /// From now on these are hidden, too.
    pub(crate) fn add(&mut self, typed: &[Password]) {
        for password in typed {
            let text = password.text();
            if text.is_empty() || self.typed.iter().any(|known| known == text) {
                continue;
            }
            self.typed.push(text.to_owned());
            let form: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
            let component = utf8_percent_encode(text, URI_COMPONENT).to_string();
            self.spellings.extend([form, component]);
            // Half decoded, a space is still a plus sign.
            for plain in [text.to_owned(), text.replace(' ', "+")] {
                let html = plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                let attribute = html.replace('"', "&quot;").replace('\u{a0}', "&nbsp;");
                self.spellings.extend([plain, html, attribute]);
            }
        }
        self.spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        self.spellings.dedup();
    }

    /// The text with something else in the place of passwords.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut hidden = self.hide_values(text, DEPTH);
        for spelling in self.spellings.iter().filter(|spelling| spelling.chars().count() >= LONG) {
            hidden = hidden.replace(spelling, SECRET);
        }
        hidden
    }

    /// The same for what is in a field: it may be a password that was typed once more.
    pub(crate) fn hide_value(&self, value: &str) -> String {
        if self.typed.iter().any(|typed| typed == value) {
            SECRET.to_owned()
        } else {
            self.hide(value)
        }
    }

    /// The text with something else in the place of passwords that are values of a query.
    pub(crate) fn hide_in_queries(&self, text: &str) -> String {
        self.hide_values(text, DEPTH)
    }

    fn hide_values(&self, text: &str, depth: usize) -> String {
        if self.typed.is_empty() {
            return text.to_owned();
        }
        let mut hidden = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('=') {
            let (before, value) = rest.split_at(at + 1);
            hidden.push_str(before);
            rest = match self.length(value, depth) {
                Some(length) => {
                    hidden.push_str(SECRET);
                    &value[length..]
                }
                None => value,
            };
        }
        hidden + rest
    }

    /// How much of a text that follows a `=` is a value with a password.
    fn length(&self, text: &str, depth: usize) -> Option<usize> {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with(ENDS);
        let is_spelled =
            |spelling: &&String| text.strip_prefix(spelling.as_str()).is_some_and(ends);
        if let Some(spelling) = self.spellings.iter().find(is_spelled) {
            return Some(spelling.len());
        }
        // An apostrophe ends some values and is in others.
        let ends = [text.find(|c| ENDS.contains(&c) && c != '\''), text.find(ENDS)];
        ends.map(|end| end.unwrap_or(text.len()))
            .into_iter()
            .find(|end| self.is_in(&text[..*end], depth))
    }

    /// Whether a value is a password, or an address that has one in its query.
    fn is_in(&self, value: &str, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let mut forms = vec![decoded(value)];
        if value.contains('+') {
            forms.push(decoded(&value.replace('+', " ")));
        }
        forms.into_iter().any(|form| {
            let is_encoded = form != value;
            self.typed.contains(&form)
                || (is_encoded
                    && (self.hide_values(&form, depth) != form || self.is_in(&form, depth)))
        })
    }
}

/// Without its percent signs, in UTF-8 or else in Latin-1.
fn decoded(value: &str) -> String {
    let bytes: Vec<u8> = percent_decode_str(value).collect();
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passwords(typed: &[&str]) -> Passwords {
        let mut passwords = Passwords::default();
        passwords.add(&typed.iter().map(|text| Password::from(*text)).collect::<Vec<_>>());
        passwords
    }

    #[test]
    fn a_password_is_hidden_in_every_encoding_of_a_query() {
        let typed = "p&s é'";
        let passwords = passwords(&[typed]);
        for (text, expect) in [
            ("https://a.test/?pw=p%26s+%C3%A9%27&x=1", "https://a.test/?pw=PASSWORD&x=1"),
            ("https://a.test/?pw=p%26s%20%c3%a9'#top", "https://a.test/?pw=PASSWORD#top"),
            ("https://a.test/?pw=%70%26s%20%E9%27", "https://a.test/?pw=PASSWORD"),
            ("https://a.test/#pw=p&s é'", "https://a.test/#pw=PASSWORD"),
            ("/go?to=%2F%3Fpw%3Dp%2526s%2B%25C3%25A9%2527&x=1", "/go?to=PASSWORD&x=1"),
            ("<a href=\"/?pw=p%26s+%C3%A9%27&amp;x=1\">", "<a href=\"/?pw=PASSWORD&amp;x=1\">"),
            ("<p>/?pw=p&amp;s é'</p>", "<p>/?pw=PASSWORD</p>"),
            ("https://a.test/p?s=p", "https://a.test/p?s=p"),
        ] {
            assert_eq!(passwords.hide(text), expect);
            assert_eq!(passwords.hide_in_queries(text), expect);
        }
        assert!(!format!("{passwords:?}").contains(typed));
    }

    #[test]
    fn a_word_is_a_password_in_queries_only_and_a_long_one_anywhere() {
        let passwords = passwords(&["", "admin", "correct horse"]);
        let text = "https://a.test/admin?next=%2Fadmin&user=admin2&pw=admin";
        assert_eq!(
            passwords.hide(text),
            "https://a.test/admin?next=%2Fadmin&user=admin2&pw=PASSWORD"
        );
        assert_eq!(
            passwords.hide_value("admin"),
            "PASSWORD",
            "typed once more, into another field"
        );
        assert_eq!(passwords.hide_value("admin2"), "admin2");
        assert_eq!(passwords.hide("/users/correct%20horse"), "/users/PASSWORD");
        assert_eq!(passwords.hide_in_queries("say correct horse"), "say correct horse");
        let deep = "=%25252525252B%2525252B%25252B".repeat(200);
        assert_eq!(passwords.hide(&deep), deep);
    }

    #[test]
    fn a_password_is_hidden_in_an_attribute_of_html() {
        let passwords = passwords(&["hunter\"2222&3"]);
        let copied = r#"<input type=hidden value="hunter&quot;2222&amp;3">"#;
        assert_eq!(passwords.hide(copied), r#"<input type=hidden value="PASSWORD">"#);
    }
}
