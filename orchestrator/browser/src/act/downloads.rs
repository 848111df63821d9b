//! Files that pages have the browser save.
//!
//! Downloads go to a folder of the episode, which is removed with it. A page has not settled before
//! its downloads are complete. They have a limit together ([`crate::Launch::downloads`]), and there
//! are at most [`MAX_DOWNLOADS`]. Downloads beyond the limits are canceled and removed, so that no
//! page fills the disk. A download whose size is known takes its place when it begins: it fits or
//! not, however fast it comes. One of unknown size takes what has come of it, and goes first when
//! the limit is reached. The browser reports the size of a download twice a second: a fast one of
//! unknown size can exceed the limit by what comes in that time.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::{Value, json};

use crate::act::state::ActState;
use crate::cdp::connection::Cdp;
use crate::cdp::targets::{stable_url, with_browser_context};
use crate::cdp::tracker::BrowserState;
use crate::{Download, Error, Session};

/// The limit of downloads in an episode.
const MAX_DOWNLOADS: usize = 1000;

/// A download as the browser reports it.
#[derive(Debug, Clone)]
pub(crate) struct DownloadState {
    /// The browser's id for it, which is also the name of its file.
    id: String,
    url: String,
    suggested: String,
    /// How much of it has come, in bytes.
    received: u64,
    /// Its size in bytes, where the browser knows it.
    size: Option<u64>,
    /// Whether it is beyond the limits. It ends when the browser has canceled it.
    refused: bool,
    ended: Option<DownloadEnd>,
    /// Its final name, once there is one.
    finished: Option<Download>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DownloadEnd {
    Completed,
    Canceled,
}

impl ActState {
    /// Records the event of a starting download.
    pub(super) fn on_download_begin(&mut self, state: &mut BrowserState, cdp: &Cdp, event: &Value) {
        let text =
            |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        state.started_count += 1;
        self.downloads.push(DownloadState {
            id: text("guid"),
            url: stable_url(&text("url")).to_owned(),
            suggested: text("suggestedFilename"),
            received: 0,
            size: None,
            refused: false,
            ended: None,
            finished: None,
        });
        if self.downloads.len() > MAX_DOWNLOADS {
            tracing::warn!(
                url = text("url"),
                "there are more than {MAX_DOWNLOADS} downloads; this one is canceled"
            );
            cancel_download(state, cdp, &text("guid"));
        }
    }

    /// Records the progress of a download.
    pub(super) fn on_download_progress(&mut self, state: &BrowserState, cdp: &Cdp, event: &Value) {
        let text = |name: &str| event.get(name).and_then(Value::as_str);
        let Some(download) =
            self.downloads.iter_mut().find(|download| Some(&*download.id) == text("guid"))
        else {
            return;
        };
        // The protocol's numbers are floating point.
        let bytes = |name: &str| {
            event.get(name).and_then(Value::as_f64).unwrap_or_default().max(0.0) as u64
        };
        download.received = download.received.max(bytes("receivedBytes"));
        download.size = Some(bytes("totalBytes")).filter(|&size| size > 0);
        match text("state") {
            Some("completed") => download.ended = Some(DownloadEnd::Completed),
            Some("canceled") => download.ended = Some(DownloadEnd::Canceled),
            _ => {}
        }
        let (id, ended) = (download.id.clone(), download.ended);
        let Some(setup) = &state.setup else { return };
        if ended == Some(DownloadEnd::Canceled) {
            remove_canceled(&setup.download_folder, &id);
            return;
        }
        // It may be complete before its first event. In attach mode it may be in a folder of the
        // client, which only the browser knows.
        let file = text("filePath").map_or_else(|| setup.download_folder.join(&id), PathBuf::from);
        while let Some(beyond) = first_beyond(&mut self.downloads, setup.downloads, &id) {
            beyond.refused = true;
            tracing::warn!(
                url = beyond.url,
                bound = setup.downloads,
                "the downloads exceed their limit; one is canceled"
            );
            if beyond.ended.is_some() {
                beyond.ended = Some(DownloadEnd::Canceled);
                let _ = fs::remove_file(&file);
            } else {
                cancel_download(state, cdp, &beyond.id);
            }
        }
    }
}

/// Cancels a download in each context: the browser does not tell which one it belongs to. The other
/// contexts do not know its id and refuse.
fn cancel_download(state: &BrowserState, cdp: &Cdp, id: &str) {
    for context in &state.contexts {
        let params = json!({ "guid": id, "browserContextId": context });
        drop(cdp.send(None, "Browser.cancelDownload", params));
    }
}

impl DownloadState {
    pub(super) fn is_under_way(&self) -> bool {
        self.ended.is_none()
    }

