//! Progress bars: on a terminal a line that redraws itself, elsewhere nothing.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over a known number of things.
pub(crate) fn bar(total: u64, doing: &str) -> ProgressBar {
    counting(ProgressBar::new(total), doing)
}

/// A bar that is there already, to look as one over a known number of things.
pub(crate) fn counting(bar: ProgressBar, doing: &str) -> ProgressBar {
    bar.set_style(style("{msg} {wide_bar} {pos}/{len} {eta}"));
    bar.set_message(doing.to_owned());
    bar
}

/// A bar over bytes.
pub(crate) fn bytes(total: u64, doing: &str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{msg} {wide_bar} {bytes}/{total_bytes} {eta}"));
    bar.set_message(doing.to_owned());
    bar
}

/// A line of words under a bar.
pub(crate) fn line() -> ProgressBar {
    let line = ProgressBar::new_spinner();
    line.set_style(style("{wide_msg}"));
    line
}

/// A spinner for work of unknown length; it turns without being told to.
pub(crate) fn spinner(doing: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(style("{spinner} {wide_msg}"));
    bar.set_message(doing.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates above are valid")
}

/// Columns of the terminal; 80 where stdout is none.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}
