//! Progress bars: on a terminal a line that redraws itself, elsewhere nothing.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use search::IndexProgress;

use crate::terminal::clean;

/// Shows what is being done. Bars write to the terminal by themselves, so what others have written
/// in it is cleaned here.
#[expect(clippy::disallowed_methods, reason = "the text is clean")]
pub(crate) fn say(bar: &ProgressBar, text: impl AsRef<str>) {
    bar.set_message(clean::text(text.as_ref()).into_owned());
}

/// A bar over a known number of things.
pub(crate) fn bar(total: u64, doing: &str) -> ProgressBar {
    counting(ProgressBar::new(total), doing)
}

/// A short bar over a known number of things, with room for what is being done.
pub(crate) fn described(total: u64, doing: &str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{bar:20} {pos}/{len} {eta} {wide_msg}"));
    say(&bar, doing);
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// A bar that appears once [`advance`] tells how much there is to do.
pub(crate) fn unknown(doing: &str) -> ProgressBar {
    counting(ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden()), doing)
}

/// Shows how much is done of how much.
pub(crate) fn advance(bar: &ProgressBar, done: u64, total: u64) {
    if bar.length() != Some(total) {
        bar.set_length(total);
        bar.set_draw_target(ProgressDrawTarget::stderr());
    }
    bar.set_position(done);
}

/// Shows how much of the recorded pages is indexed.
pub(crate) fn advance_indexing(bar: &ProgressBar, at: &IndexProgress) {
    say(bar, at.to_string());
    advance(bar, at.pages, at.most_pages.max(at.pages));
}

/// A bar that is there already, to look as one over a known number of things.
pub(crate) fn counting(bar: ProgressBar, doing: &str) -> ProgressBar {
    bar.set_style(style("{msg} {wide_bar} {pos}/{len} {eta}"));
    say(&bar, doing);
    bar
}

/// A bar over bytes.
pub(crate) fn bytes(total: u64, doing: &str) -> ProgressBar {
    let bar = ProgressBar::new(total);
    bar.set_style(style("{msg} {wide_bar} {bytes}/{total_bytes} {eta}"));
    say(&bar, doing);
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
    say(&bar, doing);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates above are valid")
}

/// A text after the beginning of its first line, wrapped between words where stdout is a terminal.
/// The other lines begin below the text. Elsewhere it stays one line, which programs can search.
pub(crate) fn wrap(beginning: &str, text: &str) -> String {
    match terminal() {
        Some(width) => hang(beginning, text, width),
        None => format!("{beginning}{text}"),
    }
}

/// The same for a width in columns.
pub(crate) fn hang(beginning: &str, text: &str, width: usize) -> String {
    let indent = " ".repeat(beginning.chars().count());
    // A word that is longer stays whole: it may be a path or a command.
    let options = textwrap::Options::new(width).break_words(false);
    let options = options.initial_indent(beginning).subsequent_indent(&indent);
    textwrap::fill(text, options.word_splitter(textwrap::WordSplitter::NoHyphenation))
}

/// Columns of the terminal; 80 where stdout is none.
pub(crate) fn columns() -> usize {
    terminal().unwrap_or(80)
}

/// Columns of the terminal that stdout goes to, if it goes to one.
pub(crate) fn terminal() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into())
}
