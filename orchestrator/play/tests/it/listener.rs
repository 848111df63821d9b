//! Hears what a run tells.

use std::sync::{Arc, Mutex};

use play::{Event, Progress};

/// Keeps the names of events.
pub(crate) fn listener() -> (Progress, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = heard.clone();
    let progress: Progress = Arc::new(move |event: Event<'_>| {
        let text = match event {
            Event::Planned { episodes, done } => format!("planned {episodes}, {done} done"),
            Event::BringingUp { worker } => format!("{worker}: bringing up"),
            Event::Started { worker, episode } => format!("{worker}: {episode}"),
            Event::Step { worker, step, max_steps, .. } => {
                format!("{worker}: step {step} of {max_steps}")
            }
            Event::Ended { worker, record, .. } => {
                format!("{worker}: {} {}", record.outcome.kind(), record.score.unwrap_or(f64::NAN))
            }
            _ => return,
        };
        if let Ok(mut heard) = ears.lock() {
            heard.push(text);
        }
    });
    (progress, heard)
}
