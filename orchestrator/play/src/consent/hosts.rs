//! Describes the server of an address in words.

use std::net::IpAddr;

use url::{Host, Url};

/// Returns the origin of an address, with a note if it is no server of the public web.
pub(super) fn described(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return address.to_owned() };
    let origin = match (url.host(), url.port()) {
        (Some(host), Some(port)) => format!("{}://{host}:{port}", url.scheme()),
        (Some(host), None) => format!("{}://{host}", url.scheme()),
        (None, _) => address.to_owned(),
    };
    let note = match url.host() {
        Some(Host::Domain(name)) if is_local(name) => Some("this machine"),
        Some(Host::Domain("metadata.google.internal")) => Some(METADATA),
        Some(Host::Ipv4(address)) => note_of(address.into()),
        Some(Host::Ipv6(address)) => {
            // An IPv6 address may hold an IPv4 one.
            note_of(address.to_ipv4_mapped().map_or(address.into(), Into::into))
        }
        Some(Host::Domain(_)) | None => None,
    };
    note.map_or(origin.clone(), |note| format!("{origin}, which is {note}"))
}

const METADATA: &str = "where clouds keep the credentials of this machine";

fn is_local(name: &str) -> bool {
    let name = name.trim_end_matches('.');
    name == "localhost" || name.ends_with(".localhost")
}

fn note_of(address: IpAddr) -> Option<&'static str> {
    match address {
        _ if address.is_loopback() || address.is_unspecified() => Some("this machine"),
        IpAddr::V4(address) if address.is_link_local() => Some(METADATA),
        IpAddr::V4(address) if address.is_private() => Some("in your own network"),
        IpAddr::V6(address) if address.is_unicast_link_local() || address.is_unique_local() => {
            // Amazon's is among the unique local addresses.
            Some(if address.segments()[..2] == [0xfd00, 0xec2] {
                METADATA
            } else {
                "in your own network"
            })
        }
        IpAddr::V4(_) | IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::described;

    #[test]
    fn servers_that_are_not_of_the_public_web_are_named_as_such() {
        for (address, expect) in [
            ("https://shop.example/a?b", "https://shop.example"),
            ("http://shop.example:81/", "http://shop.example:81"),
            ("http://127.0.0.1:8000/", "http://127.0.0.1:8000, which is this machine"),
            ("http://127.1/", "http://127.0.0.1, which is this machine"),
            ("http://2130706433/", "http://127.0.0.1, which is this machine"),
            ("http://0.0.0.0:1/", "http://0.0.0.0:1, which is this machine"),
            ("http://[::1]/", "http://[::1], which is this machine"),
            ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1], which is this machine"),
            ("http://localhost:3/", "http://localhost:3, which is this machine"),
            ("http://a.localhost./", "http://a.localhost., which is this machine"),
            ("http://192.168.1.1/", "http://192.168.1.1, which is in your own network"),
            ("http://10.1.1.1/", "http://10.1.1.1, which is in your own network"),
            (
                "http://169.254.169.254/latest",
                "http://169.254.169.254, which is where clouds keep the credentials of this machine",
            ),
            (
                "http://[fd00:ec2::254]/",
                "http://[fd00:ec2::254], which is where clouds keep the credentials of this machine",
            ),
            ("http://u:p@evil.test/x", "http://evil.test"),
            ("s3://bucket/x", "s3://bucket"),
        ] {
            assert_eq!(described(address), expect);
        }
    }
}
