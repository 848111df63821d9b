//! The tasks of a folder, each read once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use camino::Utf8Path;
use turkingbench::{Batch, Folder};

use crate::Error;

/// A folder of tasks. Clones share what has been read.
#[derive(Clone)]
pub struct Library(Arc<Shelf>);

struct Shelf {
    folder: Folder,
    read: Mutex<HashMap<String, Arc<Book>>>,
}

/// A task that has been read.
pub(super) struct Book {
    pub(super) template: String,
    pub(super) batch: Batch,
}

impl Library {
    /// Lists the tasks of a folder, the benchmark's repository or its `tasks`.
    ///
    /// # Errors
    /// When there are none.
    pub fn open(folder: &Utf8Path) -> Result<Library, Error> {
        let folder = Folder::open(folder)?;
        Ok(Library(Arc::new(Shelf { folder, read: Mutex::default() })))
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// A task by its slug; none where there is no such task.
    pub(super) fn book(&self, slug: &str) -> Result<Option<Arc<Book>>, turkingbench::Error> {
        let Some(task) = self.0.folder.task(slug) else { return Ok(None) };
        let mut read = self.0.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(book) = read.get(slug) {
            return Ok(Some(Arc::clone(book)));
        }
        let book = Arc::new(Book { template: task.template()?, batch: task.batch()? });
        read.insert(slug.to_owned(), Arc::clone(&book));
        Ok(Some(book))
    }
}
