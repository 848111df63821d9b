//! The changes that a person makes to a draft in the panel.

use scoring::solution::{CSS_ROLE, OracleStep};
use serde::Deserialize;

use super::nodes::{NodeFields, Rule};
use super::{Draft, Node};

/// A change. The panel sends it as JSON.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "edit", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Edit {
    Goal {
        text: String,
    },
    Id {
        text: String,
    },
    Answer {
        text: String,
    },
    /// Removes a step, and the key nodes that it has.
    RemoveStep {
        step: u32,
    },
    /// Finds the element of a step by role and name.
    Name {
        step: u32,
        role: String,
        name: String,
        nth: usize,
    },
    /// Finds the element of a step by a selector of CSS.
    Css {
        step: u32,
        selector: String,
    },
    /// Changes the text, the options (one a line), the keys, or the address of a step.
    Value {
        step: u32,
        text: String,
    },
    /// Makes a step a key node.
    AddNode {
        step: Option<u32>,
        rule: Rule,
    },
    /// Has a key node compare otherwise. Texts that were taken from the step follow the rule.
    Rule {
        node: u32,
        rule: Rule,
    },
    /// Changes the texts of a key node.
    Node {
        node: u32,
        fields: NodeFields,
    },
    RemoveNode {
        node: u32,
    },
}

/// Why a change cannot be made.
pub(crate) type Refusal = String;

impl Draft {
    /// Makes a change.
    ///
    /// # Errors
    /// When there is no such step or node, or it has nothing of that kind.
    pub(crate) fn apply(&mut self, edit: Edit) -> Result<(), Refusal> {
        match edit {
            Edit::Goal { text } => self.goal = text,
            Edit::Id { text } => self.task_id = text.trim().to_owned(),
            Edit::Answer { text } => self.answer = text.trim().to_owned(),
            Edit::RemoveStep { step } => {
                self.known(step)?;
                self.steps.retain(|known| known.number != step);
                // Nobody could reach the key nodes of a step that is gone.
                self.nodes.retain(|node| node.step != Some(step));
            }
            Edit::Name { step, role, name, nth } => {
                // In an oracle this role says that the name is a selector.
                if role == CSS_ROLE {
                    return Err("`css` is no role; choose to find the element by CSS".to_owned());
                }
                let element = self.element(step)?;
                (element.role, element.name, element.nth) = (role, name.trim().to_owned(), nth);
            }
            Edit::Css { step, selector } => {
                let element = self.element(step)?;
                (element.role, element.name, element.nth) =
                    (CSS_ROLE.to_owned(), selector.trim().to_owned(), 0);
            }
            Edit::Value { step, text } => self.set_value(step, text)?,
            Edit::AddNode { step, rule } => {
                let fields = match step {
                    Some(step) => NodeFields::of_step(rule, self.known(step)?, &self.answer),
                    None => NodeFields {
                        rule,
                        reference: self.answer.clone(),
                        key: String::new(),
                        netloc: String::new(),
                        path: String::new(),
                        xpath: false,
                    },
                };
                let number = self.next_number();
                self.nodes.push(Node { number, step, node: fields.node() });
            }
            Edit::Rule { node, rule } => {
                let (step, fields) = {
                    let node = self.node(node)?;
                    (node.step, NodeFields::of(&node.node))
                };
                // Where a step was seen, it has a better proposal for another rule than the old
                // reference.
                let fields = match step.and_then(|step| self.step(step)) {
                    Some(step) => NodeFields::of_step(rule, step, &self.answer),
                    None => NodeFields { rule, ..fields },
                };
                self.node(node)?.node = fields.node();
            }
            Edit::Node { node, fields } => self.node(node)?.node = fields.node(),
            Edit::RemoveNode { node } => {
                self.node(node)?;
                self.nodes.retain(|known| known.number != node);
            }
        }
        Ok(())
    }

    /// Removes every step. Key nodes stay.
    pub(crate) fn clear_steps(&mut self) {
        self.steps.clear();
        self.nodes.iter_mut().for_each(|node| node.step = None);
    }

