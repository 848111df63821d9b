//! The state of acting that the browser's events change: dialogs, downloads, file choosers and
//! drags.

use serde_json::Value;

use crate::Dialog;
use crate::act::dialogs::{self, DialogPolicy};
use crate::act::downloads::DownloadState;
use crate::act::upload::FileChooser;
use crate::cdp::tracker::{BrowserEvent, BrowserState, EventSink};

/// The part of the [`Tracker`](crate::cdp::tracker::Tracker)'s state about actions.
#[derive(Debug, Default)]
pub(crate) struct ActState {
    /// The numbers of dialogs and of downloads when the last action began.
    pub(crate) dialogs_before_action: usize,
    pub(crate) downloads_before_action: usize,
    /// Dialogs with their answers.
    pub(crate) dialogs: Vec<Dialog>,
    /// The agent's policy for dialogs.
    pub(crate) dialog_policy: Option<DialogPolicy>,
    /// Files that pages had the browser save.
    pub(crate) downloads: Vec<DownloadState>,
    /// The file chooser that a page has opened.
    pub(crate) file_chooser: Option<FileChooser>,
    /// The data of a drag that the browser left to us.
    pub(crate) intercepted_drag: Option<Value>,
}

impl ActState {
    /// Attributes later dialogs and downloads to the next action.
    pub(crate) fn begin_action(&mut self) {
        self.dialogs_before_action = self.dialogs.len();
        self.downloads_before_action = self.downloads.len();
    }
}

impl EventSink for ActState {
    fn on_event(&mut self, state: &mut BrowserState, event: &BrowserEvent<'_>) {
        let BrowserEvent { cdp, session, method, params } = *event;
        match method {
            "Input.dragIntercepted" => self.intercepted_drag = params.get("data").cloned(),
            "Browser.downloadWillBegin" => self.on_download_begin(state, cdp, params),
            "Browser.downloadProgress" => self.on_download_progress(state, cdp, params),
            "Page.fileChooserOpened" => self.file_chooser = FileChooser::of(params),
            "Page.javascriptDialogOpening" if !state.externally_driven => {
                let (answer, dialog) = dialogs::answer(params, self.dialog_policy.as_ref());
                cdp.send(session, "Page.handleJavaScriptDialog", answer);
                self.dialogs.push(dialog);
            }
            _ => {}
        }
    }

    fn is_downloading(&self) -> bool {
        self.downloads.iter().any(DownloadState::is_under_way)
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}