    /// How much of the limit it takes, in bytes. What is canceled is removed.
    fn taken(&self) -> u64 {
        let canceled = self.refused || self.ended == Some(DownloadEnd::Canceled);
        if canceled { 0 } else { self.received.max(self.size.unwrap_or_default()) }
    }

    /// Gives the file its name, if it has none yet.
    fn finish(&mut self, folder: &Path) -> Option<Download> {
        let ended = self.ended?;
        let finished = self.finished.get_or_insert_with(|| {
            let path = free_path(folder, &self.suggested);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let whole =
                ended == DownloadEnd::Completed && fs::rename(folder.join(&self.id), &path).is_ok();
            Download { name, url: self.url.clone(), path: whole.then_some(path) }
        });
        Some(finished.clone())
    }
}

/// The download that goes first where they take more than `limit` bytes together: the largest under
/// way whose size is unknown, else the one of `id`, which has just been heard of.
fn first_beyond<'a>(
    downloads: &'a mut [DownloadState],
    limit: u64,
    id: &str,
) -> Option<&'a mut DownloadState> {
    if downloads.iter().map(DownloadState::taken).fold(0, u64::saturating_add) <= limit {
        return None;
    }
    let endless = (0..downloads.len())
        .filter(|&at| downloads[at].ended.is_none() && downloads[at].size.is_none())
        .filter(|&at| downloads[at].taken() > 0)
        .max_by_key(|&at| downloads[at].taken());
    let heard = || downloads.iter().position(|download| download.id == id && download.taken() > 0);
    let at = endless.or_else(heard)?;
    downloads.get_mut(at)
}

/// Removes a canceled download. The browser removes it, too, but only some time after its event.
/// The file has the second name until it is complete.
fn remove_canceled(folder: &Path, id: &str) {
    for name in [id.to_owned(), format!("{id}.crdownload")] {
        let _ = fs::remove_file(folder.join(name));
    }
}

/// An unused path in a folder, for a name that comes from outside.
fn free_path(folder: &Path, suggested: &str) -> PathBuf {
    // A page may name a path, in the way of either system.
    let name = suggested.rsplit(['/', '\\']).next().map(|name| name.replace(char::is_control, ""));
    let name = name
        .filter(|name| !matches!(&**name, "" | "." | ".."))
        .unwrap_or_else(|| "download".to_owned());
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
    /// The downloads that have ended since the last action began, in the order of their start.
    pub(crate) fn downloads(&self) -> Vec<Download> {
        let folder = self.downloads_folder();
        let mut state = self.tracker.lock();
        let act = state.part_mut::<ActState>();
        let before = act.downloads_before_action;
        act.downloads
            .iter_mut()
            .skip(before)
            .filter_map(|download| download.finish(&folder))
            .collect()
    }

    /// Directs the downloads of a context to a new, empty folder.
    pub(crate) async fn set_download_folder(&self, context: Option<&str>) -> Result<(), Error> {
        let folder = self.downloads_folder();
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::Profile(error));
            }
            _ => fs::create_dir(&folder).map_err(Error::Profile)?,
        }
        let params = json!({
            // Files are named by the download's id: a name of the page's could be that of another
            // file.
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

    fn download(id: &str, received: u64, size: Option<u64>) -> DownloadState {
        let (url, suggested) = (String::new(), String::new());
        let id = id.to_owned();
        DownloadState {
            id,
            url,
            suggested,
            received,
            size,
            refused: false,
            ended: None,
            finished: None,
        }
    }

    /// The ids of the downloads that go when `heard` is told of.
    fn beyond(downloads: &mut [DownloadState], heard: &str) -> Vec<String> {
        let mut gone = vec![];
        while let Some(download) = first_beyond(downloads, 100, heard) {
            download.refused = true;
            gone.push(download.id.clone());
        }
        gone
    }

    #[test]
    fn one_that_never_ends_takes_no_place_of_the_others() {
        let mut downloads = [download("endless", 400, None), download("small", 1, Some(1))];
        assert_eq!(beyond(&mut downloads, "small"), ["endless"]);
        // Its cancellation is under way. Until then others are judged as if it were gone.
        downloads[0].received = 500;
        assert!(beyond(&mut downloads, "small").is_empty());
    }

    #[test]
    fn those_of_known_size_fit_in_the_order_of_their_start() {
        let mut downloads = [download("first", 1, Some(60)), download("second", 50, Some(50))];
        assert_eq!(beyond(&mut downloads, "second"), ["second"]);
        downloads[0].ended = Some(DownloadEnd::Completed);
        let mut downloads = [downloads[0].clone(), download("third", 40, Some(40))];
        assert!(beyond(&mut downloads, "third").is_empty());
    }

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
