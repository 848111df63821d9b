//! Tokens in the forms of a site, and whether its pages may be asked for again while a form is
//! open.
//!
//! Some sites keep the token of a form in the session, and make another one with each page: then
//! the form that is open could not be sent any more. Others are safe, and show it: the token stays
//! the same, it is in a cookie as well, or the session itself is in a cookie, which the browser
//! keeps as it is.

use std::collections::HashMap;

/// The fewest characters of a cookie that may hold a whole session, not only its name.
const SESSION: usize = 80;
/// The most tokens that are known.
const MOST: usize = 64;

/// The tokens of a site.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// The last value of each, how often it was there in this session, and whether it was another
    /// one before.
    fields: HashMap<String, (String, u32, bool)>,
    /// Cookies that were set: the last value, and whether it has been another one before.
    cookies: HashMap<String, (String, bool)>,
    is_unknown: bool,
}

impl Tokens {
    /// Notes that there is a page of which the fields are not known.
    pub(super) fn note_unknown(&mut self) {
        self.is_unknown = true;
    }

    /// Notes the hidden fields of a page.
    pub(super) fn note_fields(&mut self, fields: Vec<(String, String)>) {
        for (name, value) in fields.into_iter().filter(|(name, _)| is_token(name)) {
            if self.fields.len() >= MOST && !self.fields.contains_key(&name) {
                return;
            }
            let (known, times, differs) =
                self.fields.entry(name).or_insert_with(|| (value.clone(), 0, false));
            *times += 1;
            *differs |= *times > 1 && *known != value;
            *known = value;
        }
    }

    /// Notes a log-in or a log-out: another session has other tokens.
    pub(super) fn begin_session(&mut self) {
        self.fields.values_mut().for_each(|(_, times, differs)| (*times, *differs) = (0, false));
    }

    /// Notes a cookie that a response sets.
    pub(super) fn note_cookie(&mut self, name: &str, value: &str) {
        if self.cookies.len() >= MOST && !self.cookies.contains_key(name) {
            return;
        }
        let (known, differs) =
            self.cookies.entry(name.to_owned()).or_insert_with(|| (value.to_owned(), false));
        *differs |= known != value;
        value.clone_into(known);
    }

    /// Whether pages may be asked for again.
    pub(super) fn allow(&self) -> bool {
        let is_session = |name: &str, value: &str| {
            value.len() >= SESSION && name.to_ascii_lowercase().contains("sess")
        };
        let is_kept_in_cookie = || {
            let mut cookies = self.cookies.iter();
            cookies.any(|(name, (value, differs))| {
                is_token(name) || *differs && is_session(name, value)
            })
        };
        let seen = || self.fields.values().filter(|(_, times, _)| *times > 0);
        let stay =
            || seen().count() > 0 && seen().all(|(_, times, differs)| *times > 1 && !differs);
        !self.is_unknown && (self.fields.is_empty() || stay() || is_kept_in_cookie())
    }
}

/// Whether a field or a cookie of this name holds a token.
fn is_token(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authenticity", "csrf", "form_key", "formkey", "nonce", "token", "viewstate", "xsrf"]
        .iter()
        .any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pages: &[&str], cookies: &[(&str, &str)]) -> bool {
        let mut tokens = Tokens::default();
        cookies.iter().for_each(|(name, value)| tokens.note_cookie(name, value));
        pages
            .iter()
            .for_each(|value| tokens.note_fields(vec![("_token".to_owned(), (*value).to_owned())]));
        tokens.allow()
    }

    #[test]
    fn pages_are_asked_for_where_no_token_is_spent() {
        assert!(of(&[], &[("session", "1")]), "there are none");
        assert!(!of(&["a"], &[("session", "1")]), "it is not known whether it stays");
        assert!(of(&["a", "a"], &[("session", "1")]));
        let mut tokens = Tokens::default();
        let mut note = |begins: bool, values: &[&str]| {
            if begins {
                tokens.begin_session();
            }
            values.iter().for_each(|value| {
                tokens.note_fields(vec![("_token".to_owned(), (*value).to_owned())])
            });
            tokens.allow()
        };
        assert!(note(false, &["a", "a"]));
        assert!(!note(true, &["b"]), "another session");
        assert!(note(false, &["b"]), "its token stays, too");
        assert!(!note(false, &["c"]));
        assert!(of(&["a", "b"], &[("csrftoken", "1")]), "it is compared with the cookie");
        let [one, other] = ["1", "2"].map(|text| text.repeat(SESSION));
        assert!(
            of(&["a", "b"], &[("a_session", &one), ("a_session", &other)]),
            "the session is in the cookie"
        );
        assert!(
            !of(&["a", "b"], &[("AWSALB", &one), ("AWSALB", &other)]),
            "that of a load balancer is none"
        );
        assert!(
            !of(&["a", "b"], &[("session", "1"), ("session", "2")]),
            "a name of a session that changes"
        );
        let mut others = Tokens::default();
        others.note_fields(vec![("quantity".to_owned(), "1".to_owned())]);
        assert!(others.allow());
    }
}
