//! Reads a finished snapshot again, on all cores, before the data of its recording is deleted.

use camino::Utf8Path;

use crate::wacz::{Package, WriteReport};
use crate::{Archive, Error, parallel};

/// The place of a record in the WARC: offset and length.
type Place = (u64, u64);

/// One of the things to check.
enum Check<'a> {
    /// The digests of all files.
    Files(&'a Package),
    /// The records from one offset in the WARC to another.
    Records(u64, u64),
}

/// Verifies the snapshot: every file has its digest, every record can be read, and every index line
/// points to a record.
pub(super) fn verify(path: &Utf8Path, written: &WriteReport) -> Result<(), Error> {
    let wrong = |reason: String| Error::Verification { path: path.to_owned(), reason };
    let archive = Archive::open(path)?;
    let package = archive.package().ok_or_else(|| wrong("it is no WACZ".to_owned()))?;
    let length = archive.segments().first().map_or(0, |segment| segment.length);
    let ends = written.parts.iter().skip(1).copied().chain([length]);
    let mut checks = vec![Check::Files(package)];
    checks.extend(written.parts.iter().zip(ends).map(|(from, to)| Check::Records(*from, to)));
    let found = parallel::map(&checks, |check| match check {
        Check::Files(package) => digests(package, path).map(|()| Vec::new()),
        Check::Records(from, to) => places(&archive, *from, *to),
    });
    // In the order of the file, because the parts are; the search below depends on it.
    let places: Vec<Place> = found.into_iter().collect::<Result<Vec<_>, Error>>()?.concat();
    let expected: u64 = written.records.values().sum();
    if places.len() as u64 != expected {
        return Err(wrong(format!("it holds {} records instead of {expected}", places.len())));
    }
    for line in archive.index() {
        let line = line?;
        let place = line.offset().zip(line.length());
        if place.is_none_or(|place| places.binary_search(&place).is_err()) {
            return Err(wrong(format!("the index points to no record for {}", line.key)));
        }
    }
    Ok(())
}

fn digests(package: &Package, path: &Utf8Path) -> Result<(), Error> {
    match package.check()?.into_iter().find(|file| !file.is_good()) {
        Some(file) => {
            let reason = format!("{} is not what its digest says", file.path);
            Err(Error::Verification { path: path.to_owned(), reason })
        }
        None => Ok(()),
    }
}

/// The records of a part, in order.
fn places(archive: &Archive, from: u64, to: u64) -> Result<Vec<Place>, Error> {
    let records = archive.records_between(0, from, to)?;
    records.map(|record| record.map(|(at, _)| (at.offset, at.length))).collect()
}
