//! Reads the new episodes of a part while its process goes on writing.

use std::collections::BTreeSet;

use camino::Utf8Path;
use results::{EpisodeFolder, EpisodeRecord};

/// Returns the episodes of a part that were not reported yet, by name. One that cannot be read now
/// is read later: over a network, a folder may be seen before its files.
pub(crate) fn new_episodes(
    part: &Utf8Path,
    told: &BTreeSet<String>,
) -> Vec<(String, EpisodeRecord)> {
    let path = part.join("episodes");
    let Ok(entries) = path.read_dir_utf8() else { return Vec::new() };
    let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_owned());
    let mut new: Vec<String> =
        names.filter(|name| !name.starts_with('.') && !told.contains(name)).collect();
    new.sort();
    let read = |name: String| {
        let record = EpisodeFolder::at(path.join(&name)).record().ok()?;
        Some((name, record))
    };
    new.into_iter().filter_map(read).collect()
}

/// Returns the cost of an episode, in US dollars, as far as prices are known.
pub(crate) fn cost(record: &EpisodeRecord) -> f64 {
    let spent = [&record.models, &record.judging];
    spent.into_iter().flatten().filter_map(|spent| spent.cost).sum()
}
