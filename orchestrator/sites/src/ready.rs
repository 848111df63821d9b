//! Waits until an instance is ready: until every condition of the manifest holds, with a deadline.

use std::collections::BTreeMap;
use std::time::Duration;

use http::HeaderMap;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

use crate::Site;
use crate::http::{Answer, Target};
use crate::instance::Instance;
use crate::manifest::Condition;

/// How often a condition is checked.
const EVERY: Duration = Duration::from_millis(25);

/// Waits for all conditions in order. `waiting` is called for each condition that does not hold
/// yet, once for each observed reason. The error is the condition that was still missing at the
/// deadline.
pub(crate) async fn wait(
    site: &Site,
    instance: &Instance,
    waiting: impl Fn(&str),
) -> Result<(), String> {
    let deadline = Instant::now() + site.ready_within.0;
    let target = Target::new(site, &instance.upstream);
    let mut polls = interval(EVERY);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let unnamed = Condition { get: Some("/".to_owned()), status: None, contains: None, exec: None };
    // If the manifest has no conditions, any response is enough.
    let unnamed = BTreeMap::from([("an answer".to_owned(), unnamed)]);
    for (name, condition) in if site.ready.is_empty() { &unnamed } else { &site.ready } {
        let mut seen = String::new();
        loop {
            polls.tick().await;
            let missing =
                match timeout_at(deadline, holds(condition, &target, HeaderMap::new(), instance))
                    .await
                {
                    Ok(Ok(())) => break,
                    Ok(Err(missing)) => missing,
                    Err(_) if seen.is_empty() => "no answer".to_owned(),
                    Err(_) => seen.clone(),
                };
            if missing != seen {
                seen = missing;
                waiting(&format!("`{name}` ({seen})"));
            }
            if Instant::now() >= deadline {
                return Err(format!("`{name}` ({seen})"));
            }
        }
    }
    Ok(())
}

/// Checks a condition once. The error says what was observed instead.
pub(crate) async fn holds(
    condition: &Condition,
    target: &Target,
    headers: HeaderMap,
    instance: &Instance,
) -> Result<(), String> {
    if let Some(path) = &condition.get {
        return agrees(condition, &target.get(path, headers).await?);
    }
    let Some(command) = &condition.exec else { return Ok(()) };
    instance.machine.exec(command, None).await.map(drop).map_err(|error| error.to_string())
}

fn agrees(condition: &Condition, answer: &Answer) -> Result<(), String> {
    let status = answer.status.as_u16();
    match condition.status {
        Some(wanted) if wanted != status => return Err(format!("status {status}, not {wanted}")),
        None if status >= 400 => return Err(format!("status {status}")),
        _ => {}
    }
    match &condition.contains {
        Some(text) if !answer.text().contains(text) => {
            Err(format!("status {status}, but nowhere {text:?}"))
        }
        _ => Ok(()),
    }
}
