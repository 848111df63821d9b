//! One page visit: load, settle, scroll to the end, and read title, text and links.

use std::time::Duration;

use browser::{Action, Session};
use gateway::InFlight;
use snapshots::{Page, Timestamp};
use url::Url;

use crate::Error;

/// The result of a visit.
pub(crate) enum VisitOutcome {
    /// The page in its final state, and the URLs of its links.
    Page { page: Page, links: Vec<Url> },
    /// The page did not load; the text says why.
    Failed(String),
}

/// Loads `url` and scrolls to its end, so that lazy content loads. Then reads title, text and
/// links.
pub(crate) async fn visit(
    session: &mut Session,
    in_flight: &InFlight,
    url: &Url,
    deadline: Duration,
) -> Result<VisitOutcome, Error> {
    let started = Timestamp::now();
    if let Err(error) = session.act(&Action::Goto { url: url.to_string() }).await {
        return failed(error.to_string());
    }
    // The page did load, so one that is never idle counts as it is at the deadline.
    settle(session, in_flight, deadline).await;
    session.scroll_to_end(in_flight, deadline).await?;

    let address = session.url().await?;
    if address.starts_with("chrome-error:") {
        return failed("the browser shows an error page".to_owned());
    }
    let links = session.links().await?;
    let mut page = Page::new(address, started);
    page.title = Some(session.title().await?);
    page.text = Some(session.page_text().await?);
    Ok(VisitOutcome::Page { page, links: links.iter().filter_map(|link| Url::parse(link).ok()).collect() })
}

/// The text of a page that is not added to the page list. `None` if it cannot be read.
pub(crate) async fn text_of(
    session: &mut Session,
    in_flight: &InFlight,
    url: &str,
    deadline: Duration,
) -> Option<String> {
    session.act(&Action::Goto { url: url.to_owned() }).await.ok()?;
    settle(session, in_flight, deadline).await;
    session.page_text().await.ok()
}

async fn settle(session: &mut Session, in_flight: &InFlight, deadline: Duration) {
    if let Err(error) = session.settle(in_flight, deadline).await {
        tracing::info!(%error, "page did not settle");
    }
}

fn failed(why: String) -> Result<VisitOutcome, Error> {
    Ok(VisitOutcome::Failed(why))
}
