//! Files that an agent uploads to a page.
//!
//! Only files of the task can be uploaded: those in the session's upload folder, and the downloads
//! of the episode. A page that misleads an agent must not reach the machine's other files.

use std::path::PathBuf;
use std::time::Duration;

use actions::{Point, Press};
use serde_json::{Value, json};

use crate::act::element::ElementHandle;
use crate::act::state::ActState;
use crate::cdp::tracker::{BrowserState, Page};
use crate::{ActionError, Error, Session};

/// How long the page may take to open a file chooser after a click.
const CHOOSER_TIMEOUT: Duration = Duration::from_secs(2);

/// A file chooser that a page has opened.
#[derive(Debug, Clone)]
pub(crate) struct FileChooser {
    /// The input that gets the files.
    node: i64,
    several: bool,
}

impl FileChooser {
    /// Parses the browser's event.
    pub(crate) fn of(event: &Value) -> Option<Self> {
        let several = event.get("mode").and_then(Value::as_str) == Some("selectMultiple");
        Some(Self { node: event.get("backendNodeId").and_then(Value::as_i64)?, several })
    }
}

impl Session {
    /// Clicks an element that opens a file chooser, and uploads the files.
    pub(crate) async fn upload(
        &mut self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        files: &[String],
    ) -> Result<(), ActionError> {
        let files = self.allowed_files(files)?;
        self.intercept_chooser(page, true).await?;
        let result = match self.click(page, bid, element, &Press::default()).await {
            Ok(()) => self.set_files(page, &files).await,
            Err(error) => Err(error),
        };
        // Also after a failure of the click.
        self.intercept_chooser(page, false).await?;
        result
    }

    /// Clicks at a point that opens a file chooser, and uploads the files.
    pub(crate) async fn upload_at(
        &mut self,
        page: &Page,
        at: Point,
        files: &[String],
    ) -> Result<(), ActionError> {
        let files = self.allowed_files(files)?;
        self.intercept_chooser(page, true).await?;
        let result = match self.click_at(page, at, &Press::default()).await {
            Ok(()) => self.set_files(page, &files).await,
            Err(error) => Err(error),
        };
        // Also after a failure of the click.
        self.intercept_chooser(page, false).await?;
        result
    }

    async fn set_files(&self, page: &Page, files: &[PathBuf]) -> Result<(), ActionError> {
        let condition = |_: &BrowserState| "the page to ask for a file".to_owned();
        let chooser = match self
            .tracker
            .wait_for(CHOOSER_TIMEOUT, condition, |state| {
                state.part::<ActState>().file_chooser.clone()
            })
            .await
        {
            Ok(chooser) => chooser,
            Err(Error::Deadline { .. }) => return Err(ActionError::NoChooser),
            Err(error) => return Err(error.into()),
        };
        if files.len() > 1 && !chooser.several {
            return Err(ActionError::File {
                name: format!("{} files", files.len()),
                reason: "the page asks for a single file",
            });
        }
        let params = json!({ "files": files, "backendNodeId": chooser.node });
        let result = self.cdp().call(Some(&page.session), "DOM.setFileInputFiles", params).await;
        self.ignore_if_closed(page, result)
    }

    async fn intercept_chooser(&self, page: &Page, enabled: bool) -> Result<(), ActionError> {
        const METHOD: &str = "Page.setInterceptFileChooserDialog";
        self.tracker.lock().part_mut::<ActState>().file_chooser = None;
        let set = self.cdp().call(Some(&page.session), METHOD, json!({ "enabled": enabled })).await;
        self.ignore_if_closed(page, set)
    }

    /// The folders from which files may be uploaded.
    pub(crate) fn upload_folders(&self) -> Vec<PathBuf> {
        self.launch.files.iter().cloned().chain([self.downloads_folder()]).collect()
    }

    /// The files that an agent names, each in an upload folder.
    fn allowed_files(&self, names: &[String]) -> Result<Vec<PathBuf>, ActionError> {
        let folders = self.upload_folders();
        let found = names.iter().map(|name| {
            find(&folders, name).map_err(|reason| ActionError::File { name: name.clone(), reason })
        });
        found.collect()
    }
}

/// The file of that name in one of the folders, by its real path, so that neither `..` nor a link
/// leads out of them.
pub(crate) fn find(folders: &[PathBuf], name: &str) -> Result<PathBuf, &'static str> {
    let candidates = folders.iter().filter_map(|folder| {
        let (folder, file) = (folder.canonicalize().ok()?, folder.join(name).canonicalize().ok()?);
        file.is_file().then_some((file.starts_with(folder), file))
    });
    let candidates: Vec<(bool, PathBuf)> = candidates.collect();
    match candidates.iter().find(|(inside, _)| *inside) {
        Some((_, file)) => Ok(file.clone()),
        None if candidates.is_empty() => {
            Err("neither the task nor its downloads have a file of that name")
        }
        None => Err("only files of the task and its downloads can be given to a page"),
    }
}
