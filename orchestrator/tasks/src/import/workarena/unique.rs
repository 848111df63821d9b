//! Values that nobody else may have, and the choice of some tasks of many: both follow from a seed.

use std::collections::BTreeSet;

use scoring::workarena::{Config, Field, NewRecord, first_name, last_name};

/// A number that follows from a seed and a place (SplitMix64).
pub(super) fn mix(seed: u64, name: &str, number: usize) -> u64 {
    let spread = |state: u64| {
        let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    };
    let named = name.bytes().fold(spread(seed), |state, byte| spread(state ^ u64::from(byte)));
    spread(named ^ number as u64)
}

/// Returns the indices of the rows that are taken, at most `most` of `all`.
pub(super) fn taken(all: usize, most: Option<usize>, seed: u64, name: &str) -> BTreeSet<usize> {
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by_key(|&number| mix(seed, name, number));
    order.into_iter().take(most.unwrap_or(all)).collect()
}

/// Gives a record's fields the values that have to be its own: `unique_valued_fields` of
/// `tasks/form.py`, which draws them anew each time.
pub(super) fn make_unique(config: &mut Config, seed: u64) {
    let Config::NewRecord(NewRecord { table, fields, .. }) = config else { return };
    let other = seed.rotate_left(32);
    let first = format!("{}-{}", first_name(seed), first_name(other));
    let last = format!("{}-{}", last_name(seed), last_name(other));
    for Field { column, value, .. } in fields {
        *value = match (table.as_str(), column.as_str()) {
            ("alm_hardware", "serial_number") => format!("SN-{seed:016x}"),
            ("sys_user", "first_name") => first.clone(),
            ("sys_user", "last_name") => last.clone(),
            ("sys_user", "user_name") => seed.to_string(),
            ("sys_user", "email") => format!("{first}.{last}@workarena.com").to_lowercase(),
            _ => continue,
        };
    }
}
