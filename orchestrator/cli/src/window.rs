//! A window for a person, in which snapshots are the web: `sandbox replay --open`.

use std::sync::Arc;

use actions::Action;
use browser::{Launch, Session};
use gateway::{CertificateAuthority, Gateway};
use play::browser_state;
use tokio_util::sync::CancellationToken;

use crate::failure::{OrFail as _, Outcome};
use crate::terminal::out;

/// What the window begins with.
pub(crate) struct WindowStart {
    /// The page that is shown first; an empty one where there is none.
    pub(crate) url: Option<String>,
    /// What pages had kept when they were recorded.
    pub(crate) browser_state: browser::StorageState,
}

/// Opens a Chromium of its own profile, which trusts the gateway's certificates and reaches nothing
/// but the gateway, and waits until its window is closed or `cancel` is.
pub(crate) async fn show(
    gateway: &Gateway,
    ca: &Arc<CertificateAuthority>,
    opening: &WindowStart,
    cancel: &CancellationToken,
) -> Outcome {
    let launch = Launch::new(gateway, ca.spki_sha256_base64());
    let launch = Launch { headless: false, ..launch };
    let mut session = Session::start(&launch).await.or_environment("open a window")?;
    browser_state::restore(&mut session, &opening.browser_state)
        .await
        .or_environment("give the browser what pages had kept")?;
    if let Some(url) = &opening.url
        && let Err(error) = session.act(&Action::Goto { url: url.clone() }).await
    {
        out::warn(&format!("{url} did not load: failed to {}", error_text::with_causes(&error)));
    }
    tokio::select! {
        () = session.wait_until_closed() => {}
        () = cancel.cancelled() => {}
    }
    session.close().await.or_environment("close the window")
}
