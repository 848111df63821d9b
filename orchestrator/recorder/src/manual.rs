//! Manual recording: a person browses in a window, and the gateway records every page.

use actions::Action;
use browser::Session;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::Error;

/// Opens each URL in a tab of its own, with the first one in front, and waits until the person
/// closes the window or `cancel` fires.
pub async fn by_hand(
    session: &mut Session,
    urls: &[Url],
    cancel: &CancellationToken,
) -> Result<(), Error> {
    for (number, url) in urls.iter().rev().enumerate() {
        let opened = async {
            if number > 0 {
                session.act(&Action::NewTab).await?;
            }
            session.act(&Action::Goto { url: url.to_string() }).await
        };
        tokio::select! {
            opened = opened => if let Err(error) = opened {
                tracing::warn!(%url, %error, "a page did not load");
            },
            () = cancel.cancelled() => return Ok(()),
        }
    }
    tokio::select! {
        () = session.wait_until_closed() => {}
        () = cancel.cancelled() => {}
    }
    Ok(())
}
