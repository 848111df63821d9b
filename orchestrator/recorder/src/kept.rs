//! What pages have kept in the browser when a recording ends: cookies and storage, for pages of the
//! snapshot to begin with when it is replayed.

use browser::{Entry, Session, StorageState};
use snapshots::{BrowserState, Storage};

use crate::{Error, Studio};

/// Reads it, and makes it part of the recording. The tab leaves its page for that.
///
/// # Errors
/// When no page is open any more, the browser is gone, or it cannot be written.
pub async fn keep_state(session: &mut Session, studio: &Studio) -> Result<(), Error> {
    let state = written(&session.storage_state().await?);
    studio.set_browser_state(&state)
}

fn written(state: &StorageState) -> BrowserState {
    let entries = |entries: &[Entry]| {
        entries.iter().map(|Entry { name, value }| (name.clone(), value.clone())).collect()
    };
    let (mut local_storage, mut session_storage) = (Storage::new(), Storage::new());
    for origin in &state.origins {
        for (storage, kept) in
            [(&mut local_storage, &origin.local_storage), (&mut session_storage, &origin.session_storage)]
        {
            if !kept.is_empty() {
                storage.insert(origin.origin.clone(), entries(kept));
            }
        }
    }
    // The fields have the same names in both.
    let cookies = state.cookies.iter().filter_map(|cookie| {
        let fields = serde_json::to_value(cookie).ok()?;
        serde_json::from_value(fields).ok()
    });
    BrowserState { cookies: cookies.collect(), local_storage, session_storage }
}
