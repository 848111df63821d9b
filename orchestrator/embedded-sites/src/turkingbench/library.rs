//! The tasks of a folder, each parsed once.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8Path;
use parking_lot::Mutex;
use turkingbench::{Batch, Folder};

use crate::Error;

/// A folder of tasks. Clones share the parsed tasks.
#[derive(Clone)]
pub struct Library(Arc<Shelf>);

struct Shelf {
    folder: Folder,
    read: Mutex<HashMap<String, Arc<Book>>>,
}

/// A parsed task.
pub(super) struct Book {
    pub(super) template: String,
    pub(super) batch: Batch,
}

impl Library {
    /// Lists the tasks of a folder: the benchmark's repository or its `tasks` folder.
    ///
    /// # Errors
    /// When there are no tasks.
    pub fn open(folder: &Utf8Path) -> Result<Library, Error> {
        let folder = Folder::open(folder)?;
        Ok(Library(Arc::new(Shelf { folder, read: Mutex::default() })))
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// The task with this slug. `None` if it does not exist.
    pub(super) fn book(&self, slug: &str) -> Result<Option<Arc<Book>>, turkingbench::Error> {
        let Some(task) = self.0.folder.task(slug) else { return Ok(None) };
        let mut read = self.0.read.lock();
        if let Some(book) = read.get(slug) {
            return Ok(Some(Arc::clone(book)));
        }
        let book = Arc::new(Book { template: task.template()?, batch: task.batch()? });
        read.insert(slug.to_owned(), Arc::clone(&book));
        Ok(Some(book))
    }
}
