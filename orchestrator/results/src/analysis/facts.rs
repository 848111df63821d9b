//! Notes beside a score, as text: its uncertainty, what it lacks, and additional measures of
//! papers.

use scoring::mode::MENDED;
use tasks::import::workarena;

use crate::Summary;
use crate::analysis::measures::KeyNodes;
use crate::analysis::sensitivity::{Bounds, Cause};
use crate::counted;
use crate::stored::Conditions;

impl Summary {
    /// Pairs of label and text, the most important first.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        // Scores by mended rules must not be taken for those of the papers.
        if !self.scoring_mode.is_faithful() {
            let names: Vec<&str> = MENDED.iter().map(|bug| bug.name).collect();
            facts.push((
                "rules",
                format!(
                    "{}, not the published ones; mended: {}",
                    self.scoring_mode,
                    names.join(", ")
                ),
            ));
        }
        // The ids are in everything that is made of a run, so that this is never lost.
        if self.tasks.iter().any(|task| workarena::is_on_desk(&task.task)) {
            facts.push(("benchmark", workarena::DESK_SCORES.to_owned()));
        }
        let doubts = self.conditions.as_ref().map(Conditions::doubts).unwrap_or_default();
        if !doubts.is_empty() {
            facts.push(("trust", doubts.join("; ")));
        }
        if self.retried > 0 {
            let retried = counted(self.retried, "episode");
            facts.push((
                "attempts",
                format!("{retried} attempted again after an error; each says why"),
            ));
        }
        facts.extend(self.off().map(|off| ("standard error", off)));
        if let Some((low, high)) = self.bounds {
            let waiting = if self.unjudged == 1 { "episode is" } else { "episodes are" };
            let with = format!("not in the score, which lies between {low:.2} and {high:.2}");
            facts.push(("unjudged", format!("{} {waiting} {with}", self.unjudged)));
        }
        facts.extend(self.doubts().map(|doubts| ("bounds", doubts)));
        if let Some(answers) = &self.measures.answers {
            let precision =
                answers.precision.map_or("-".to_owned(), |precision| format!("{precision:.2}"));
            let (rate, exact) = (answers.rate, answers.exact);
            facts.push((
                "answers",
                format!("rate {rate:.2}, precision {precision}, exact match {exact:.2}"),
            ));
        }
        if let Some(KeyNodes { completion, success, near_success, efficiency, length, cost }) =
            &self.measures.key_nodes
        {
            let mut text = format!(
                "completion {completion:.2}, success {success:.2}, near success {near_success:.2}, {efficiency:.2} actions a node"
            );
            text.extend(length.map(|length| format!(", length {length:.2}")));
            text.extend(cost.map(|cost| format!(", ${cost:.4} a node")));
            facts.push(("key nodes", text));
        }
        facts
    }

    /// The bounds of the score if all doubtful episodes had failed or passed. Unjudged episodes
    /// alone have a line of their own.
    fn doubts(&self) -> Option<String> {
        let all = self.sensitivity.together.as_ref()?;
        let of = |bounds: &Bounds| format!("{:.2} to {:.2}", bounds.low, bounds.high);
        let had = |what: String| format!("{}, had {what} failed or passed", of(all));
        let number = |count: usize| format!("{count} episode{}", if count == 1 { "" } else { "s" });
        match self.sensitivity.by.as_slice() {
            [Bounds { cause: Some(Cause::Unjudged), .. }] => None,
            [Bounds { cause: Some(cause), .. }] => {
                Some(had(format!("{} with {}", number(all.episodes), cause.words())))
            }
            several => {
                let named = several.iter().filter_map(|one| {
                    Some(format!("{} {} ({})", one.cause?.words(), of(one), one.episodes))
                });
                let named: Vec<String> = named.collect();
                Some(format!(
                    "{}: {}",
                    had(format!("{} in doubt", number(all.episodes))),
                    named.join(", ")
                ))
            }
        }
    }

    fn off(&self) -> Option<String> {
        let labelled =
            |error: Option<f64>, over: &str| error.map(|error| format!("{error:.3} over {over}"));
        let errors = [
            labelled(self.standard_error.over_tasks, "tasks"),
            labelled(self.standard_error.over_repeats, "repeats (stratified bootstrap)"),
        ];
        let errors: Vec<String> = errors.into_iter().flatten().collect();
        (!errors.is_empty()).then(|| errors.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;
    use crate::{RunRecord, TaskRecord};

    /// Whatever the suite was named by then: the ids of its tasks tell.
    #[test]
    fn scores_on_the_built_in_desk_are_marked() {
        let is_marked = |id: &str| {
            let task = TaskRecord {
                id: id.to_owned(),
                goal: String::new(),
                sites: Vec::new(),
                tags: Vec::new(),
                reference_steps: None,
            };
            let run = RunRecord::new("mine", String::new(), "noop".to_owned(), 1, vec![task]);
            let summary = Summary::of(Utf8Path::new("run"), &run, &[]);
            summary.facts().iter().any(|(label, _)| *label == "benchmark")
        };
        assert!(
            is_marked("workarena-desk-all-menu.573") && is_marked("workarena-desk-all-menu-12")
        );
        assert!(!is_marked("workarena-all-menu-12") && !is_marked("workarena-desks"));
    }
}
