//! Addresses of objects.

use std::fmt;

use camino::Utf8Path;
use url::Url;

use crate::Error;

/// Where an object is: `s3://BUCKET/KEY`, `https://HOST/PATH` or `http://HOST/PATH`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address(Url);

/// Whether a path that a user gave is the address of an object.
pub fn is_address(path: &Utf8Path) -> bool {
    ["s3://", "https://", "http://"].iter().any(|scheme| path.as_str().starts_with(scheme))
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// When it is none, or has what would be kept with a run and must not be: a password or a
    /// query, in which signed addresses have their signature.
    pub fn parse(text: &str) -> Result<Address, Error> {
        // The text may have a secret, so the error shows none of it after the host.
        let shown = text.split(['?', '#']).next().unwrap_or_default();
        let shown = shown.rsplit_once('@').map_or(shown, |(_, host)| host).to_owned();
        let wrong = |why| Error::Address { address: shown.clone(), why };
        let url = Url::parse(text).map_err(|_| wrong("it is no URL"))?;
        if !matches!(url.scheme(), "s3" | "https" | "http") {
            return Err(wrong("it begins with none of s3://, https:// and http://"));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(wrong("it names no bucket or host"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(
                "it has a user name or a password, which would be kept with the results",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong(
                "it has a query or a fragment, which would be kept with the results; use s3:// with credentials \
                 in the environment",
            ));
        }
        Ok(Address(url))
    }

    /// Whether it is an object of S3.
    pub(crate) fn is_s3(&self) -> bool {
        self.0.scheme() == "s3"
    }

    /// The bucket or host.
    pub(crate) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Scheme, host and port, as in `https://host:8443`.
    pub(crate) fn origin(&self) -> String {
        self.0[..url::Position::BeforePath].to_owned()
    }

    /// The path without the first slash, percent-encoded.
    pub(crate) fn key(&self) -> &str {
        self.0.path().trim_start_matches('/')
    }

    /// The address of an object whose path is relative to the folder of this one.
    ///
    /// # Errors
    /// When the path leads elsewhere.
    pub fn beside(&self, path: &str) -> Result<Address, Error> {
        let mut url = self.0.clone();
        let outside = || Error::Address { address: path.to_owned(), why: "it is no relative path" };
        {
            let mut parts = url.path_segments_mut().map_err(|()| outside())?;
            parts.pop().extend(path.split('/'));
        }
        Address::parse(url.as_str())
    }

    /// The address whose text is this one's and this end.
    ///
    /// # Errors
    /// When that is none.
    pub fn with_end(&self, end: &str) -> Result<Address, Error> {
        Address::parse(&format!("{}{end}", self.0))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_files_of_servers_have_addresses() {
        for (text, host, key) in [
            ("s3://bucket/a/b.wacz", "bucket", "a/b.wacz"),
            ("https://a.test:8443/x%20y.wacz", "a.test", "x%20y.wacz"),
            ("http://127.0.0.1:1/x", "127.0.0.1", "x"),
            ("s3://bucket", "bucket", ""),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.host(), address.key()), (host, key), "{text}");
            assert!(is_address(Utf8Path::new(text)));
        }
        for path in ["a.wacz", "/s3://a", "./https:/a", "s3:/a", "ftp://a/b"] {
            assert!(!is_address(Utf8Path::new(path)), "{path}");
        }
    }

    #[test]
    fn neighbours_have_addresses() {
        let address = Address::parse("s3://bucket/a/list.json").unwrap();
        assert_eq!(address.beside("x y/b.wacz").unwrap().to_string(), "s3://bucket/a/x%20y/b.wacz");
        assert_eq!(
            address.with_end(".index").unwrap().to_string(),
            "s3://bucket/a/list.json.index"
        );
    }

    #[test]
    fn secrets_are_refused_and_not_shown() {
        for text in [
            "https://me:hush@a.test/x",
            "https://a.test/x?X-Amz-Signature=hush",
            "s3://b/x#hush",
            "s3:///hush/k",
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(!error.contains("hush") || text.starts_with("s3:///"), "{error}");
        }
    }
}
