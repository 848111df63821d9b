//! Downloaded files as HTML pages link them.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::stored::SavedFile;

#[derive(Serialize)]
pub(crate) struct Download {
    pub(crate) name: String,
    link: String,
    whole: bool,
}

impl Download {
    /// The link from a page. `folder` is the path from the page to the episode's folder: empty, or
    /// ending in `/`.
    pub(crate) fn of(folder: &str, saved: &SavedFile) -> Download {
        let name = utf8_percent_encode(&saved.name, NON_ALPHANUMERIC);
        Download {
            name: saved.name.clone(),
            link: format!("{folder}downloads/{name}"),
            whole: saved.whole,
        }
    }
}
