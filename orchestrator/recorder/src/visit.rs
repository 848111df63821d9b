//! One page: load it, let it settle, scroll through it, and take down what it says.

use std::time::Duration;

use browser::{Action, Session};
use gateway::InFlight;
use snapshots::{Page, Timestamp};
use url::Url;

use crate::Error;

/// What became of a visit.
pub(crate) enum VisitOutcome {
    /// The page as it stood in the end, and where its links lead.
    Page { page: Page, links: Vec<Url> },
    /// The page did not load; the text says why.
    Failed(String),
}

/// Loads `url`, scrolls to its end so that what loads late is loaded, and reads title, text and links.
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
    // A page that never falls silent is kept as it is at the deadline: it did load.
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

/// The text of a page that is read but not kept as a page. `None` when it cannot be had.
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
