//! What pages have the browser save as files.
//!
//! Files go to a folder of the episode's own, which goes with it. A page has not settled before its
//! downloads are whole. Together they have a bound ([`crate::Launch::downloads`]), and there are at
//! most [`MAX_DOWNLOADS`]: what goes beyond is broken off, so that no page fills the disk.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Error, Session,
    cdp::{connection::Cdp, targets::stable_url, tracker::BrowserState},
    session::with_browser_context,
};

/// The most downloads in an episode.
const MAX_DOWNLOADS: usize = 1000;

/// A file that a page had the browser save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Download {
    /// Its name: the one that the server or the page gave it, made harmless, with a number where it would be the second of that name.
    pub name: String,
    /// Where it came from; of what the page itself made, only whose it is:
    /// `blob:https://site.test`.
    pub url: String,
    /// The file, as long as the episode lasts; none where the download failed or was broken off.
    pub path: Option<PathBuf>,
}

/// A download as the browser tells of it.
#[derive(Debug, Clone)]
pub(crate) struct DownloadState {
    /// The browser's name for it, and for its file.
    id: String,
    url: String,
    suggested: String,
    /// How much of it is there, in bytes.
    received: u64,
    ended: Option<DownloadEnd>,
    /// What it is called, once that was settled.
    finished: Option<Download>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DownloadEnd {
    Completed,
    Canceled,
}

impl BrowserState {
    /// Notes the browser's event of a download's begin.
    pub(crate) fn on_download_begin(&mut self, cdp: &Cdp, event: &Value) {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.started_count += 1;
        self.downloads.push(DownloadState {
            id: text("guid"),
            url: stable_url(&text("url")).to_owned(),
            suggested: text("suggestedFilename"),
            received: 0,
            ended: None,
            finished: None,
        });
        if self.downloads.len() > MAX_DOWNLOADS {
            tracing::warn!(
                url = text("url"),
                "there are more than {MAX_DOWNLOADS} downloads: this one is broken off"
            );
            self.cancel_download(cdp, &text("guid"));
        }
    }

    /// Notes how far a download is.
    pub(crate) fn on_download_progress(&mut self, cdp: &Cdp, event: &Value) {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let Some(download) = self.downloads.iter_mut().find(|download| Some(&*download.id) == text("guid"))
        else {
            return;
        };
        // The protocol has numbers of floating point only.
        let received = event.get("receivedBytes").and_then(Value::as_f64).unwrap_or_default();
        download.received = download.received.max(received.max(0.0) as u64);
        match text("state") {
            Some("completed") => download.ended = Some(DownloadEnd::Completed),
            Some("canceled") => download.ended = Some(DownloadEnd::Canceled),
            _ => {}
        }
        let (id, url, ended) = (download.id.clone(), download.url.clone(), download.ended);
        let Some(setup) = self.setup.clone() else { return };
        let total: u64 = self.downloads.iter().map(DownloadState::on_disk).sum();
        if ended == Some(DownloadEnd::Canceled) || total <= setup.downloads {
            return;
        }
        tracing::warn!(url, bound = setup.downloads, "downloads hold too much together: one is broken off");
        if ended.is_none() {
            self.cancel_download(cdp, &id);
            return;
        }
        // It was there before it was told of.
        let _ = fs::remove_file(setup.download_folder.join(&id));
        if let Some(download) = self.downloads.iter_mut().find(|download| download.id == id) {
            download.ended = Some(DownloadEnd::Canceled);
        }
    }

    fn cancel_download(&self, cdp: &Cdp, id: &str) {
        let context = self.setup.as_ref().and_then(|setup| setup.context.clone());
        let params = with_browser_context(json!({ "guid": id }), context.as_deref());
        drop(cdp.send(None, "Browser.cancelDownload", params));
    }

    /// Whether one is under way.
    pub(crate) fn is_downloading(&self) -> bool {
        self.downloads.iter().any(|download| download.ended.is_none())
    }
}

impl DownloadState {
    /// How much it takes on the disk: what was broken off is removed.
    fn on_disk(&self) -> u64 {
        if self.ended == Some(DownloadEnd::Canceled) { 0 } else { self.received }
    }

    /// Gives the file its name, if it has none yet.
    fn finish(&mut self, folder: &Path) -> Option<Download> {
        let ended = self.ended?;
        let finished = self.finished.get_or_insert_with(|| {
            let path = free_path(folder, &self.suggested);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let whole = ended == DownloadEnd::Completed && fs::rename(folder.join(&self.id), &path).is_ok();
            Download { name, url: self.url.clone(), path: whole.then_some(path) }
        });
        Some(finished.clone())
    }
}

/// A path in a folder that no file has yet, by a name that others have made up.
fn free_path(folder: &Path, suggested: &str) -> PathBuf {
    let name = suggested.rsplit(['/', '\\']).next().map(|name| name.replace(char::is_control, ""));
    let name =
        name.filter(|name| !matches!(&**name, "" | "." | "..")).unwrap_or_else(|| "download".to_owned());
    let (stem, end) = match name.rfind('.').filter(|&dot| dot > 0) {
        Some(dot) => name.split_at(dot),
        None => (&*name, ""),
    };
    let mut number = 0_u32;
    loop {
        let name = if number == 0 { name.clone() } else { format!("{stem} ({number}){end}") };
        let path = folder.join(name);
        if !path.exists() {
            return path;
        }
        number += 1;
    }
}

impl Session {
    /// The downloads that have ended since the last action began, in the order of their beginning.
    pub(crate) fn downloads(&self) -> Vec<Download> {
        let folder = self.downloads_folder();
        let mut state = self.tracker.lock();
        let before = state.downloads_before_action;
        state.downloads.iter_mut().skip(before).filter_map(|download| download.finish(&folder)).collect()
    }

    /// Has the downloads of a context go to a new, empty folder.
    pub(crate) async fn set_download_folder(&self, context: Option<&str>) -> Result<(), Error> {
        let folder = self.downloads_folder();
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::Profile(error)),
            _ => fs::create_dir(&folder).map_err(Error::Profile)?,
        }
        let params = json!({
            "behavior": "allowAndName",
            "downloadPath": folder,
            "eventsEnabled": true,
        });
        let params = with_browser_context(params, context);
        self.cdp().call(None, "Browser.setDownloadBehavior", params).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_harmless_names_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        for (suggested, expected) in [
            ("report.zip", "report.zip"),
            ("report.zip", "report (1).zip"),
            ("../../report.zip", "report (2).zip"),
            ("..", "download"),
            ("", "download (1)"),
            (".profile", ".profile"),
            ("a\\b\u{1b}.txt", "b.txt"),
        ] {
            let path = free_path(folder.path(), suggested);
            assert_eq!(path, folder.path().join(expected));
            fs::write(path, "").unwrap();
        }
    }
}
