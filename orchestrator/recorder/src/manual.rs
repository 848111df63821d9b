//! A person browses in a window; every page they open is taken down by the gateway.

use browser::{Action, Session};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::Error;

/// Opens the first URL and waits until the person closes the window or `cancel` is.
pub async fn by_hand(session: &mut Session, urls: &[Url], cancel: &CancellationToken) -> Result<(), Error> {
    if let Some(url) = urls.first()
        && let Err(error) = session.act(&Action::Goto { url: url.to_string() }).await
    {
        tracing::warn!(%url, %error, "the first page did not load");
    }
    tokio::select! {
        () = session.wait_until_closed() => {}
        () = cancel.cancelled() => {}
    }
    Ok(())
}
