//! The address guard: a recording may reach only the public internet.
//!
//! A recorded page can request any name, and a name can resolve to any address. The guard checks
//! the resolved address, and the connection uses that same address, so that a second resolution
//! cannot change it (DNS rebinding).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why this address is forbidden, if it is.
pub fn forbidden(ip: IpAddr) -> Option<&'static str> {
    match ip {
        IpAddr::V4(ip) => forbidden_v4(ip),
        IpAddr::V6(ip) => forbidden_v6(ip),
    }
}

fn forbidden_v4(ip: Ipv4Addr) -> Option<&'static str> {
    let reason = match ip.octets() {
        [169, 254, 169, 254] => "cloud metadata",
        [0, ..] => "this network",
        [127, ..] => "loopback",
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => "private",
        [100, 64..=127, ..] => "carrier-grade NAT",
        [169, 254, ..] => "link-local",
        [192, 0, 0, _] | [192, 88, 99, _] => "reserved",
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => "documentation",
        [198, 18..=19, ..] => "benchmarking",
        [224..=239, ..] => "multicast",
        [240..=255, ..] => "reserved",
        _ => return None,
    };
    Some(reason)
}

fn forbidden_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        forbidden_v4(Ipv4Addr::new(a, b, c, d))
    };
    let reason = match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => "unspecified",
        [0, 0, 0, 0, 0, 0, 0, 1] => "loopback",
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254] => "cloud metadata",
        // Embedded IPv4: compatible, mapped, NAT64, 6to4. The inner address is checked.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            return v4(high, low);
        }
        [0x2002, high, low, ..] => return v4(high, low),
        [0x64, 0xff9b, 1, ..] => "private NAT64",
        [0x100, 0, 0, 0, ..] => "discard",
        [0x2001, 0, ..] => "Teredo",
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => "documentation",
        [0xfc00..=0xfdff, ..] => "unique local",
        [0xfe80..=0xfebf, ..] => "link-local",
        [0xfec0..=0xfeff, ..] => "site-local",
        [0xff00..=0xffff, ..] => "multicast",
        _ => return None,
    };
    Some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_internet_is_free() {
        for ip in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "64:ff9b::101:101",
            "2002:101:101::",
        ] {
            assert_eq!(forbidden(ip.parse().unwrap()), None, "{ip}");
        }
    }

    #[test]
    fn everything_else_is_named() {
        for (ip, reason) in [
            ("127.0.0.1", "loopback"),
            ("127.255.0.1", "loopback"),
            ("0.0.0.0", "this network"),
            ("10.0.0.1", "private"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.168.1.1", "private"),
            ("100.64.0.1", "carrier-grade NAT"),
            ("169.254.1.1", "link-local"),
            ("169.254.169.254", "cloud metadata"),
            ("224.0.0.1", "multicast"),
            ("255.255.255.255", "reserved"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::127.0.0.1", "loopback"),
            ("::ffff:169.254.169.254", "cloud metadata"),
            ("64:ff9b::a00:1", "private"),
            ("2002:7f00:1::", "loopback"),
            ("fd00::1", "unique local"),
            ("fd00:ec2::254", "cloud metadata"),
            ("fe80::1", "link-local"),
            ("ff02::1", "multicast"),
        ] {
            assert_eq!(forbidden(ip.parse().unwrap()), Some(reason), "{ip}");
        }
    }
}
