//! Allocates IP addresses to containers.
//!
//! A container engine reuses the address of a removed container for the next one. A client that
//! still uses the old address then reaches another application. To prevent this, a site group
//! chooses the addresses itself, one after the other, from all addresses of its network. An address
//! is reused only after all others have been used, and only when nobody holds the lease of the
//! instance that had it.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::str::FromStr;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// A range of addresses, such as `172.20.0.0/16`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subnet {
    first: u32,
    /// A power of two.
    size: u32,
}

impl Subnet {
    /// The range of `size` addresses from this one on; `size` is a power of two.
    pub(crate) fn new(first: Ipv4Addr, size: u32) -> Subnet {
        Subnet { first: u32::from(first) & !(size - 1), size }
    }

    /// Returns the address at a position, counted from the first.
    pub(crate) fn at(self, place: u32) -> Ipv4Addr {
        (self.first + place).into()
    }

    pub(crate) fn size(self) -> u32 {
        self.size
    }

    /// Returns the last `size` addresses; `size` is a power of two.
    pub(crate) fn last(self, size: u32) -> Subnet {
        let size = size.min(self.size);
        Subnet { first: self.first + (self.size - size), size }
    }

    /// Returns the first `size` addresses; `size` is a power of two.
    pub(crate) fn head(self, size: u32) -> Subnet {
        Subnet { first: self.first, size: size.min(self.size) }
    }

    /// Returns a pool of the addresses from position `from` up to position `to`.
    pub(crate) fn between(self, from: u32, to: u32) -> Addresses {
        let (first, end) = (self.first + from.min(self.size), self.first + to.min(self.size));
        Addresses(Arc::new(Mutex::new(Range { first, end, next: first, held: BTreeMap::new() })))
    }
}

impl std::fmt::Display for Subnet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.at(0), 32 - self.size.trailing_zeros())
    }
}

impl FromStr for Subnet {
    type Err = ();

    fn from_str(text: &str) -> Result<Subnet, ()> {
        let (first, bits) = text.split_once('/').ok_or(())?;
        let (first, bits): (Ipv4Addr, u32) =
            (first.parse().map_err(drop)?, bits.parse().map_err(drop)?);
        let size = 1_u32.checked_shl(32_u32.checked_sub(bits).ok_or(())?).ok_or(())?;
        Ok(Subnet::new(first, size))
    }
}

/// A pool of addresses to allocate. Clones are handles on the same pool.
#[derive(Debug, Clone)]
pub(crate) struct Addresses(Arc<Mutex<Range>>);

#[derive(Debug)]
struct Range {
    first: u32,
    end: u32,
    /// The start of the next search: after the last allocated address.
    next: u32,
    /// The allocated ranges: first address and size.
    held: BTreeMap<u32, u32>,
}

/// A range of addresses that stays allocated until this is dropped.
#[derive(Debug)]
pub(crate) struct AddressLease {
    pub(crate) subnet: Subnet,
    of: Addresses,
}

impl Addresses {
    /// Allocates `size` consecutive addresses; `size` is a power of two. Returns `None` when no
    /// free range is large enough.
    pub(crate) fn take(&self, size: u32) -> Option<AddressLease> {
        let mut range = self.lock();
        let (first, next, end) = (range.first, range.next, range.end);
        let found = range.free(next, end, size).or_else(|| range.free(first, end, size))?;
        range.held.insert(found, size);
        range.next = found + size;
        drop(range);
        Some(AddressLease { subnet: Subnet { first: found, size }, of: self.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Range> {
        self.0.lock()
    }
}

impl Range {
    /// Returns the first position between `from` and `to` where `size` addresses are free.
    fn free(&self, from: u32, to: u32, size: u32) -> Option<u32> {
        let mut place = from.checked_next_multiple_of(size)?;
        while place.checked_add(size)? <= to {
            // The allocated ranges are sorted and do not overlap. So only the last one that begins
            // before our end can conflict.
            match self.held.range(..place + size).next_back().map(|(held, size)| held + size) {
                Some(behind) if behind > place => place = behind.checked_next_multiple_of(size)?,
                _ => return Some(place),
            }
        }
        None
    }
}

impl Drop for AddressLease {
    fn drop(&mut self) {
        self.of.lock().held.remove(&self.subnet.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(text: &str) -> Subnet {
        text.parse().unwrap()
    }

    #[test]
    fn subnets_are_read_and_divided() {
        let whole = subnet("172.20.0.0/16");
        assert_eq!(whole.to_string(), "172.20.0.0/16");
        assert_eq!(whole.head(1 << 15).to_string(), "172.20.0.0/17");
        assert_eq!(whole.last(16).to_string(), "172.20.255.240/28");
        assert_eq!(whole.at(2).to_string(), "172.20.0.2");
        for bad in ["", "172.20.0.0", "172.20.0.0/33", "fd00::/64", "172.20.0.0/0"] {
            assert!(bad.parse::<Subnet>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_is_used_again_only_after_all_others_and_when_nobody_holds_it() {
        let addresses = subnet("10.0.0.0/29").between(2, 7);
        let first = addresses.take(1).unwrap();
        let given: Vec<String> =
            (0..4).map(|_| addresses.take(1).unwrap().subnet.at(0).to_string()).collect();
        assert_eq!(
            given,
            ["10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"],
            "each is new, though given back"
        );
        let again = addresses.take(1).unwrap();
        assert_eq!(
            again.subnet.at(0).to_string(),
            "10.0.0.3",
            "all were used, and the first is still held"
        );
        drop(first);
        let rest: Vec<AddressLease> = (0..4).map(|_| addresses.take(1).unwrap()).collect();
        assert!(addresses.take(1).is_none(), "all are held");
        drop((rest, again));
        assert!(addresses.take(1).is_some());
    }

    #[test]
    fn several_in_a_row_begin_where_a_subnet_may_and_do_not_overlap() {
        let addresses = subnet("10.0.0.0/26").between(8, 64);
        let (small, large) = (addresses.take(4).unwrap(), addresses.take(16).unwrap());
        assert_eq!(small.subnet.to_string(), "10.0.0.8/30");
        assert_eq!(large.subnet.to_string(), "10.0.0.16/28");
        let other = addresses.take(32).unwrap();
        assert_eq!(other.subnet.to_string(), "10.0.0.32/27");
        assert_eq!(
            addresses.take(4).unwrap().subnet.to_string(),
            "10.0.0.12/30",
            "between those held"
        );
        assert!(addresses.take(8).is_none());
    }
}
