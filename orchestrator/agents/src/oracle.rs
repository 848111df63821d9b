//! The oracle: an agent that plays the solution of the task's author.
//!
//! The steps name elements by role and accessible name. Each step finds its element in the current
//! page. So a solution survives changed element ids and fails clearly on a different page.

use actions::{Action, Button, Modifier, Press};
use observation::{Observation, ObservationOptions};
use scoring::solution::{Click, Element, FormField, ModifierKey, MouseButton, OracleStep};

use crate::agent::BeginOptions;
use crate::{Agent, Error, Goal, NextReply, Reply, View};

/// Maximum number of names that a failed lookup suggests.
const SUGGESTIONS: usize = 8;

/// An agent that plays a list of steps.
#[derive(Debug)]
pub struct Oracle {
    steps: Vec<OracleStep>,
    next: usize,
    /// Number of the author's steps. Steps to retry follow them.
    own: usize,
}

impl Oracle {
    /// Starts at the first of these steps.
    pub fn new(steps: Vec<OracleStep>) -> Oracle {
        Oracle { own: steps.len(), steps, next: 0 }
    }

    fn reply(
        &mut self,
        observation: &Observation,
        last_action_error: Option<&str>,
    ) -> Result<Reply, Error> {
        if let Some(message) = last_action_error {
            return Err(Error::OracleFailed { step: self.next, message: message.to_owned() });
        }
        while let Some(step) = self.steps.get(self.next).cloned() {
            self.next += 1;
            match action(&step, self.next, observation)? {
                Some(action) => {
                    let reason = step.element().map(describe);
                    return Ok(Reply::act(action, reason));
                }
                // The field may appear after another one is filled in, so the step is retried at
                // the end.
                None if self.next <= self.own => self.steps.push(step),
                None => {}
            }
        }
        Ok(Reply::Stop { reason: None })
    }
}

impl Agent for Oracle {
    fn is_built_in(&self) -> bool {
        true
    }

    fn begin<'a>(&'a mut self, _goal: &'a Goal) -> BeginOptions<'a> {
        let turkingbench = self.steps.iter().any(|step| matches!(step, OracleStep::Field(_)));
        Box::pin(std::future::ready(Ok(ObservationOptions {
            turkingbench,
            ..ObservationOptions::default()
        })))
    }

    fn next<'a>(&'a mut self, _goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(std::future::ready(self.reply(view.observation, view.last_action_error)))
    }
}

fn describe(element: &Element) -> String {
    match element.nth {
        0 => format!("{} {:?}", element.role, element.name),
        nth => format!("{} {:?}, number {}", element.role, element.name, nth + 1),
    }
}

/// The action of a step on the current page. `None` for a field that the page does not show.
///
/// # Errors
/// When the page does not have the element. `number` is the step's, for the error.
pub fn action(
    step: &OracleStep,
    number: usize,
    observation: &Observation,
) -> Result<Option<Action>, Error> {
    let find = |wanted: &Element| {
        if let Some(selector) = wanted.css() {
            return Ok(format!("css={selector}"));
        }
        let mut alike = observation.elements.iter().filter(|found| found.role == wanted.role);
        // A solution must not act on what only has a similar name.
        let mut fit = alike.clone().filter(|found| found.name == wanted.name);
        fit.nth(wanted.nth).map(|found| found.bid.clone()).ok_or_else(|| Error::ElementMissing {
            step: number,
            role: wanted.role.clone(),
            name: wanted.name.clone(),
            nth: wanted.nth,
            url: observation.url.clone(),
            near: alike.by_ref().map(|found| found.name.clone()).take(SUGGESTIONS).collect(),
        })
    };
    Ok(Some(match step {
        OracleStep::Field(FormField { name, value }) => {
            let mut shown = observation.turkingbench.iter().flatten();
            let field = shown.find(|field| field.name == *name);
            return Ok(field.and_then(|field| Action::fill_in(&field.kind, name, value)));
        }
        OracleStep::Click(click) => {
            Action::Click { bid: find(&click.element)?, press: press(click) }
        }
        OracleStep::Fill(fill) => {
            Action::Fill { bid: find(&fill.element)?, value: fill.value.clone(), by_keys: false }
        }
        OracleStep::Select(select) => {
            Action::Select { bid: find(&select.element)?, options: select.options.clone() }
        }
        OracleStep::Press(press) => {
            Action::Press { bid: find(&press.element)?, keys: press.keys.clone() }
        }
        OracleStep::Scroll(scroll) => Action::Scroll { at: None, dx: scroll.dx, dy: scroll.dy },
        OracleStep::Goto(url) => Action::Goto { url: url.clone() },
        OracleStep::GoBack => Action::GoBack,
        OracleStep::GoForward => Action::GoForward,
        OracleStep::NewTab => Action::NewTab,
        OracleStep::CloseTab => Action::CloseTab,
        OracleStep::FocusTab(index) => Action::FocusTab { index: *index },
        OracleStep::Noop => Action::Noop,
        OracleStep::Answer(text) => Action::Answer { text: text.clone() },
        OracleStep::Infeasible(reason) => Action::Infeasible { reason: reason.clone() },
    }))
}

