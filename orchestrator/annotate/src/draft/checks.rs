//! The checks of a draft, for missing parts and for steps that cannot work. The panel shows them
//! after each change.

use std::collections::BTreeMap;

use scoring::KeyNode;
use scoring::mind2web_live::count_elements;
use scoring::solution::OracleStep;

use super::nodes::{NodeFields, Rule};
use super::{Draft, Node, Step};

/// Ids that a suite's other files have.
pub(crate) type TakenIds = BTreeMap<String, String>;

/// Returns the reasons why a draft is no task yet.
pub(crate) fn missing(draft: &Draft, taken: &TakenIds) -> Vec<String> {
    let mut missing = Vec::new();
    let id = &draft.task_id;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > 200 || id.starts_with('.') || !id.chars().all(allowed) {
        missing.push("The id is letters, digits, `-`, `_` and `.`, 1 to 200 of them.".to_owned());
    } else if id == "suite" {
        missing.push("`suite` is the name of the suite's own file; choose another id.".to_owned());
    } else if let Some(file) = taken.get(id) {
        missing.push(format!("The suite has a task `{id}` already ({file}); choose another id."));
    }
    if draft.goal.trim().is_empty() {
        missing.push("Write the goal: what an agent is told to do.".to_owned());
    }
    if draft.steps.is_empty() {
        missing.push("Do the task in the browser: there are no steps yet.".to_owned());
    }
    if draft.nodes.is_empty() {
        missing.push("Mark at least one step as a key node: the score is made of them.".to_owned());
    }
    let unplayable = draft.steps.iter().filter(|step| step.unplayable.is_some()).count();
    if unplayable > 0 {
        missing
            .push(format!("Remove or mend the steps that cannot be played: {unplayable} of them."));
    }
    let unnamed =
        draft.steps.iter().filter(|step| step.unplayable.is_none() && has_no_role(step)).count();
    if unnamed > 0 {
        missing
            .push(format!("Choose the element of the steps that have no role: {unnamed} of them."));
    }
    missing
}

/// Whether the element is to be found by a role that is empty, which finds none.
fn has_no_role(step: &Step) -> bool {
    step.action.element().is_some_and(|element| element.role.is_empty())
}

/// Whether selectors of CSS can be counted in the page of a step.
fn is_in_document(step: &Step) -> bool {
    step.seen.as_ref().is_some_and(|seen| !seen.shadow)
}

/// Returns the problems of a step.
pub(crate) fn step_problems(step: &Step, page: &dyn Fn(&Step) -> String) -> Vec<String> {
    let mut problems: Vec<String> = step.unplayable.iter().cloned().collect();
    if step.unplayable.is_none() && has_no_role(step) {
        problems.push("the role is empty".to_owned());
    }
    if let Some(element) = step.action.element() {
        if element.name.is_empty() && element.css().is_some() {
            problems.push("the selector is empty".to_owned());
        } else if let Some(selector) = element.css().filter(|_| is_in_document(step)) {
            // The page of a step is the document of its element.
            let selector = selector.rsplit(" >> ").next().unwrap_or(selector);
            problems.extend(count_problem(&page(step), selector));
        }
    }
    if let OracleStep::Goto(url) = &step.action
        && !url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
    {
        problems.push("it is no address of the web".to_owned());
    }
    problems
}

/// Returns the problems of a key node.
pub(crate) fn node_problems(
    draft: &Draft,
    node: &Node,
    page: &dyn Fn(&Step) -> String,
) -> Vec<String> {
    let fields = NodeFields::of(&node.node);
    let mut problems = Vec::new();
    if fields.reference.is_empty() {
        problems.push("the reference is empty".to_owned());
    }
    if matches!(fields.rule, Rule::FinalAnswerExactMatch | Rule::FinalAnswerIncludedMatch)
        && draft.answer.trim().is_empty()
    {
        problems.push("the task has no answer".to_owned());
    }
    let selector = match &node.node {
        KeyNode::ElementPathExactlyMatch(_) if !fields.xpath => Some(&fields.reference),
        KeyNode::ElementValueExactlyMatch(_)
        | KeyNode::ElementValueIncludedMatch(_)
        | KeyNode::ElementValueSemanticMatch(_) => Some(&fields.path),
        _ => None,
    };
    let step = node.step.and_then(|step| draft.step(step)).filter(|step| step.seen.is_some());
    if let (Some(selector), Some(step)) = (selector.filter(|selector| !selector.is_empty()), step) {
        problems.extend(count_problem(&page(step), selector));
    }
    problems
}

/// A selector should find one element.
fn count_problem(html: &str, selector: &str) -> Option<String> {
    if html.is_empty() {
        return None;
    }
    match count_elements(html, selector) {
        Some(1) => None,
        Some(0) => Some("the selector matches no element of the step's page".to_owned()),
        Some(count) => Some(format!("the selector matches {count} elements; the first one counts")),
        None => Some("it is no selector of CSS".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn what_is_missing_is_named() {
        let clock = jiff::Timestamp::UNIX_EPOCH;
        let mut draft =
            Draft::new(Source::Snapshots(Vec::new()), "a b".to_owned(), String::new(), clock);
        let taken = TakenIds::from([("known".to_owned(), "known.yaml".to_owned())]);
        assert_eq!(missing(&draft, &taken).len(), 4);
        draft.task_id = "known".to_owned();
        assert!(missing(&draft, &taken)[0].contains("known.yaml"));
        draft.task_id = "new".to_owned();
        draft.goal = "Do it".to_owned();
        assert_eq!(missing(&draft, &taken).len(), 2);
    }

    #[test]
    fn a_selector_finds_one_element() {
        let html = "<p><a>1</a><a>2</a><a id='x'>3</a></p>";
        assert_eq!(count_problem(html, "#x"), None);
        let many = count_problem(html, "p > a").unwrap_or_default();
        assert!(many.starts_with("the selector matches 3 elements"), "{many}");
        assert!(count_problem(html, "b").is_some() && count_problem(html, "p >> a").is_some());
    }
}
