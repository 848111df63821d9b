//! The turns of a site: its writes, and where visits of it may begin. A table of the index holds
//! them in recorded order, under the key of the site.
//!
//! A site is a registrable domain with all hosts below it: they share cookies.

use std::net::IpAddr;

use super::paths;
use super::row::{ENTRY, Entry};
use crate::matching::Key;

/// The most turns of a site that count, in all archives together. Of a site with more, no state is
/// known.
pub(super) const MOST: usize = 1 << 13;

/// What a capture is to the state of its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// It may change what the site shows.
    Write = 1,
    /// A page was asked for without cookies. If there were some before, another visit begins.
    Start = 2,
    /// The messages of a WebSocket connection, which may change what the site shows.
    Socket = 3,
    /// It is a `GET` that may do something.
    Action = 4,
}

impl Turn {
    pub(super) fn of(entry: &Entry) -> Option<Turn> {
        [Turn::Write, Turn::Start, Turn::Socket, Turn::Action]
            .into_iter()
            .find(|turn| *turn as u16 == entry.status)
    }
}

/// The site of a host, as for a browser: a name directly below a public suffix, such as `shop.de`
/// or `shop.co.uk`, or an address.
pub fn site_of(host: &str) -> String {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    match host.parse::<IpAddr>() {
        Ok(_) => host,
        Err(_) => psl::domain_str(&host).map_or(host.clone(), str::to_owned),
    }
}

/// The key of the site of a URL.
pub(super) fn site_key(url: &str) -> Key {
    key_of_site(&site_of(&paths::host_of(url).unwrap_or_default()))
}

/// The key of a site.
pub(super) fn key_of_site(site: &str) -> Key {
    Key::of("site", &[site.as_bytes()])
}

/// Leaves out what may do something, and the starts that follow nothing else.
pub(super) fn leave_out_actions(turns: &mut Vec<Entry>) {
    let mut is_after_write = false;
    turns.retain(|entry| match Turn::of(entry) {
        Some(Turn::Action) => false,
        Some(Turn::Start) => std::mem::take(&mut is_after_write),
        _ => {
            is_after_write = true;
            true
        }
    });
}

/// Leaves out the starts before which nothing was written or sent: they begin nothing.
#[derive(Debug, Default)]
pub(super) struct Condensed {
    site: [u8; 16],
    is_after_write: bool,
}

impl Condensed {
    /// Whether a row stays. Rows come in their order.
    pub(super) fn keeps(&mut self, row: &[u8]) -> bool {
        let entry = row.first_chunk::<ENTRY>().and_then(Entry::from_bytes);
        let Some(entry) = entry else { return false };
        if self.site != entry.key.0 {
            (self.site, self.is_after_write) = (entry.key.0, false);
        }
        let was_after_write = self.is_after_write;
        self.is_after_write = Turn::of(&entry) != Some(Turn::Start);
        self.is_after_write || was_after_write
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_share_cookies_are_one_site() {
        let sites = [
            "shop.test",
            "www.shop.test",
            "a.b.shop.co.uk",
            "SHOP.co.uk",
            "127.0.0.1",
            "[::1]",
            "x",
        ];
        let expect =
            ["shop.test", "shop.test", "shop.co.uk", "shop.co.uk", "127.0.0.1", "::1", "x"];
        assert_eq!(sites.map(site_of), expect);
        assert_eq!(site_key("https://www.shop.test:8443/a"), site_key("http://api.shop.test/b"));
        assert_ne!(site_key("https://shop.test/"), site_key("https://shop.example/"));
    }

    #[test]
    fn starts_stay_behind_writes_alone() {
        let mut condensed = Condensed::default();
        let mut keeps = |site: u8, turn: Turn| {
            let entry =
                Entry { key: Key([site; 16]), at_millis: 1, capture: 1, status: turn as u16 };
            condensed.keeps(&entry.to_bytes())
        };
        use Turn::{Socket, Start, Write};
        let kept = [Start, Start, Write, Start, Start, Write, Write].map(|turn| keeps(1, turn));
        assert_eq!(kept, [false, false, true, true, false, true, true]);
        assert!(!keeps(2, Start), "each site has its own");
        assert_eq!([Socket, Start, Start].map(|turn| keeps(3, turn)), [true, true, false]);
    }
}