/// How a click is made.
fn press(click: &Click) -> Press {
    let button = match click.button {
        MouseButton::Left => Button::Left,
        MouseButton::Middle => Button::Middle,
        MouseButton::Right => Button::Right,
    };
    let modifier = |key: &ModifierKey| match key {
        ModifierKey::Alt => Modifier::Alt,
        ModifierKey::Control => Modifier::Control,
        ModifierKey::ControlOrMeta => Modifier::ControlOrMeta,
        ModifierKey::Meta => Modifier::Meta,
        ModifierKey::Shift => Modifier::Shift,
    };
    Press { button, modifiers: click.modifiers.iter().map(modifier).collect(), twice: false }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use scoring::solution::Fill;

    use super::*;

    fn page() -> Observation {
        let found = |bid: &str, role: &str, name: &str| observation::Element {
            bid: bid.to_owned(),
            role: role.to_owned(),
            name: name.to_owned(),
        };
        Observation {
            url: "https://rail.test/".to_owned(),
            title: "Rail".to_owned(),
            elements: vec![
                found("3", "link", "Timetable"),
                found("4", "textbox", "From"),
                found("5", "link", "Fares"),
                found("a6", "link", "Timetable"),
            ],
            ..Observation::default()
        }
    }

    fn element(role: &str, name: &str) -> Element {
        Element { role: role.to_owned(), name: name.to_owned(), nth: 0 }
    }

    #[test]
    fn steps_are_played_in_order_and_then_it_stops() {
        let fill = Fill { element: element("textbox", "From"), value: "Alton's".to_owned() };
        let mut oracle = Oracle::new(vec![
            OracleStep::Click(element("link", "Fares").into()),
            OracleStep::Click(Element { nth: 1, ..element("link", "Timetable") }.into()),
            OracleStep::Fill(fill),
            OracleStep::Answer("05:12".to_owned()),
        ]);
        let mut actions = Vec::new();
        while let Reply::Act { text, .. } = oracle.reply(&page(), None).unwrap() {
            actions.push(text);
        }
        assert_eq!(
            actions,
            ["click('5')", "click('a6')", "fill('4', \"Alton's\")", "send_msg_to_user('05:12')"]
        );
    }

    #[test]
    fn an_element_may_be_named_by_a_selector_and_tabs_by_their_place() {
        let mut oracle = Oracle::new(vec![
            OracleStep::Click(element("css", "#menu > div:nth-of-type(2)").into()),
            OracleStep::NewTab,
            OracleStep::FocusTab(0),
            OracleStep::CloseTab,
            OracleStep::GoForward,
        ]);
        let mut actions = Vec::new();
        while let Reply::Act { text, .. } = oracle.reply(&page(), None).unwrap() {
            actions.push(text);
        }
        let expected = [
            "click('css=#menu > div:nth-of-type(2)')",
            "new_tab()",
            "tab_focus(0)",
            "tab_close()",
            "go_forward()",
        ];
        assert_eq!(actions, expected);
    }

    #[test]
    fn a_link_may_be_opened_in_another_tab() {
        let of = |yaml: &str| serde_json::from_str::<OracleStep>(yaml).unwrap();
        let mut oracle = Oracle::new(vec![
            of(r#"{"click": {"role": "link", "name": "Fares", "button": "middle"}}"#),
            of(r#"{"click": {"role": "link", "name": "Fares", "modifiers": ["ControlOrMeta"]}}"#),
        ]);
        let mut actions = Vec::new();
        while let Reply::Act { text, .. } = oracle.reply(&page(), None).unwrap() {
            actions.push(text);
        }
        assert_eq!(
            actions,
            ["click('5', button='middle')", "click('5', modifiers=['ControlOrMeta'])"]
        );
        let plain = OracleStep::Click(element("link", "Fares").into());
        let written = r#"{"click":{"role":"link","name":"Fares","nth":0}}"#;
        assert_eq!(serde_json::to_string(&plain).unwrap(), written, "as it always was");
    }

    #[test]
    fn fields_that_come_up_later_are_filled_in_then_and_others_are_passed_over() {
        let field = |name: &str| FormField { name: name.to_owned(), value: "a".to_owned() };
        let steps = ["later", "now", "never"].map(|name| OracleStep::Field(field(name))).to_vec();
        let mut oracle = Oracle::new(steps);
        let shows = |names: &[&str]| {
            let field = |name: &&str| observation::Field {
                name: (*name).to_owned(),
                kind: "radio".to_owned(),
                html: None,
            };
            Observation { turkingbench: Some(names.iter().map(field).collect()), ..page() }
        };
        let mut ask = |names: &[&str]| match oracle.reply(&shows(names), None).unwrap() {
            Reply::Act { text, .. } => text,
            Reply::Stop { .. } => "stop".to_owned(),
        };
        assert!(ask(&["now"]).contains(r#"[name="now"]"#));
        assert!(ask(&["now", "later"]).contains(r#"[name="later"]"#));
        assert_eq!(ask(&["now", "later"]), "stop");
    }

    #[test]
    fn a_page_without_the_element_is_an_error_that_says_what_is_there() {
        let mut oracle = Oracle::new(vec![OracleStep::Click(element("link", "Tickets").into())]);
        let error = oracle.reply(&page(), None).unwrap_err().to_string();
        assert_eq!(
            error,
            r#"find link "Tickets" for oracle step 1 on https://rail.test/; it has "Timetable", "Fares", "Timetable""#
        );
    }

    #[test]
    fn an_action_that_failed_ends_the_solution() {
        let mut oracle = Oracle::new(vec![OracleStep::GoBack, OracleStep::GoBack]);
        oracle.reply(&page(), None).unwrap();
        let error = oracle.reply(&page(), Some("failed to go back")).unwrap_err();
        assert!(matches!(error, Error::OracleFailed { step: 1, .. }), "{error}");
    }
}
