//! One page visit: load, settle, answer a banner about cookies, scroll to the end, read title, text
//! and what the page leads to, and stay for what the page asks for later.

use std::time::{Duration, Instant};

use actions::Action;
use browser::{AccessBarrier, Session, Survey};
use in_flight::InFlight;
use snapshots::{Page, Timestamp};
use url::Url;

use crate::Error;
use crate::plan::Consent;

/// The result of a visit.
pub(crate) enum VisitOutcome {
    /// The page in its final state, and what it leads to.
    Page { page: Box<Page>, survey: Survey },
    /// Something stands in front of the page.
    Wall(AccessBarrier),
    /// The server asks to come back later, by this status.
    Busy(u16),
    /// The page did not load; the text says why.
    Failed(String),
}

/// How pages are visited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitOptions {
    /// Time limit for one page to load and settle.
    pub(crate) deadline: Duration,
    /// How long the page is open at least.
    pub(crate) stay: Duration,
    /// The answer to a banner about cookies.
    pub(crate) consent: Consent,
}

/// Loads `url` and scrolls to its end, so that lazy content loads. Then reads the page.
pub(crate) async fn visit(
    session: &mut Session,
    in_flight: &InFlight,
    url: &Url,
    options: VisitOptions,
) -> Result<VisitOutcome, Error> {
    let (started, opened) = (Timestamp::now(), Instant::now());
    if let Err(error) = session.act(&Action::Goto { url: url.to_string() }).await {
        return Ok(VisitOutcome::Failed(error.to_string()));
    }
    // The page did load, so one that is never idle counts as it is at the deadline.
    settle(session, in_flight, options.deadline).await;
    match read(session, in_flight, url, options, started).await {
        Ok(page @ VisitOutcome::Page { .. }) => {
            stay(
                session,
                in_flight,
                options.stay.saturating_sub(opened.elapsed()),
                options.deadline,
            )
            .await;
            Ok(page)
        }
        Ok(other) => Ok(other),
        // One page must not end the crawl, such as one whose script never ends.
        Err(error) if session.check().is_ok() => Ok(VisitOutcome::Failed(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Reads the page that has settled.
async fn read(
    session: &mut Session,
    in_flight: &InFlight,
    url: &Url,
    options: VisitOptions,
    started: Timestamp,
) -> Result<VisitOutcome, Error> {
    let address = session.url().await?;
    if address.starts_with("chrome-error:") {
        return Ok(VisitOutcome::Failed("the browser shows an error page".to_owned()));
    }
    let survey = session.survey().await?;
    if let Some(wall) = wall(&survey, url, &address) {
        return Ok(VisitOutcome::Wall(wall));
    }
    if matches!(survey.status, 429 | 503) {
        return Ok(VisitOutcome::Busy(survey.status));
    }
    if options.consent != Consent::Leave
        && let Some(label) = session.answer_consent(options.consent == Consent::Accept).await?
    {
        tracing::info!(%url, %label, "answered a banner about cookies");
        settle(session, in_flight, options.deadline).await;
        if session.url().await?.split('#').next() != address.split('#').next() {
            // It has led elsewhere.
            session
                .act(&Action::Goto { url: url.to_string() })
                .await
                .map_err(|error| Error::Reload(error.to_string()))?;
            settle(session, in_flight, options.deadline).await;
        }
    }
    session.scroll_to_end(in_flight, options.deadline).await?;

    let survey = session.survey().await?;
    let mut page = Box::new(Page::new(session.url().await?, started));
    page.title = Some(session.title().await?);
    page.text = Some(session.page_text().await?);
    Ok(VisitOutcome::Page { page, survey })
}

/// Returns the barrier in front of the page, if any. A form to log in counts where another page was
/// asked for.
fn wall(survey: &Survey, asked: &Url, address: &str) -> Option<AccessBarrier> {
    const LOG_IN: [&str; 5] = ["login", "log-in", "signin", "sign-in", "auth"];
    if survey.wall == Some(AccessBarrier::Captcha) {
        return survey.wall;
    }
    let shown = Url::parse(address).ok()?;
    let is_other = (shown.host_str(), shown.path()) != (asked.host_str(), asked.path());
    let path = shown.path().to_lowercase();
    let asks_for_account = survey.wall == Some(AccessBarrier::Login)
        || survey.has_password && LOG_IN.iter().any(|word| path.contains(word));
    (is_other && asks_for_account).then_some(AccessBarrier::Login)
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

/// Lets a page be for `time`. What it asks for meanwhile is recorded: the page of an episode gets
/// more time than to load.
async fn stay(session: &mut Session, in_flight: &InFlight, time: Duration, deadline: Duration) {
    let millis = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
    if millis > 0 && session.act(&Action::Wait { millis }).await.is_ok() {
        settle(session, in_flight, deadline).await;
    }
}

async fn settle(session: &mut Session, in_flight: &InFlight, deadline: Duration) {
    if let Err(error) = session.settle(in_flight, deadline).await {
        tracing::info!(%error, "page did not settle");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_form_to_log_in_is_a_wall_where_something_else_was_asked_for() {
        let asked = Url::parse("https://shop.test/orders").unwrap();
        let form =
            Survey { wall: Some(AccessBarrier::Login), has_password: true, ..Survey::default() };
        let long = Survey { has_password: true, ..Survey::default() };
        for (survey, address, expected) in [
            (&form, "https://shop.test/hello", Some(AccessBarrier::Login)),
            (&form, "https://shop.test/orders?x", None),
            (&long, "https://id.shop.test/SignIn", Some(AccessBarrier::Login)),
            (&long, "https://shop.test/register", None),
            (&Survey::default(), "https://shop.test/login", None),
        ] {
            assert_eq!(wall(survey, &asked, address), expected, "{address}");
        }
    }
}
