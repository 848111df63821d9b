//! Asks again for what a visit has seen of a site, so that a recording has the states before and
//! after a write. What is asked is said by [`crate::record::Visit`].

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http::Extensions;
use http::header::LOCATION;
use http_body_util::BodyExt as _;
use hyper::body::Bytes;
use snapshots::index::{is_log_out, site_of};
use tokio::time::timeout;
use url::Url;

use super::live;
use crate::gateway::Shared;
use crate::record::{AskedIn, Asker, Draft, RequestCopy};
use crate::routes::Target;
use crate::{Recorder, Reply, RequestHead, Visit, body};

/// How long a write may have to wait for it. What was not asked by then is not.
const DEADLINE: Duration = Duration::from_secs(15);
/// How many redirects of one request are followed.
const REDIRECTS: usize = 3;
/// How many requests are sent at once: no more than a browser's.
const AT_ONCE: usize = 4;

/// Asks again, if this request may be a write.
pub(super) async fn before_write(
    shared: &Shared,
    recorder: &Arc<Recorder>,
    visit: &Arc<Visit>,
    head: &RequestHead,
    body: &Bytes,
) {
    if visit.asks_again() && head.may_change(body) {
        ask(shared, recorder, visit, &site_of(&head.host)).await;
    }
}

/// Asks again for what was seen of all sites that have changed.
pub(crate) async fn at_the_end(shared: &Shared, recorder: &Arc<Recorder>, visit: &Arc<Visit>) {
    let sites = visit.changed();
    let all = sites.iter().map(|site| ask(shared, recorder, visit, site));
    // Each has a deadline of its own.
    futures_util::future::join_all(all).await;
}

/// Asks again for what was seen of a site.
async fn ask(shared: &Shared, recorder: &Arc<Recorder>, visit: &Arc<Visit>, site: &str) {
    let lock = visit.lock_of(site);
    let _one_at_a_time = lock.lock().await;
    let requests = visit.to_ask(site).into_iter();
    let all = stream::iter(requests.map(|head| ask_one(shared, recorder, visit, head)));
    if timeout(DEADLINE, all.buffer_unordered(AT_ONCE).for_each(std::future::ready)).await.is_err()
    {
        tracing::info!(site, "the site was too slow to be asked again for all that was seen");
    }
}

/// Asks for one, and for what it leads to.
async fn ask_one(shared: &Shared, recorder: &Arc<Recorder>, visit: &Arc<Visit>, head: RequestHead) {
    let (mut next, mut asker) = (Some(head), Asker::Recorder);
    for _ in 0..=REDIRECTS {
        let Some(head) = next else { return };
        let target = send(shared, recorder, AskedIn::new(visit, &head, asker)).await;
        next = target.and_then(|url| visit.redirect_request(&head, url));
        asker = Asker::RecorderRedirect;
    }
}

/// Sends one request, and records its answer. Where it leads on its origin.
async fn send(shared: &Shared, recorder: &Arc<Recorder>, asked: AskedIn) -> Option<Url> {
    let (routes, head) = (shared.routes(), asked.head.clone());
    if !matches!(routes.target(&head.host, head.port), Target::Record(_) | Target::Fill(_)) {
        return None;
    }
    let draft = Draft::begin(recorder, Some(asked), &head, RequestCopy::whole(&Bytes::new()));
    match shared.upstream.send(head.server(), &head, Extensions::new(), body::empty()).await {
        Ok(arrived) => {
            let mut reply = live::record_response(draft, arrived).await.reply;
            // What breaks off is counted by the recorder.
            while let Some(Ok(_)) = reply.body.frame().await {}
            leads_to(&head, &reply)
        }
        Err(error) => {
            draft.unanswered(&error);
            None
        }
    }
}

/// Where an answer leads on the same origin.
fn leads_to(head: &RequestHead, reply: &Reply) -> Option<Url> {
    let location = reply.headers.get(LOCATION).filter(|_| reply.status.is_redirection())?;
    let from = Url::parse(&head.url).ok()?;
    let mut url = from.join(location.to_str().ok()?).ok()?;
    url.set_fragment(None);
    (url.origin() == from.origin() && !is_log_out(url.as_str())).then_some(url)
}
