//! The ports that no page may use: the "bad ports" of the Fetch standard, section 2.9.

use url::Url;

/// A request for one of them fails in the browser, and reaches nobody.
pub(crate) const BAD_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// Whether a URL leads to one of them.
pub(crate) fn has_bad_port(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.port().is_some_and(|port| BAD_PORTS.contains(&port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_bad_by_its_number_alone() {
        for (url, is_bad) in [
            ("wss://a.test:9/", true),
            ("ws://[::1]:6667/x", true),
            ("wss://a.test:90/", false),
            ("wss://a.test/9", false),
            ("nothing", false),
        ] {
            assert_eq!(has_bad_port(url), is_bad, "{url}");
        }
    }
}
