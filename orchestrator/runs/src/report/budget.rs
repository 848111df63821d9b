//! How many bytes a report may have, and what is left out for that.
//!
//! A report that links its pictures stays below [`LIMIT`]. All tasks and all repeats are in it;
//! their steps are as far as there is room, and each repeat has the same share of that. One that
//! has everything in it is bounded only by what browsers open.

use super::Form;

/// Bytes of a report that links its pictures.
pub(super) const LIMIT: usize = 1_000_000;
/// Style, scripts and the parts above the table of tasks.
const FRAME: usize = 60_000;
/// A repeat whose steps are shown at all has at least so much room for them: with less there would
/// be the beginning of each and the end of none.
const LEAST: usize = 4_000;
/// Bytes of observations in a report that has everything in it.
const OBSERVATIONS: usize = 32 << 20;
/// Longest observation there.
const OBSERVATION: usize = 256 << 10;

/// The room that is left in a report.
pub(super) struct Budget {
    /// What each of the repeats that come may take; nothing where that does not matter.
    left: Option<(usize, usize)>,
    observations: usize,
    /// Observations that did not fit.
    pub(super) observations_left_out: usize,
    /// Steps that did not fit.
    pub(super) steps_left_out: usize,
}

impl Budget {
    /// What remains for the steps of so many groups of repeats where `taken` bytes are for the
    /// rest.
    pub(super) fn new(form: Form, taken: usize, groups: usize) -> Budget {
        let left = LIMIT.saturating_sub(FRAME + taken);
        Budget {
            left: match form {
                Form::Inline => None,
                Form::Linked if left / groups.max(1) < LEAST => Some((0, groups)),
                Form::Linked => Some((left, groups)),
            },
            observations: if form == Form::Inline { OBSERVATIONS } else { 0 },
            observations_left_out: 0,
            steps_left_out: 0,
        }
    }

    /// The share of the next group.
    pub(super) fn share(&mut self) -> Share<'_> {
        let share = self.left.as_ref().map(|(left, groups)| left / (*groups).max(1));
        if let Some((_, groups)) = &mut self.left {
            *groups = groups.saturating_sub(1);
        }
        Share { left: share, budget: self }
    }

    /// Whether an observation fits.
    pub(super) fn observation(&mut self, text: &str) -> bool {
        let fits = text.len() <= OBSERVATION.min(self.observations);
        if fits {
            self.observations -= text.len();
        } else {
            self.observations_left_out += 1;
        }
        fits
    }
}

/// What one group of repeats may take.
pub(super) struct Share<'a> {
    left: Option<usize>,
    pub(super) budget: &'a mut Budget,
}

impl Share<'_> {
    /// Whether anything but the line of each repeat is shown.
    pub(super) fn is_any(&self) -> bool {
        self.left.is_none_or(|left| left > 0)
    }

    /// Takes so many bytes, if they are there.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let Some(left) = &mut self.left else { return true };
        if *left < bytes {
            *left = 0;
            return false;
        }
        *left -= bytes;
        if let Some((all, _)) = &mut self.budget.left {
            *all = all.saturating_sub(bytes);
        }
        true
    }
}

/// Bytes of a text in the page at most: the template engine writes some characters as six.
pub(super) fn weight(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| b"<>&\"'/".contains(byte)).count();
    text.len() + 5 * escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_its_share_and_what_one_leaves_is_for_the_others() {
        let mut budget = Budget::new(Form::Linked, LIMIT - FRAME - 20_000, 2);
        let mut first = budget.share();
        assert!(first.take(1_000) && !first.take(9_001) && !first.take(1));
        assert!(budget.share().take(19_000));
    }

    #[test]
    fn shares_that_would_be_too_small_are_none() {
        assert!(!Budget::new(Form::Linked, LIMIT - FRAME - 20_000, 6).share().is_any());
        assert!(!Budget::new(Form::Linked, 2 * LIMIT, 1).share().is_any());
        assert!(Budget::new(Form::Inline, 2 * LIMIT, 1).share().take(LIMIT));
    }

    #[test]
    fn texts_weigh_what_the_template_engine_makes_of_them() {
        let text = "a<b> 'c' \"d\" & e/f é";
        let mut environment = minijinja::Environment::new();
        environment.add_template("a.html", "{{ text }}").unwrap();
        let template = environment.get_template("a.html").unwrap();
        let written = template.render(minijinja::context! { text => text }).unwrap();
        assert!(weight(text) >= written.len() && weight("abc") == 3, "{written}");
    }
}
