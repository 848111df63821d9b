//! `--connect-to HOST:PORT:ADDR:PORT`, as in curl.

use std::str::FromStr;

/// Connects to another address for requests to `host:port`. The URL, TLS name and `Host` header
/// stay the same.
///
/// An empty first part matches any host, an empty second part any port. An empty third or fourth
/// part keeps the address or port. IPv6 addresses are in brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectTo {
    /// The requested host, lower-case; `None` matches any.
    pub host: Option<String>,
    /// The requested port; `None` matches any.
    pub port: Option<u16>,
    /// Host name or address to connect to; `None` keeps the requested one.
    pub address: Option<String>,
    /// Port to connect to; `None` keeps the requested one.
    pub to_port: Option<u16>,
}

/// Not of the form `HOST:PORT:ADDR:PORT`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read {text:?} as HOST:PORT:ADDR:PORT: {reason}")]
pub struct BadConnectTo {
    /// The given text.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl ConnectTo {
    /// Whether it applies to this server.
    pub(super) fn applies_to(&self, host: &str, port: u16) -> bool {
        self.host.as_deref().is_none_or(|own| own == host)
            && self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for ConnectTo {
    type Err = BadConnectTo;

    fn from_str(text: &str) -> Result<Self, BadConnectTo> {
        let bad = |reason| BadConnectTo { text: text.to_owned(), reason };
        let (host, rest) = host_part(text).ok_or(bad("the first host is not closed by ':'"))?;
        let (port, rest) = rest.split_once(':').ok_or(bad("there are fewer than four parts"))?;
        let (address, to_port) = host_part(rest).ok_or(bad("there are fewer than four parts"))?;
        if to_port.contains(':') {
            return Err(bad("there are more than four parts; IPv6 addresses go into brackets"));
        }
        let port_of = |text: &str| match text {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| bad("a port is not a number below 65536")),
        };
        let name = |text: &str| (!text.is_empty()).then(|| text.to_ascii_lowercase());
        Ok(Self {
            host: name(host),
            port: port_of(port)?,
            address: name(address),
            to_port: port_of(to_port)?,
        })
    }
}

/// Splits off a host, with or without brackets, and the following colon.
fn host_part(text: &str) -> Option<(&str, &str)> {
    match text.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once("]:"),
        None => text.split_once(':'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        text: &str,
        host: Option<&str>,
        port: Option<u16>,
        address: Option<&str>,
        to_port: Option<u16>,
    ) {
        let expect = ConnectTo {
            host: host.map(Into::into),
            port,
            address: address.map(Into::into),
            to_port,
        };
        assert_eq!(text.parse(), Ok(expect), "{text}");
    }

    #[test]
    fn all_parts_may_be_empty() {
        check(
            "shop.test:443:127.0.0.1:8443",
            Some("shop.test"),
            Some(443),
            Some("127.0.0.1"),
            Some(8443),
        );
        check("SHOP.test:443:[::1]:8443", Some("shop.test"), Some(443), Some("::1"), Some(8443));
        check("[2001:db8::1]:80::81", Some("2001:db8::1"), Some(80), None, Some(81));
        check("::localhost:", None, None, Some("localhost"), None);
        check(":::", None, None, None, None);
    }

    #[test]
    fn what_is_malformed_says_why() {
        for text in [
            "",
            "a",
            "a:1",
            "a:1:b",
            "a:1:b:2:c",
            "a:x:b:2",
            "a:1:b:70000",
            "[::1:80:b:2",
            "a:1:::1:80",
        ] {
            let error = text.parse::<ConnectTo>().unwrap_err();
            assert!(!error.reason.is_empty() && error.text == text);
        }
    }

    #[test]
    fn empty_means_any() {
        let all: ConnectTo = "::localhost:9".parse().unwrap();
        assert!(all.applies_to("shop.test", 443));
        let port: ConnectTo = ":443:localhost:9".parse().unwrap();
        assert!(port.applies_to("shop.test", 443) && !port.applies_to("shop.test", 80));
        let host: ConnectTo = "shop.test::localhost:9".parse().unwrap();
        assert!(host.applies_to("shop.test", 80) && !host.applies_to("forum.test", 80));
    }
}
