//! Sessions as signed cookies: a log-in needs no row in the database and survives a reset. Form
//! tokens are signatures too, bound to the visitor.

use ring::hmac;

/// The name of the cookie.
pub(crate) const COOKIE: &str = "session";

/// The signing key of a site. Instances with the same seed accept each other's log-ins.
pub(crate) struct Keys(hmac::Key);

impl Keys {
    pub(crate) fn new(site: &str, seed: u64) -> Self {
        let secret = format!("sandbox embedded {site} {seed}");
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }

    fn sign(&self, purpose: &str, text: &str) -> String {
        let tag = hmac::sign(&self.0, format!("{purpose}\0{text}").as_bytes());
        hex::encode(&tag.as_ref()[..20])
    }

    /// The cookie's value for a visitor.
    pub(crate) fn cookie(&self, name: &str) -> String {
        format!("{name}.{}", self.sign("session", name))
    }

    /// The visitor in the request's cookies, if the signature is valid.
    pub(crate) fn visitor(&self, cookies: &str) -> Option<String> {
        let value = cookies
            .split(';')
            .find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))?;
        let (name, signature) = value.rsplit_once('.')?;
        (!name.is_empty() && self.sign("session", name) == signature).then(|| name.to_owned())
    }

    /// The token in a visitor's forms. For visitors without log-in the name is empty.
    pub(crate) fn token(&self, name: &str) -> String {
        self.sign("form", name)
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn a_cookie_is_worth_something_only_with_its_signature() {
        let keys = Keys::new("forum", 1);
        let value = keys.cookie("ada");
        assert_eq!(keys.visitor(&format!("a=b; session={value}; c=d")), Some("ada".to_owned()));
        assert_eq!(keys.visitor(&format!("session={}", value.replace("ada", "bob"))), None);
        assert_eq!(keys.visitor(&format!("session={}", Keys::new("forum", 2).cookie("ada"))), None);
        for broken in
            ["", "session", "session=", "session=.", "session=ada", "session=ada.", "session=."]
        {
            assert_eq!(keys.visitor(broken), None, "{broken}");
        }
    }
}
