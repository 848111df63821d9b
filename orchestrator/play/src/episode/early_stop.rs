//! Detects that an agent makes no progress, by `early_stop` in `run.py` of WebArena and
//! VisualWebArena.

use actions::Action;
use tasks::StopRules;

/// The replies of an episode, in their order: their actions, or nothing if a reply could not be
/// read.
#[derive(Debug, Default)]
pub(crate) struct Replies(Vec<Option<Vec<Action>>>);

impl Replies {
    /// Adds a reply.
    pub(crate) fn add(&mut self, actions: Option<&[Action]>) {
        self.0.push(actions.map(<[Action]>::to_vec));
    }

    /// Whether the rules end the episode before the next.
    pub(crate) fn are_stuck(&self, rules: StopRules) -> bool {
        let Some(last) = self.0.last() else { return false };
        let in_a_row = |holds: &dyn Fn(&Option<Vec<Action>>) -> bool| {
            self.0.iter().rev().take_while(|reply| holds(reply)).count()
        };
        let equal = |reply: &Option<Vec<Action>>| alike(reply, last);
        let equals = match last.as_deref() {
            // Somebody who types the same twice has mostly done something else between.
            Some([action]) if typed_into(action).is_some() => {
                self.0.iter().filter(|reply| equal(reply)).count()
            }
            _ => in_a_row(&equal),
        };
        let reached = |count: usize, limit: Option<std::num::NonZeroU32>| {
            limit.is_some_and(|limit| count >= limit.get() as usize)
        };
        reached(in_a_row(&Option::is_none), rules.unreadable) || reached(equals, rules.repeats)
    }
}

/// `is_equivalent` of `browser_env/actions.py`, for replies.
fn alike(one: &Option<Vec<Action>>, other: &Option<Vec<Action>>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| equivalent(one, other))
        }
        _ => false,
    }
}

/// Clicks and typing are compared by their element alone, scrolling by its direction.
fn equivalent(one: &Action, other: &Action) -> bool {
    match (one, other) {
        (Action::Click { bid, .. }, Action::Click { bid: other, .. }) => bid == other,
        (Action::ScrollPage { by }, Action::ScrollPage { by: other }) => {
            (*by < 0.0) == (*other < 0.0)
        }
        (Action::Scroll { dy, .. }, Action::Scroll { dy: other, .. }) => {
            (*dy < 0.0) == (*other < 0.0)
        }
        _ => match (typed_into(one), typed_into(other)) {
            (Some(bid), Some(other)) => bid == other,
            _ => one == other,
        },
    }
}

/// The element that an action types into.
fn typed_into(action: &Action) -> Option<&str> {
    match action {
        Action::Fill { bid, .. }
        | Action::FillAndEnter { bid, .. }
        | Action::TypeInto { bid, .. } => Some(bid),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use actions::Dialect;

    use super::*;

    /// Whether replies in WebArena's words are stuck, under its rules.
    fn stuck(replies: &[&str]) -> bool {
        let mut all = Replies::default();
        for reply in replies {
            let actions = Dialect::WebArena.read(&format!("```{reply}```")).ok();
            all.add(actions.as_deref());
        }
        all.are_stuck(StopRules { repeats: NonZeroU32::new(3), unreadable: NonZeroU32::new(3) })
    }

    #[test]
    fn three_equal_actions_one_after_the_other_are_enough() {
        assert!(!stuck(&[]));
        assert!(!stuck(&["click [1]", "click [1]"]));
        assert!(stuck(&["click [2]", "click [1]", "click [1]", "click [1]"]));
        assert!(!stuck(&["click [1]", "click [1]", "click [2]", "click [1]"]));
        assert!(stuck(&["go_back", "go_back", "go_back"]));
        assert!(!stuck(&["scroll [down]", "scroll [up]", "scroll [down]"]));
        assert!(!stuck(&["goto [http://a.test]", "goto [http://b.test]", "goto [http://a.test]"]));
    }

    #[test]
    fn of_typing_the_element_counts_and_the_whole_episode() {
        assert!(stuck(&[
            "type [5] [oak] [1]",
            "click [1]",
            "type [5] [elm] [0]",
            "go_back",
            "type [5] [ash] [1]"
        ]));
        assert!(!stuck(&["type [5] [oak] [1]", "type [5] [oak] [1]", "type [6] [oak] [1]"]));
        // What was typed before does not count against another action.
        assert!(!stuck(&["type [5] [a] [1]", "type [5] [b] [1]", "click [1]"]));
    }

    #[test]
    fn replies_without_an_action_count_one_after_the_other() {
        assert!(stuck(&["click [1]", "clicks", "clack", "clock"]));
        assert!(!stuck(&["clicks", "clack", "click [1]", "clock"]));
    }

    #[test]
    fn without_rules_nobody_is_stuck() {
        let mut replies = Replies::default();
        (0..9).for_each(|_| replies.add(None));
        assert!(!replies.are_stuck(StopRules::default()));
    }
}
