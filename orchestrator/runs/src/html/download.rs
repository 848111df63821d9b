//! A file that a page had saved, as pages link it.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::results::SavedFile;

#[derive(Serialize)]
pub(crate) struct Download {
    pub(crate) name: String,
    link: String,
    whole: bool,
}

impl Download {
    /// For a page from which `folder` leads to the episode's: empty, or a path that ends in `/`.
    pub(crate) fn of(folder: &str, saved: &SavedFile) -> Download {
        let name = utf8_percent_encode(&saved.name, NON_ALPHANUMERIC);
        Download { name: saved.name.clone(), link: format!("{folder}downloads/{name}"), whole: saved.whole }
    }
}
