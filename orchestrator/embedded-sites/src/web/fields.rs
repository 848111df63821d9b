//! Named text values of a form, a query string or a path.

use url::form_urlencoded;

/// Values in their order. A name may occur more than once.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses `a=1&b=2`, as browsers encode it.
    pub(crate) fn parse(encoded: &[u8]) -> Self {
        Self(form_urlencoded::parse(encoded).into_owned().collect())
    }

    pub(crate) fn of(pairs: impl Iterator<Item = (String, String)>) -> Self {
        Self(pairs.collect())
    }

    /// The first value of `name`, or an empty text.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// The first value of `name`, trimmed. `None` if it is empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        Some(self.text(name).trim()).filter(|text| !text.is_empty())
    }

    /// All names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }
}
