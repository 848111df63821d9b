//! Events of sites, as commands show them.

use std::sync::Arc;

use indicatif::ProgressBar;
use runs::Progress;
use sites::Event;

use crate::terminal::out;
use crate::terminal::progress;

/// Shows events of sites in a bar, and no others.
pub(crate) fn show_sites(bar: &ProgressBar) -> Progress {
    let bar = bar.clone();
    Arc::new(move |event| {
        let runs::Event::Site(event) = event else { return };
        if let Some(warning) = event.warning() {
            bar.suspend(|| out::warn(&warning));
        } else if let Some(text) = describe(event) {
            progress::say(&bar, text);
        }
    })
}

/// What a progress bar shows of an event; nothing of those that are of no interest while all goes
/// well.
pub(crate) fn describe(event: &Event) -> Option<String> {
    Some(match event {
        Event::Starting { site, .. } => format!("starting {site}"),
        Event::Waiting { site, condition, .. } => format!("{site} waits for {condition}"),
        Event::Ready { site, took, .. } => {
            format!("{site} is ready after {:.1} s", took.as_secs_f64())
        }
        Event::Failed { site, error, .. } => format!("{site} failed to {error}"),
        Event::Drifted { site, difference, .. } => format!("{site} failed to reset: {difference}"),
        Event::Unlimited { why } => format!("sites run with fewer limits: {why}"),
        Event::EngineGone { host, why } => {
            format!("the container engine at {host} does not answer ({why})")
        }
        Event::EngineBack { host } => format!("the container engine at {host} answers again"),
        // They are warnings.
        Event::Exposed { .. } | Event::Reachable { .. } => return None,
        Event::Swept { .. } | Event::Recycled { .. } | Event::Stopped { .. } => return None,
    })
}
