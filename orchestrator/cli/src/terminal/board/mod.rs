//! How a run goes, on stderr: on a terminal lines that redraw themselves, elsewhere a line for each
//! episode and one for all of them now and then. Where more is logged, as with `-v`, both are part
//! of the log.

mod bars;
mod lines;

use std::io::IsTerminal as _;

use bars::Bars;
use lines::Lines;
pub(crate) use lines::PROGRESS;
use play::Progress;

use crate::terminal::out;

/// Shows how a run goes until it is cleared.
pub(crate) enum Board {
    Bars(Bars),
    Lines(Lines),
}

impl Board {
    /// As it suits where stderr goes. Called in the runtime.
    pub(crate) fn new() -> Board {
        // Bars would be torn by a log.
        if std::io::stderr().is_terminal() && !lines::is_logged() {
            Board::Bars(Bars::new())
        } else {
            Board::Lines(Lines::new())
        }
    }

    /// Shows a run's events.
    pub(crate) fn progress(&self) -> Progress {
        match self {
            Board::Bars(bars) => bars.progress(),
            Board::Lines(lines) => lines.progress(),
        }
    }

    /// Shows what the part on a line is at; nothing, if the text is empty.
    pub(crate) fn at(&self, line: usize, text: &str) {
        match self {
            Board::Bars(bars) => bars.at(line, text.to_owned()),
            Board::Lines(lines) => lines.at(line, text),
        }
    }

    /// Shows how the parts of a run on a cluster stand.
    pub(crate) fn parts(&self, text: &str) {
        match self {
            Board::Bars(bars) => bars.parts(text),
            Board::Lines(lines) => lines.parts(text),
        }
    }

    /// Prints a warning, without tearing what is shown.
    pub(crate) fn warn(&self, text: &str) {
        match self {
            Board::Bars(bars) => bars.suspend(|| out::warn(&text)),
            Board::Lines(_) => out::warn(&text),
        }
    }

    /// Shows nothing more.
    pub(crate) fn clear(&self) {
        match self {
            Board::Bars(bars) => bars.clear(),
            Board::Lines(lines) => lines.clear(),
        }
    }
}
