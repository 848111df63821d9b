//! Opens the archives of a set, on all cores.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};

use super::routes::Routes;
use super::set::{Member, ReplaySet};
use super::{BuildProgress, Index, IndexError, build};
use crate::collection::SnapshotFile;
use crate::matching::ChangingParts;
use crate::{Archive, parallel};

/// How many archives are all asked for every request. With more, the set has routes.
const ASKED: usize = 4;

impl ReplaySet {
    /// Opens archives, each with its index in `cache`. A path may be that of a collection: its
    /// members are opened. A missing or outdated index is built; several are built at once, on all
    /// cores. Without a cache folder they are built in temporary files. `progress` receives an
    /// archive that is being indexed, and how much is done of all.
    ///
    /// # Errors
    /// A file cannot be read, or a member of a collection is not what the collection lists.
    pub fn open(
        paths: &[Utf8PathBuf],
        cache: Option<&Utf8Path>,
        progress: &mut dyn FnMut(&Utf8Path, BuildProgress),
    ) -> Result<ReplaySet, IndexError> {
        let files = SnapshotFile::of(paths)?;
        let archives = parallel::map(&files, |file| -> Result<_, IndexError> {
            let archive = file.open()?;
            let index = match cache {
                Some(cache) => Index::open(&archive, &Index::sidecar(archive.path(), cache))?,
                None => None,
            };
            Ok((archive, index))
        });
        let mut archives = archives.into_iter().collect::<Result<Vec<_>, IndexError>>()?;
        build_missing(&mut archives, cache, progress)?;
        let mut members = Vec::with_capacity(archives.len());
        let mut rules = ChangingParts::default();
        for (archive, index) in archives {
            // None is missing any more.
            let Some(index) = index else { continue };
            let (path, damaged) = (archive.path(), index.summary().damaged);
            if damaged > 0 {
                tracing::warn!(%path, damaged, "damaged records are as good as not recorded; `sandbox snapshot verify` names them");
            }
            match archive.changing_parts() {
                Ok(parts) => rules.join(parts.unwrap_or_default()),
                Err(error) => tracing::warn!(%error, "replaying without the rules of a snapshot"),
            }
            members.push(Member { archive, index });
        }
        let mut set = ReplaySet { members, routes: None, rules, changing: OnceLock::new() };
        if set.members.len() > ASKED && u16::try_from(set.members.len()).is_ok() {
            let indexes: Vec<&Index> = set.members.iter().map(|member| &member.index).collect();
            set.routes = Some(Routes::open_or_build(&indexes, &set.state(), cache)?);
        }
        Ok(set)
    }
}

/// Builds the indexes that are missing.
fn build_missing(
    archives: &mut [(Archive, Option<Index>)],
    cache: Option<&Utf8Path>,
    progress: &mut dyn FnMut(&Utf8Path, BuildProgress),
) -> Result<(), IndexError> {
    let mut missing: Vec<&mut (Archive, Option<Index>)> =
        archives.iter_mut().filter(|(_, index)| index.is_none()).collect();
    let length =
        |archive: &Archive| archive.segments().iter().map(|segment| segment.length).sum::<u64>();
    let total_bytes = missing.iter().map(|(archive, _)| length(archive)).sum();
    let at_once = parallel::cores().min(missing.len());
    let mut of_each = vec![BuildProgress::of_one(0, 0, 1); missing.len()];
    let to_build: Vec<&Archive> = missing.iter().map(|pair| &pair.0).collect();
    let built = parallel::each(
        &to_build,
        |_, archive, tell: &dyn Fn(BuildProgress)| {
            // All that are built at the same time share the memory for sorting.
            let memory = build::sort_memory(at_once);
            match cache {
                Some(cache) => Index::build_named(archive, cache, memory, &mut |at| tell(at)),
                None => Index::build_unnamed(archive, memory, &mut |at| tell(at)),
            }
        },
        &mut |number, at: BuildProgress| {
            of_each[number] = at;
            let sum = BuildProgress {
                records: of_each.iter().map(|each| each.records).sum(),
                bytes: of_each.iter().map(|each| each.bytes).sum(),
                total_bytes,
                archives: of_each.len(),
                finished: of_each.iter().map(|each| each.finished).sum(),
            };
            progress(to_build[number].path(), sum);
        },
    );
    for (pair, index) in missing.iter_mut().zip(built) {
        pair.1 = Some(index?);
    }
    Ok(())
}
