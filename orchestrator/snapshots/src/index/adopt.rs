//! Takes the index that lies beside an object, instead of reading all of the object to build one.
//!
//! `sandbox snapshot push` puts it there. It was built from a file, so it names that file's state;
//! it is taken if the object has the same size and samples, and then names the object's state.

use std::io::{Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;

use camino::Utf8Path;
use object_files::RemoteFile;
use tempfile::NamedTempFile;

use super::layout::{Binding, Layout, PAGE};
use super::{Index, IndexError};
use crate::source::Place;
use crate::{Archive, Error, Source};

/// The most bytes of an index that is fetched: of as many records as fit into a large archive.
const MOST_BYTES: u64 = 16 << 30;
/// What is added to the address of an archive to get that of its index.
pub const BESIDE: &str = ".index";

/// Fetches the index of an archive to `path`, if it is an object that has one.
pub(super) fn fetched(archive: &Archive, path: &Utf8Path) -> Result<Option<Index>, IndexError> {
    let Place::Remote(object) = archive.source().place() else { return Ok(None) };
    let folder = path.parent().unwrap_or(Utf8Path::new("."));
    std::fs::create_dir_all(folder).map_err(IndexError::io("create", folder))?;
    let mut file = NamedTempFile::new_in(folder).map_err(IndexError::io("write into", folder))?;
    let beside = object.address().with_end(BESIDE).map_err(Error::from)?;
    // Without the index, the archive is read: whatever is wrong with the server shows there. Where
    // a reader may not list, S3 refuses what is not there.
    if let Err(error) = object_files::download_into(&beside, &mut file, MOST_BYTES) {
        if !error.is_not_found() {
            tracing::info!(%beside, error = error_text::with_causes(&error), "no index was fetched");
        }
        return Ok(None);
    }
    if !adopt(&mut file, object, archive.source()).map_err(IndexError::from)? {
        tracing::info!(%beside, "this index belongs to another snapshot, or was made by another version");
        return Ok(None);
    }
    let file = file.persist(path).map_err(|error| IndexError::io("write", path)(error.error))?;
    Index::from_file(file, path.to_owned()).map(Some)
}

/// Binds a fetched index to the object, if it belongs to it.
fn adopt(file: &mut NamedTempFile, object: &RemoteFile, source: &Source) -> Result<bool, Error> {
    let io = |error| Error::io("read", Utf8Path::new("a fetched index"), error);
    let length = file.seek(SeekFrom::End(0)).map_err(io)?;
    let mut page = [0; PAGE];
    if length < PAGE as u64 {
        return Ok(false);
    }
    file.as_file().read_exact_at(&mut page, 0).map_err(io)?;
    let Some(layout) = Layout::from_page(&page, length) else { return Ok(false) };
    if !layout.binding.has_content_of(object)? {
        return Ok(false);
    }
    let bound = Layout { binding: Binding::of(source).map_err(io)?, ..layout };
    file.as_file().write_all_at(&bound.to_page(), 0).map_err(io)?;
    Ok(true)
}
