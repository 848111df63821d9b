//! The first page of an index file: format, archive identity, and the location of all sections.

use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};

use object_files::RemoteFile;
use sha2::{Digest, Sha256};

use super::row::CAPTURE;
use super::table::TablePlace;
use crate::Source;
use crate::source::Place;

/// The size of the first page, in bytes.
pub(super) const PAGE: usize = 512;
const MAGIC: &[u8; 8] = b"SBXINDEX";
/// Incremented when the file format or the keys change. An index of another version is rebuilt,
/// because an index is only a cache.
pub(super) const VERSION: u64 = 6;
/// The size of an entry of the path table, in bytes.
pub(super) const PATH: usize = 8;

/// Identifies the state of the archive to which an index belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Binding {
    size: u64,
    modified_seconds: i64,
    modified_nanos: i64,
    digest: [u8; 32],
}

impl Binding {
    /// The identity as digits.
    pub(super) fn state(&self) -> String {
        let digest = hex::encode(self.digest);
        format!("{}-{}.{:09}-{digest}", self.size, self.modified_seconds, self.modified_nanos)
    }

    /// Of a file: its size, its modification time, and a digest over samples. Of an object: its
    /// size and what the server says of its state.
    pub(super) fn of(source: &Source) -> io::Result<Binding> {
        let (size, time, digest) = match source.place() {
            Place::Remote(object) => (object.length(), (0, 0), object.version()),
            Place::File(file) => {
                let metadata = file.metadata()?;
                let samples = samples(metadata.len()).into_iter().map(|range| {
                    let mut sample = vec![0; (range.end - range.start) as usize];
                    file.read_exact_at(&mut sample, range.start)?;
                    Ok(sample)
                });
                let digest = digest(samples.collect::<io::Result<Vec<_>>>()?);
                (metadata.len(), (metadata.mtime(), metadata.mtime_nsec()), digest)
            }
        };
        Ok(Binding { size, modified_seconds: time.0, modified_nanos: time.1, digest })
    }

    /// Whether a file with this binding has the same size and samples as an object.
    pub(super) fn has_content_of(&self, file: &RemoteFile) -> Result<bool, object_files::Error> {
        Ok(self.size == file.length()
            && self.digest == digest(file.read_ranges(samples(self.size))?))
    }
}

/// Sixteen ranges of a file of this size, spread from start to end.
fn samples(size: u64) -> Vec<Range<u64>> {
    const SAMPLE: u64 = 16 << 10;
    let last = size.saturating_sub(SAMPLE);
    let start = |part| if part == 15 { last } else { last / 15 * part };
    (0..=15).map(|part| start(part)..(start(part) + SAMPLE).min(size)).collect()
}

fn digest(samples: Vec<impl AsRef<[u8]>>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for sample in samples {
        hasher.update(sample.as_ref());
    }
    hasher.finalize().into()
}

/// The contents of an archive, counted while its index is built.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Records of any kind.
    pub records: u64,
    /// Recorded responses: responses, revisits, resources and WebSocket connections.
    pub captures: u64,
    /// Responses whose request was recorded too.
    pub paired: u64,
    /// Responses whose body is in another record.
    pub revisits: u64,
    /// Of these, those whose body is not in this archive.
    pub dangling: u64,
    /// Damaged records that were skipped.
    pub damaged: u64,
}

/// The contents of the first page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) binding: Binding,
    pub(super) summary: Summary,
    pub(super) exact: TablePlace,
    pub(super) normalised: TablePlace,
    pub(super) anchors: TablePlace,
    /// The writes of each site, and where visits of it may begin.
    pub(super) turns: TablePlace,
    /// Captures, in archive order, start after the first page.
    pub(super) captures: u64,
    pub(super) paths_at: u64,
    pub(super) paths: u64,
    pub(super) texts_at: u64,
    pub(super) texts_length: u64,
}

