//! Header fields in their original order and case.

use serde::{Deserialize, Serialize};

/// An ordered list of header fields. Names keep their case and are compared case-insensitively.
/// Values are bytes, because servers do not always send text. Repeated fields stay separate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headers(pub Vec<(String, Vec<u8>)>);

impl Headers {
    /// An empty list.
    pub fn new() -> Headers {
        Headers::default()
    }

    /// Appends a field.
    pub fn push(&mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) {
        self.0.push((name.into(), value.into()));
    }

    /// The first value of `name`.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.get_all(name).next()
    }

    /// The first value of `name`, if it is UTF-8.
    pub fn get_str(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }

    /// All values of `name`, in order.
    pub fn get_all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.0
            .iter()
            .filter(move |(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// Whether there is a field of this name.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Replaces all fields of this name by one, at the position of the first, or appends it.
    pub fn set(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        let mut value = Some(value.into());
        self.0.retain_mut(|(n, v)| {
            if !n.eq_ignore_ascii_case(name) {
                return true;
            }
            match value.take() {
                Some(new) => {
                    *v = new;
                    true
                }
                None => false,
            }
        });
        if let Some(value) = value {
            self.push(name, value);
        }
    }

    /// Removes all fields of this name and returns their number.
    pub fn remove(&mut self, name: &str) -> usize {
        let before = self.0.len();
        self.0.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        before - self.0.len()
    }

    /// All fields, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<Vec<u8>>> FromIterator<(N, V)> for Headers {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(fields: T) -> Headers {
        Headers(fields.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_case_and_order_is_kept() {
        let mut headers: Headers =
            [("Set-Cookie", "a=1"), ("Date", "x"), ("set-cookie", "b=2")].into_iter().collect();
        assert_eq!(headers.get_all("SET-COOKIE").collect::<Vec<_>>(), [b"a=1", b"b=2"]);
        headers.set("set-cookie", "c=3");
        assert_eq!(headers.iter().map(|(n, _)| n).collect::<Vec<_>>(), ["Set-Cookie", "Date"]);
        assert_eq!(headers.remove("date"), 1);
        assert_eq!(headers.len(), 1);
    }
}
