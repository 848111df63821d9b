//! The browser's state at the end of a recording: cookies, `localStorage` and `sessionStorage`.
//! Pages start with it when the snapshot is replayed.

use browser::{Entry, Session, StorageState};
use snapshots::{BrowserState, Storage};

use crate::{Error, RecordingGateway};

/// Reads the browser's state and stores it in the recording. The tab leaves its page for that.
///
/// # Errors
/// When no page is open, the browser is gone, or the recording cannot be written.
pub async fn keep_state(session: &mut Session, studio: &RecordingGateway) -> Result<(), Error> {
    let state = written(&session.storage_state().await?);
    studio.set_browser_state(&state)
}

fn written(state: &StorageState) -> BrowserState {
    let entries = |entries: &[Entry]| {
        entries.iter().map(|Entry { name, value }| (name.clone(), value.clone())).collect()
    };
    let (mut local_storage, mut session_storage) = (Storage::new(), Storage::new());
    for origin in &state.origins {
        for (storage, kept) in [
            (&mut local_storage, &origin.local_storage),
            (&mut session_storage, &origin.session_storage),
        ] {
            if !kept.is_empty() {
                storage.insert(origin.origin.clone(), entries(kept));
            }
        }
    }
    // Both types have the same field names.
    let cookies = state.cookies.iter().filter_map(|cookie| {
        let fields = serde_json::to_value(cookie).ok()?;
        serde_json::from_value(fields).ok()
    });
    BrowserState { cookies: cookies.collect(), local_storage, session_storage }
}
