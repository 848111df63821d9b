//! The differences between an observation and the previous one, line by line.

use std::ops::Range;
use std::time::{Duration, Instant};

use serde::Serialize;
use similar::{Algorithm, DiffOp};

use crate::counted;

/// Number of unchanged lines shown around a change.
const CONTEXT: usize = 2;
/// Maximum number of lines shown. On a new page all lines differ.
const LIMIT: usize = 400;
/// After this time the remaining lines count as changed.
const PATIENCE: Duration = Duration::from_secs(1);

/// The changes, in the order of the tree.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Changes {
    pub(super) added: usize,
    pub(super) removed: usize,
    lines: Vec<Line>,
    /// Number of lines left out.
    left_out: usize,
}

/// A line with its kind.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Line {
    kind: Kind,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Same,
    Added,
    Removed,
    /// Stands for unchanged lines.
    Gap,
}

/// Compares two trees. Element ids are ignored, because a new element at the top changes all of
/// them.
pub(super) fn changes(before: &str, after: &str) -> Changes {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    let old: Vec<_> = before.iter().map(|line| apart(line)).collect();
    let new: Vec<_> = after.iter().map(|line| apart(line)).collect();
    let until = Some(Instant::now() + PATIENCE);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Patience, &old, &new, until);
    let mut found = Changes::default();
    let mut shown = 0;
    for group in similar::group_diff_ops(ops, CONTEXT) {
        let Some(first) = group.first() else { continue };
        found.gap(first.new_range().start - shown);
        for op in &group {
            match *op {
                DiffOp::Equal { new_index, len, .. } => {
                    found.add(Kind::Same, &after, new_index..new_index + len);
                }
                _ => {
                    found.add(Kind::Removed, &before, op.old_range());
                    found.add(Kind::Added, &after, op.new_range());
                }
            }
            shown = op.new_range().end;
        }
    }
    if !found.lines.is_empty() {
        found.gap(after.len() - shown);
    }
    found.left_out = found.lines.len().saturating_sub(LIMIT);
    found.lines.truncate(LIMIT);
    found
}

impl Changes {
    fn add(&mut self, kind: Kind, lines: &[&str], range: Range<usize>) {
        match kind {
            Kind::Added => self.added += range.len(),
            Kind::Removed => self.removed += range.len(),
            Kind::Same | Kind::Gap => {}
        }
        self.lines.extend(lines[range].iter().map(|line| Line { kind, text: (*line).to_owned() }));
    }

    fn gap(&mut self, lines: usize) {
        if lines > 0 {
            self.lines.push(Line { kind: Kind::Gap, text: counted(lines, "line") });
        }
    }
}

/// The text before and after an element's id in a line of the tree.
fn apart(line: &str) -> (&str, &str) {
    let rest = line.trim_start_matches('\t');
    let (indent, _) = line.split_at(line.len() - rest.len());
    let id = rest.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match id {
        Some((id, rest)) if id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => (indent, rest),
        _ => (indent, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes_text(before: &str, after: &str) -> String {
        let mut text = String::new();
        for line in changes(before, after).lines {
            let mark = match line.kind {
                Kind::Same => ' ',
                Kind::Added => '+',
                Kind::Removed => '-',
                Kind::Gap => '~',
            };
            text.push_str(&format!("{mark}{}\n", line.text));
        }
        text
    }

    #[test]
    fn equal_trees_have_no_changes_whatever_their_ids() {
        assert_eq!(changes("Root\n\t[1] link 'a'", "Root\n\t[2] link 'a'"), Changes::default());
    }

    #[test]
    fn changes_stand_among_the_lines_around_them() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh";
        assert_eq!(
            changes_text(before, "a\nb\nc\nD\ne\nf\ng\nh"),
            "~1 line\n b\n c\n-d\n+D\n e\n f\n~2 lines\n"
        );
        assert_eq!(changes_text(before, "z\na\nb\nc\nd\ne\nf\ng\nh"), "+z\n a\n b\n~6 lines\n");
        let found = changes(before, "b\nc\nd\ne\nf\ng\nh\ni\nj");
        assert_eq!((found.added, found.removed), (2, 1));
    }

    #[test]
    fn depth_and_names_in_brackets_count() {
        assert_eq!(
            changes_text("\t[1] link 'a'", "\t\t[1] link 'a'"),
            "-\t[1] link 'a'\n+\t\t[1] link 'a'\n"
        );
        assert_eq!(changes_text("[x y] a", "[z w] a"), "-[x y] a\n+[z w] a\n");
    }

    #[test]
    fn a_new_page_is_cut() {
        let page = |word: &str| (0..1_000).map(|n| format!("{word} {n}\n")).collect::<String>();
        let found = changes(&page("old"), &page("new"));
        assert_eq!((found.added, found.removed), (1_000, 1_000));
        assert_eq!((found.lines.len(), found.left_out), (LIMIT, 2_000 - LIMIT));
    }
}
