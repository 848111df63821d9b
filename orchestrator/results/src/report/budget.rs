//! The size limit of a report, and what is left out to keep it.
//!
//! A report with linked images stays below [`LIMIT`]. It has all tasks and repeats. Their steps
//! share the remaining space equally between repeats. A report with inline images is limited only
//! by browsers.

use super::Form;

/// Maximum size of a report with linked images, in bytes.
pub(super) const LIMIT: usize = 1_000_000;
/// Size of style, scripts and the parts above the table of tasks.
const FRAME: usize = 60_000;
/// Minimum space for the steps of a repeat. With less, reports would show the beginning of each and
/// the end of none.
const LEAST: usize = 4_000;
/// Maximum size of all observations in an inline report.
const OBSERVATIONS: usize = 32 << 20;
/// Maximum size of one observation.
const OBSERVATION: usize = 256 << 10;

/// The remaining space of a report.
pub(super) struct Budget {
    /// The remaining bytes and groups of repeats. `None` without a limit.
    left: Option<(usize, usize)>,
    observations: usize,
    /// Number of observations left out.
    pub(super) observations_left_out: usize,
    /// Number of steps left out.
    pub(super) steps_left_out: usize,
}

impl Budget {
    /// The space for the steps of this many groups of repeats. `taken` is the size of everything
    /// else.
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

    /// Whether an observation fits. If so, it takes its space.
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

/// The share of one group of repeats.
pub(super) struct Share<'a> {
    left: Option<usize>,
    pub(super) budget: &'a mut Budget,
}

impl Share<'_> {
    /// Whether there is space for more than one line for each repeat.
    pub(super) fn is_any(&self) -> bool {
        self.left.is_none_or(|left| left > 0)
    }

    /// Takes this many bytes if they are available.
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

/// The maximum size of a text in the page: escaping turns some characters into six.
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
