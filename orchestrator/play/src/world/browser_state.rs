//! Restores cookies and storage in the pages of an episode, before its first page is opened. They
//! come from the recording of a snapshot, or from a file of the suite.

use std::fs::File;

use browser::{Entry, OriginState, Session, StorageState, StoredCookie};
use camino::Utf8Path;
use snapshots::index::ReplaySet;
use snapshots::{BrowserState, RecordedCookie, Storage};
use url::Url;

use crate::consent::SuiteFiles;
use crate::environment::EnvironmentError;

/// The largest file of cookies and storage in bytes. It may be a stranger's.
const LARGEST: u64 = 64 << 20;

/// Returns the state that the snapshots of a set were recorded with. A later snapshot overrides an
/// earlier one.
pub fn recorded_state(set: &ReplaySet) -> StorageState {
    let mut state = BrowserState::default();
    set.members().for_each(|(archive, _)| state.add(BrowserState::of(archive)));
    let mut origins: Vec<OriginState> = Vec::new();
    let all = state.local_storage.keys().chain(state.session_storage.keys());
    for origin in all.filter(|origin| is_web(origin)) {
        if !origins.iter().any(|known| known.origin == *origin) {
            origins.push(OriginState {
                origin: origin.clone(),
                local_storage: entries(&state.local_storage, origin),
                session_storage: entries(&state.session_storage, origin),
            });
        }
    }
    StorageState { cookies: state.cookies.into_iter().filter_map(cookie).collect(), origins }
}

/// Reads a file of cookies and storage of a suite.
pub(crate) fn read(files: &SuiteFiles, path: &Utf8Path) -> Result<StorageState, EnvironmentError> {
    let doing = || EnvironmentError::while_doing("read a storage state");
    let file = files.storage_state(path).map_err(|why| doing()(why))?;
    parse(&file, path)
}

fn parse(file: &File, path: &Utf8Path) -> Result<StorageState, EnvironmentError> {
    let doing = || EnvironmentError::while_doing("read a storage state");
    let text =
        ::files::read_within(file, LARGEST).map_err(|error| doing()(format!("{path}: {error}")))?;
    file_version::check_values(&text).map_err(|error| doing()(format!("{path}: {error}")))?;
    serde_json::from_slice(&text).map_err(|error| doing()(format!("{path}: {error}")))
}

/// Restores the state in the present episode. A cookie that Chromium refuses, for example one of
/// another scheme, is left out: whoever recorded it had another browser.
///
/// # Errors
/// When the browser is gone, or does not take what pages had stored.
pub async fn restore(session: &mut Session, state: &StorageState) -> Result<(), browser::Error> {
    let alone =
        |cookie: &StoredCookie| StorageState { cookies: vec![cookie.clone()], origins: Vec::new() };
    // One call each, so that a cookie that is refused costs no other.
    for cookie in &state.cookies {
        match session.set_storage_state(&alone(cookie)).await {
            Err(error @ browser::Error::Refused { .. }) => {
                tracing::warn!(%error, name = cookie.name, domain = cookie.domain, "a recorded cookie is left out");
            }
            set => set?,
        }
    }
    if state.origins.is_empty() {
        return Ok(());
    }
    let stored = StorageState { cookies: Vec::new(), origins: state.origins.clone() };
    session.set_storage_state(&stored).await
}

/// Returns whether a page can have this origin.
fn is_web(origin: &str) -> bool {
    Url::parse(origin).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.origin().ascii_serialization() == origin
    })
}

fn entries(storage: &Storage, origin: &str) -> Vec<Entry> {
    let entries = storage.get(origin).into_iter().flatten();
    entries.map(|(name, value)| Entry { name: name.clone(), value: value.clone() }).collect()
}

fn cookie(cookie: RecordedCookie) -> Option<StoredCookie> {
    let mut written = serde_json::to_value(cookie).ok()?;
    let fields = written.as_object_mut()?;
    fields.entry("path").or_insert_with(|| "/".into());
    serde_json::from_value(written).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_state_without_end_is_refused() {
        let keep = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(keep.path()).unwrap().join("state.json");
        std::fs::write(&path, r#"{"cookies": [], "origins": []}"#).unwrap();
        let read = |path: &Utf8Path| parse(&::files::open(path).unwrap(), path);
        assert!(read(&path).is_ok());
        std::fs::File::create(&path).unwrap().set_len(LARGEST + 1).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("it is larger than 67108864 bytes"));
    }

    #[test]
    fn origins_that_no_page_has_are_left_out() {
        for (origin, web) in [
            ("https://shop.test", true),
            ("http://shop.test:8080", true),
            ("https://shop.test/", false),
            ("chrome-extension://abc", false),
            ("null", false),
            ("file://", false),
        ] {
            assert_eq!(is_web(origin), web, "{origin}");
        }
    }
}
