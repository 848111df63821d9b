//! Events of sites, as commands show them.

use std::sync::Arc;

use indicatif::ProgressBar;
use play::Progress;

use crate::terminal::out;
use crate::terminal::progress;

/// Shows events of sites in a bar, and no others.
pub(crate) fn show_sites(bar: &ProgressBar) -> Progress {
    let bar = bar.clone();
    Arc::new(move |event| {
        let play::Event::Site(event) = event else { return };
        if let Some(warning) = event.warning() {
            bar.suspend(|| out::warn(&warning));
        } else if let Some(text) = event.words() {
            progress::say(&bar, text);
        }
    })
}