impl Layout {
    pub(super) fn to_page(self) -> [u8; PAGE] {
        let mut page = [0; PAGE];
        page[..8].copy_from_slice(MAGIC);
        let Binding { size, modified_seconds, modified_nanos, digest } = self.binding;
        page[8..40].copy_from_slice(&digest);
        let mut numbers = vec![VERSION, size, modified_seconds as u64, modified_nanos as u64];
        let s = self.summary;
        numbers.extend([s.records, s.captures, s.paired, s.revisits, s.dangling, s.damaged]);
        for table in [self.exact, self.normalised, self.anchors, self.turns] {
            numbers.extend([
                table.offset,
                table.entries,
                table.fan,
                table.bits.into(),
                table.fan_crc.into(),
            ]);
        }
        numbers.extend([
            self.captures,
            self.paths_at,
            self.paths,
            self.texts_at,
            self.texts_length,
        ]);
        for (slot, number) in page[40..PAGE - 32].as_chunks_mut::<8>().0.iter_mut().zip(&numbers) {
            *slot = number.to_le_bytes();
        }
        let seal = Sha256::digest(&page[..PAGE - 32]);
        page[PAGE - 32..].copy_from_slice(&seal);
        page
    }

    /// `None` unless this is a complete page of this version whose offsets are within a file of
    /// `length` bytes.
    pub(super) fn from_page(page: &[u8; PAGE], length: u64) -> Option<Layout> {
        let seal: [u8; 32] = Sha256::digest(&page[..PAGE - 32]).into();
        if page[..8] != MAGIC[..] || page[PAGE - 32..] != seal {
            return None;
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(&page[8..40]);
        let mut numbers =
            page[40..PAGE - 32].as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight));
        let mut next = || numbers.next();
        if next()? != VERSION {
            return None;
        }
        let (size, modified_seconds, modified_nanos) = (next()?, next()? as i64, next()? as i64);
        let summary = Summary {
            records: next()?,
            captures: next()?,
            paired: next()?,
            revisits: next()?,
            dangling: next()?,
            damaged: next()?,
        };
        // The seal shows damage, not intent, so that no number is believed.
        let mut table = || {
            let (offset, entries, fan, bits, fan_crc) =
                (next()?, next()?, next()?, next()?, next()?);
            let place = TablePlace {
                offset,
                entries,
                fan,
                bits: bits.try_into().ok()?,
                fan_crc: fan_crc.try_into().ok()?,
            };
            (place.bits <= 27 && fan <= length && place.end() <= length && offset <= fan)
                .then_some(place)
        };
        let (exact, normalised, anchors, turns) = (table()?, table()?, table()?, table()?);
        let (captures, paths_at, paths, texts_at, texts_length) =
            (next()?, next()?, next()?, next()?, next()?);
        let fits = |at: u64, count: u64, each: usize| {
            count
                .checked_mul(each as u64)
                .and_then(|bytes| at.checked_add(bytes))
                .is_some_and(|end| end <= length)
        };
        let whole = fits(PAGE as u64, captures, CAPTURE)
            && fits(paths_at, paths, PATH)
            && fits(texts_at, texts_length, 1);
        whole.then_some(Layout {
            binding: Binding { size, modified_seconds, modified_nanos, digest },
            summary,
            exact,
            normalised,
            anchors,
            turns,
            captures,
            paths_at,
            paths,
            texts_at,
            texts_length,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_page_comes_back_and_damage_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![7; 100_000]).unwrap();
        let source = || Source::from(std::fs::File::open(file.path()).unwrap());
        let place = |n: u64| TablePlace { offset: n, entries: 3, fan: n + 96, bits: 1, fan_crc: 9 };
        let layout = Layout {
            binding: Binding::of(&source()).unwrap(),
            summary: Summary { records: 7, dangling: 1, ..Summary::default() },
            exact: place(600),
            normalised: place(1_000),
            anchors: place(2_000),
            turns: place(3_000),
            captures: 4,
            paths_at: 5_000,
            paths: 4,
            texts_at: 6_000,
            texts_length: 40,
        };
        let page = layout.to_page();
        assert_eq!(Layout::from_page(&page, 6_040), Some(layout));
        assert_eq!(Layout::from_page(&page, 6_039), None, "a file that was cut is no index");
        for at in 0..PAGE {
            let mut bad = page;
            bad[at] ^= 1;
            assert_eq!(Layout::from_page(&bad, 1 << 20), None);
        }
        std::fs::write(file.path(), vec![8; 100_000]).unwrap();
        assert_ne!(Binding::of(&source()).unwrap(), layout.binding);
    }
}
