//! The panel's view of a draft, as JSON.

use scoring::mind2web_live::decoded;
use scoring::solution::{ModifierKey, MouseButton, OracleStep};
use serde::Serialize;

use crate::draft::checks::{self, TakenIds};
use crate::draft::nodes::{self, NodeFields, NodeStatus};
use crate::draft::{Draft, Node, SeenElement, Step};
use crate::workbench::Status;

/// How far the annotation is.
#[derive(Debug, Serialize)]
pub(crate) struct PanelState {
    pub(crate) version: u64,
    pub(crate) status: Status,
    /// Why the last wish was not done.
    pub(crate) notice: String,
    pub(crate) can_undo: bool,
    pub(crate) is_playing: bool,
}

/// The content of the panel.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    #[serde(flatten)]
    shown: PanelState,
    goal: String,
    task_id: String,
    start_url: String,
    answer: String,
    is_live: bool,
    is_edited: bool,
    /// The missing parts, as sentences.
    missing: Vec<String>,
    steps: Vec<StepView>,
    /// Key nodes of no step.
    nodes: Vec<NodeView>,
}

#[derive(Debug, Serialize)]
struct StepView {
    number: u32,
    /// The kind of the step, such as `click`.
    kind: &'static str,
    /// The button and the keys of a click, where they are not the usual ones.
    held: String,
    /// The page of the step, for people.
    url: String,
    url_after: String,
    has_picture: bool,
    secret: bool,
    element: Option<ElementView>,
    /// Its text, its options (one a line), its keys or its address, where it has one.
    value: Option<String>,
    /// Whether key nodes of its element can be made.
    is_seen: bool,
    tag: String,
    text: String,
    html: String,
    problems: Vec<String>,
    nodes: Vec<NodeView>,
}

#[derive(Debug, Serialize)]
struct ElementView {
    /// By role and name; nothing where it was found by neither.
    named: Option<NamedView>,
    css: String,
    by_css: bool,
}

#[derive(Debug, Serialize)]
struct NamedView {
    role: String,
    name: String,
    nth: usize,
    alike: usize,
}

#[derive(Debug, Serialize)]
struct NodeView {
    number: u32,
    fields: NodeFields,
    reached: NodeStatus,
    problems: Vec<String>,
}

/// Returns the view of a draft. `page` reads the HTML of a step's page.
pub(crate) fn of(
    draft: &Draft,
    shown: PanelState,
    taken: &TakenIds,
    page: &dyn Fn(&Step) -> String,
) -> View {
    let node = |node: &Node| NodeView {
        number: node.number,
        fields: NodeFields::of(&node.node),
        reached: nodes::reached(draft, node, page),
        problems: checks::node_problems(draft, node, page),
    };
    let of_none = |node: &&Node| node.step.is_none_or(|step| draft.step(step).is_none());
    let step = |step: &Step| {
        let own = draft.nodes.iter().filter(|node| node.step == Some(step.number));
        StepView { nodes: own.map(node).collect(), ..step_view(step, page) }
    };
    View {
        shown,
        goal: draft.goal.clone(),
        task_id: draft.task_id.clone(),
        start_url: draft.start_url.clone(),
        answer: draft.answer.clone(),
        is_live: matches!(draft.source, crate::Source::Live(_)),
        is_edited: draft.edited.is_some(),
        missing: checks::missing(draft, taken),
        steps: draft.steps.iter().map(step).collect(),
        nodes: draft.nodes.iter().filter(of_none).map(node).collect(),
    }
}

fn step_view(step: &Step, page: &dyn Fn(&Step) -> String) -> StepView {
    let (kind, value) = match &step.action {
        OracleStep::Click(_) => ("click", None),
        OracleStep::Fill(fill) => ("fill", Some(fill.value.clone())),
        OracleStep::Select(select) => ("select", Some(select.options.join("\n"))),
        OracleStep::Press(press) => ("press", Some(press.keys.clone())),
        OracleStep::Goto(url) => ("goto", Some(url.clone())),
        OracleStep::GoBack => ("go back", None),
        OracleStep::GoForward => ("go forward", None),
        OracleStep::NewTab => ("new tab", None),
        OracleStep::CloseTab => ("close tab", None),
        OracleStep::FocusTab(_) => ("change tab", None),
        OracleStep::Answer(text) => ("answer", Some(text.clone())),
        OracleStep::Field(_) => ("field", None),
        OracleStep::Scroll(_) => ("scroll", None),
        OracleStep::Noop => ("wait", None),
        OracleStep::Infeasible(_) => ("infeasible", None),
    };
    let seen = step.seen.as_ref();
    let element = step.action.element().map(|element| {
        // Behind a selector is the name that was seen, to which the person may go back.
        let named = match (element.css(), seen) {
            (None, _) => Some(element),
            (Some(_), Some(seen)) => Some(&seen.named).filter(|named| !named.role.is_empty()),
            (Some(_), None) => None,
        };
        let alike = seen.map_or(0, |seen| seen.alike);
        ElementView {
            named: named.map(|named| NamedView {
                role: named.role.clone(),
                name: named.name.clone(),
                nth: named.nth,
                alike,
            }),
            css: element.css().or(seen.map(SeenElement::locator)).unwrap_or_default().to_owned(),
            by_css: element.css().is_some(),
        }
    });
    let url_after = Some(&step.url_after).filter(|after| **after != step.url);
    StepView {
        number: step.number,
        kind,
        held: held(&step.action),
        url: decoded(&step.url),
        url_after: url_after.map(|url| decoded(url)).unwrap_or_default(),
        has_picture: step.has_picture,
        secret: step.secret,
        element,
        value,
        is_seen: seen.is_some(),
        tag: seen.map(|seen| seen.tag.clone()).unwrap_or_default(),
        text: seen.map(|seen| seen.text.clone()).unwrap_or_default(),
        html: seen.map(|seen| seen.html.clone()).unwrap_or_default(),
        problems: checks::step_problems(step, page),
        nodes: Vec::new(),
    }
}

/// How a click is not a plain one.
fn held(action: &OracleStep) -> String {
    let OracleStep::Click(click) = action else { return String::new() };
    let keys = click.modifiers.iter().map(|key| match key {
        ModifierKey::Alt => "Alt",
        ModifierKey::Control | ModifierKey::ControlOrMeta => "Control",
        ModifierKey::Meta => "Meta",
        ModifierKey::Shift => "Shift",
    });
    let button = match click.button {
        MouseButton::Left => None,
        MouseButton::Middle => Some("middle button"),
        MouseButton::Right => Some("right button"),
    };
    keys.chain(button).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use crate::draft::nodes::Rule;

    const RULES: [Rule; 9] = [
        Rule::UrlIncludedMatch,
        Rule::UrlExactlyMatch,
        Rule::UrlSemanticMatch,
        Rule::ElementPathExactlyMatch,
        Rule::ElementValueExactlyMatch,
        Rule::ElementValueIncludedMatch,
        Rule::ElementValueSemanticMatch,
        Rule::FinalAnswerExactMatch,
        Rule::FinalAnswerIncludedMatch,
    ];

    #[test]
    fn the_panel_knows_every_rule() {
        let script = include_str!("panel.js");
        for rule in RULES {
            let name = serde_json::to_string(&rule).expect("a name");
            assert!(script.contains(name.trim_matches('"')), "{name}");
        }
    }
}
