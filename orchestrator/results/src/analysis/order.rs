//! Finds the first difference in the orders of events of two episodes.

use std::fmt;

use serde::Serialize;

/// The number of events that are shown before the first one that differs, and from there on.
const BEFORE: usize = 20;
const AFTER: usize = 5;
/// The most events of an episode that are kept.
pub const MOST: usize = 200_000;

/// The first event that differs, with those around it. Each is a line of `order.txt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderDifference {
    /// The number of its line, from 1.
    pub line: usize,
    /// The last events before it, as the left episode has them.
    pub before: Vec<String>,
    /// The left episode's events from there on.
    pub left: Vec<String>,
    /// The right episode's events from there on.
    pub right: Vec<String>,
}

impl OrderDifference {
    /// Compares two orders. Times do not count: an event is not the cause of when it happens. An
    /// order that was not kept is not compared.
    pub fn between(left: &[String], right: &[String]) -> Option<OrderDifference> {
        if left.is_empty() || right.is_empty() {
            return None;
        }
        let equal = left
            .iter()
            .zip(right)
            .take_while(|(left, right)| without_time(left) == without_time(right));
        let at = equal.count();
        if at == left.len().max(right.len()) {
            return None;
        }
        let from = |lines: &[String]| lines.iter().skip(at).take(AFTER).cloned().collect();
        Some(OrderDifference {
            line: at + 1,
            before: left[at.saturating_sub(BEFORE)..at].to_vec(),
            left: from(left),
            right: from(right),
        })
    }
}

impl fmt::Display for OrderDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  the order of events parts in line {} of order.txt:", self.line)?;
        for line in &self.before {
            write!(f, "\n    {line}")?;
        }
        for (sign, lines) in [('-', &self.left), ('+', &self.right)] {
            for line in lines {
                write!(f, "\n  {sign} {line}")?;
            }
            if lines.is_empty() {
                write!(f, "\n  {sign} (none)")?;
            }
        }
        Ok(())
    }
}

/// A line of `order.txt`: an event, as `browser::Session::take_order` tells it, with its step.
pub fn at_step(step: u32, event: &str) -> String {
    format!("{step:>3}  {event}")
}

/// The step of an event, and what follows its time.
fn without_time(line: &str) -> (&str, &str) {
    let (step, rest) = line.trim_start().split_once(' ').unwrap_or((line, ""));
    let (_, event) = rest.trim_start().split_once(' ').unwrap_or(("", rest));
    (step, event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[&str]) -> Vec<String> {
        text.iter().map(|&line| line.to_owned()).collect()
    }

    #[test]
    fn orders_part_at_the_first_event_that_is_another_one() {
        let left =
            lines(&["  1     0.0  page       timer 50", "  1     0.5  page       response 200 a"]);
        let mut right =
            lines(&["  1     0.1  page       timer 50", "  1     0.5  page       animation frame"]);
        let parted = OrderDifference::between(&left, &right).unwrap();
        assert_eq!((parted.line, parted.before.len()), (2, 1));
        let text = parted.to_string();
        assert!(text.contains("\n  -   1     0.5  page       response 200 a\n  +   1"), "{text}");
        right.pop();
        assert!(OrderDifference::between(&left, &right).unwrap().to_string().ends_with("+ (none)"));
        assert_eq!(OrderDifference::between(&left, &[]), None, "one has not kept it");
        assert_eq!(OrderDifference::between(&left[..1], &right), None, "times do not count");
    }

    #[test]
    fn an_event_of_another_step_is_another_one() {
        let (left, right) =
            (lines(&["  1     0.0  page  timer 50"]), lines(&["  2     0.0  page  timer 50"]));
        assert!(OrderDifference::between(&left, &right).is_some());
    }

    #[test]
    fn the_last_twenty_events_are_told() {
        let left: Vec<String> =
            (0..40).map(|number| format!("  1     0.0  page  timer {number}")).collect();
        let mut right = left.clone();
        right.swap(30, 31);
        let parted = OrderDifference::between(&left, &right).unwrap();
        assert_eq!((parted.line, parted.before.len(), parted.left.len()), (31, BEFORE, AFTER));
    }
}
