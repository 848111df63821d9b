//! Which line of the board shows which part.

use std::collections::BTreeMap;

use crate::terminal::board::Board;

/// As many parts are shown at once, so that the rest of the screen is seen.
const MOST: usize = 16;

/// The lines, each with the part that it shows.
#[derive(Default)]
pub(super) struct Lines {
    shown: Vec<Option<u32>>,
}

impl Lines {
    /// The line of a part; the first one if none shows it.
    pub(super) fn of(&self, part: u32) -> usize {
        self.shown.iter().position(|shown| *shown == Some(part)).unwrap_or(0)
    }

    /// Shows what each part is at. A part keeps its line.
    pub(super) fn show(&mut self, board: &Board, doing: &BTreeMap<u32, String>) {
        for line in self.free(doing) {
            board.at(line, "");
        }
        for (part, text) in doing {
            if let Some(line) = self.take(*part) {
                board.at(line, &format!("part {part} on {text}"));
            }
        }
    }

    /// Frees the lines of parts that are at nothing any more, and gives them.
    fn free(&mut self, doing: &BTreeMap<u32, String>) -> Vec<usize> {
        let mut free = Vec::new();
        for (line, shown) in self.shown.iter_mut().enumerate() {
            if shown.is_some_and(|part| !doing.contains_key(&part)) {
                *shown = None;
                free.push(line);
            }
        }
        free
    }

    /// The line of a part, or a free one; none if all are taken.
    fn take(&mut self, part: u32) -> Option<usize> {
        let position = |wanted: Option<u32>| self.shown.iter().position(|shown| *shown == wanted);
        let line = position(Some(part)).or_else(|| position(None)).unwrap_or(self.shown.len());
        if line == MOST {
            return None;
        }
        if line == self.shown.len() {
            self.shown.push(None);
        }
        self.shown[line] = Some(part);
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_lines_and_no_more_are_shown_than_there_is_room_for() {
        let mut lines = Lines::default();
        let taken: Vec<Option<usize>> = (1..=20).map(|part| lines.take(part)).collect();
        assert_eq!(taken[..16], (0..16).map(Some).collect::<Vec<_>>());
        assert_eq!(taken[16..], [None; 4]);
        assert_eq!(lines.take(7), Some(6));
        let mut doing: BTreeMap<u32, String> = (1..=20).map(|part| (part, String::new())).collect();
        doing.remove(&3);
        assert_eq!(lines.free(&doing), [2]);
        assert_eq!(lines.take(20), Some(2));
    }
}
