//! What is shown of a run whose parts are followed.

use cluster::follow::Event;
use parking_lot::Mutex;

use super::lines::Lines;
use crate::terminal::board::Board;
use crate::terminal::out;

/// The board, as long as parts are followed.
#[derive(Default)]
pub(super) struct Shown(Mutex<Option<(Board, Lines)>>);

impl Shown {
    /// Shows what has happened.
    pub(super) fn tell(&self, event: Event<'_>) {
        let mut shown = self.0.lock();
        match event {
            Event::Planned { episodes, done } => {
                let board = Board::new();
                (board.progress())(play::Event::Planned { episodes, done });
                *shown = Some((board, Lines::default()));
            }
            Event::Warning(text) => match &*shown {
                Some((board, _)) => board.warn(text),
                None => out::warn(&text),
            },
            Event::Interrupted { again_within } => {
                if let Some((board, _)) = &*shown {
                    board.clear();
                }
                out::warn(&format!(
                    "interrupted; the jobs go on (interrupt again within {} s to cancel them)",
                    again_within.as_secs()
                ));
            }
            Event::Over => {
                if let Some((board, _)) = shown.take() {
                    board.clear();
                }
            }
            Event::Ended { .. } | Event::Doing(_) | Event::Overview(_) => {
                if let Some((board, lines)) = &mut *shown {
                    show(board, lines, event);
                }
            }
        }
    }
}

fn show(board: &Board, lines: &mut Lines, event: Event<'_>) {
    match event {
        Event::Ended { part, record } => {
            let (worker, episode) = (lines.of(part), &record.id());
            (board.progress())(play::Event::Ended { worker, episode, record });
        }
        Event::Doing(doing) => lines.show(board, doing),
        Event::Overview(text) => board.parts(text),
        _ => {}
    }
}