    fn known(&self, step: u32) -> Result<&super::Step, Refusal> {
        self.step(step).ok_or_else(|| "the step is no longer there".to_owned())
    }

    fn node(&mut self, node: u32) -> Result<&mut Node, Refusal> {
        let found = self.nodes.iter_mut().find(|known| known.number == node);
        found.ok_or_else(|| "the key node is no longer there".to_owned())
    }

    fn element(&mut self, step: u32) -> Result<&mut scoring::solution::Element, Refusal> {
        self.known(step)?;
        let element = self.step_mut(step).and_then(|step| step.action.element_mut());
        element.ok_or_else(|| "the step has no element".to_owned())
    }

    fn set_value(&mut self, step: u32, text: String) -> Result<(), Refusal> {
        self.known(step)?;
        let none = || "the step has no value".to_owned();
        let step = self.step_mut(step).ok_or_else(none)?;
        match &mut step.action {
            OracleStep::Fill(fill) => fill.value = text,
            OracleStep::Select(select) => {
                select.options =
                    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            }
            OracleStep::Press(press) => press.keys = text.trim().to_owned(),
            OracleStep::Goto(url) => *url = text.trim().to_owned(),
            OracleStep::Answer(answer) => *answer = text,
            _ => return Err(none()),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use scoring::solution::{Element, Select};

    use super::*;
    use crate::Source;
    use crate::draft::Step;

    #[test]
    fn steps_and_nodes_change_as_the_panel_says() {
        let clock = jiff::Timestamp::UNIX_EPOCH;
        let mut draft = Draft::new(
            Source::Snapshots(Vec::new()),
            "a".to_owned(),
            "https://a.test/".to_owned(),
            clock,
        );
        let element = Element { role: "combobox".to_owned(), name: "Class".to_owned(), nth: 0 };
        let select = Select { element, options: vec!["First".to_owned()] };
        let number = draft.next_number();
        draft.steps.push(Step::new(number, OracleStep::Select(select), "https://a.test/"));
        let mut edit = |json: &str| {
            let edit: Edit = serde_json::from_str(json).unwrap();
            draft.apply(edit).map(|()| draft.clone())
        };
        let changed = edit(r#"{"edit": "value", "step": 1, "text": "Second\nThird\n"}"#).unwrap();
        let OracleStep::Select(select) = &changed.steps[0].action else { panic!("{changed:?}") };
        assert_eq!(select.options, ["Second", "Third"]);
        let unnamed =
            edit(r#"{"edit": "name", "step": 1, "role": "", "name": "x", "nth": 0}"#).unwrap();
        let missing = super::super::checks::missing(&unnamed, &Default::default()).join(" ");
        assert!(missing.contains("have no role: 1 of them"), "{missing}");
        let changed = edit(r##"{"edit": "css", "step": 1, "selector": " #class "}"##).unwrap();
        assert_eq!(changed.steps[0].action.element().unwrap().css(), Some("#class"));
        assert!(
            edit(r#"{"edit": "name", "step": 1, "role": "css", "name": "x", "nth": 0}"#).is_err()
        );
        let changed =
            edit(r#"{"edit": "add_node", "step": 1, "rule": "url_included_match"}"#).unwrap();
        assert_eq!(NodeFields::of(&changed.nodes[0].node).reference, "a.test/");
        let changed =
            edit(r#"{"edit": "rule", "node": 2, "rule": "element_value_exactly_match"}"#).unwrap();
        assert_eq!(NodeFields::of(&changed.nodes[0].node).reference, "Second, Third");
        assert!(edit(r#"{"edit": "remove_step", "step": 7}"#).is_err());
        let changed = edit(r#"{"edit": "remove_step", "step": 1}"#).unwrap();
        assert!(changed.steps.is_empty() && changed.nodes.is_empty());
        assert!(serde_json::from_str::<Edit>(r#"{"edit": "explode"}"#).is_err());
    }
}
