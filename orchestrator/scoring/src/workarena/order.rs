//! Ordering from the service catalogue: `OrderHardwareTask` of `tasks/service_catalog.py`, and
//! `api/requests.py`.

use python_compat::text::lower;
use python_compat::url::{Url, parse_qs, unquote};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, Move, Verdict, page};
use crate::Pages;
use crate::evidence::Visit;
use crate::solution::{Element, OracleStep};
use crate::tables::{Lookup, Record, Tables, kept};

/// An item to be ordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The name of the item in the catalogue.
    pub item: String,
    /// The name of the item in the request.
    pub description: String,
    /// How many.
    pub quantity: u32,
    /// The choices to make, in the order of the goal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Choice>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub question: String,
    /// The control that holds its answer.
    pub control: Control,
    /// The answer: a text, or whether a box is ticked.
    pub value: Value,
}

/// The control of a question's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// A box to be ticked.
    Checkbox,
    /// One of several buttons.
    Radio,
    /// A text.
    Textarea,
}

/// The elements that lead around the order, or to the orders of others.
const REMOVED: [&str; 3] = [
    "button[aria-label=\"Add content\"]",
    "div.header_decorations",
    "button.btn.btn-icon.icon-ellipsis",
];
/// A cart is shared by all sessions of a user; and what others ordered most is no part of the
/// catalogue.
const CATALOGUE: &str = "(() => {
  const page = window.gsft_main && gsft_main.document;
  if (!page) return;
  page.querySelectorAll('button[aria-label=\"Add to Cart\"]').forEach(button => { button.disabled = true; });
  page.querySelectorAll('[role=heading]').forEach(heading => {
    const section = heading.textContent.includes('Top Requests') && heading.closest('div.drag_section');
    if (section) section.remove();
  });
})()";

const QUESTION: &str = "sc_item_option.item_option_new.question_text";
const ANSWER: &str = "sc_item_option.value";

impl Order {
    pub(super) fn goal(&self) -> String {
        let mut goal =
            format!("Go to the hardware store and order {} \"{}\"", self.quantity, self.item);
        if !self.options.is_empty() {
            let mut options = python_compat::Dict::default();
            for Choice { question, value, .. } in &self.options {
                options.insert(question.clone(), value.clone().into());
            }
            goal +=
                &format!(" with configuration {}", python_compat::Value::Dict(options).to_text());
        }
        goal
    }

    pub(super) async fn tend<P: Pages>(&self, pages: &mut P) -> Result<(), Failure<P::Error>> {
        page::run(pages, CATALOGUE).await?;
        page::run(pages, &page::removal(&REMOVED)).await?;
        Ok(())
    }

    /// The request that the address names has to be this order. A wrong one ends the episode.
    pub(super) async fn validate<T: Tables, P: Pages<Error = T::Error>>(
        &self,
        tables: &mut T,
        pages: &mut P,
    ) -> Result<Verdict, Failure<T::Error>> {
        let here: String = page::read(pages, page::ADDRESS).await?;
        let here = unquote(&here);
        let url = Url::parse(&here).ok_or(Failure::Raised("ValueError"))?;
        // `parse_qs` without blank values.
        let named = parse_qs(&url.query).into_iter().find(|(name, _)| name == "sysparm_sys_id");
        let named =
            named.map(|(_, values)| values.into_iter().filter(|value| !value.is_empty()).collect());
        let request = match named.unwrap_or_else(Vec::new).as_slice() {
            [] => return Ok(Verdict::not_yet("nothing was ordered")),
            [one] => one.clone(),
            _ => return Err(Failure::Raised("ValueError")),
        };
        let lookup = Lookup::new("sc_request", format!("sys_id={request}"));
        if tables.get(&lookup.fields(&["sys_id"])).await?.is_empty() {
            return Ok(Verdict::not_yet("the order was not taken"));
        }
        let lookup = Lookup::new("sc_req_item", format!("request={request}"));
        let items =
            tables.get(&lookup.fields(&["sys_id", "short_description", "quantity"])).await?;
        let item = match items.as_slice() {
            [] => return Ok(Verdict::not_yet("the order is of nothing")),
            [item] => item,
            _ => return Ok(Verdict::wrong("more than one item was ordered")),
        };
        if lower(kept(item, "short_description")) != lower(&self.description) {
            return Ok(Verdict::wrong("another item was ordered"));
        }
        if kept(item, "quantity") != self.quantity.to_string() {
            return Ok(Verdict::wrong("more or fewer were ordered"));
        }
        let lookup =
            Lookup::new("sc_item_option_mtom", format!("request_item={}", kept(item, "sys_id")));
        let answers = tables.get(&lookup.fields(&[ANSWER, QUESTION])).await?;
        for choice in &self.options {
            // Of two answers to one question the last counts.
            let same_question = |answer: &&Record| kept(answer, QUESTION) == choice.question;
            let answer = answers.iter().rfind(same_question).ok_or(Failure::Raised("KeyError"))?;
            if !choice.is_answered_by(kept(answer, ANSWER)) {
                return Ok(Verdict::wrong(format!(
                    "\"{}\" was answered otherwise",
                    choice.question
                )));
            }
        }
        Ok(Verdict::right())
    }

    pub(super) fn cheat(&self) -> Vec<Move> {
        let click = |role: &str, name: &str| {
            Move::Step(OracleStep::Click(
                Element { role: role.to_owned(), name: name.to_owned(), nth: 0 }.into(),
            ))
        };
        let fill = |label: &str, value: String| Move::Fill { label: label.to_owned(), value };
        let mut moves = vec![click("link", "Hardware"), click("link", &self.item)];
        moves.push(fill("Quantity", self.quantity.to_string()));
        moves.extend(self.options.iter().map(|choice| fill(&choice.question, choice.text())));
        moves.push(click("button", "Order Now"));
        moves
    }

    /// Deletes the user's requests, with their items and what was chosen for them:
    /// `delete_request`.
    pub(super) async fn tear_down<T: Tables>(
        &self,
        visit: &Visit,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        for request in visit.records_made(tables, "sc_request").await? {
            let items =
                Lookup::new("sc_req_item", format!("request={request}")).fields(&["sys_id"]);
            for item in tables.get(&items).await? {
                let item = kept(&item, "sys_id");
                let options = Lookup::new("sc_item_option_mtom", format!("request_item={item}"));
                for option in tables.get(&options.fields(&["sys_id", "sc_item_option"])).await? {
                    tables.delete("sc_item_option_mtom", kept(&option, "sys_id")).await?;
                    let option = kept(&option, "sc_item_option");
                    if !option.is_empty() {
                        tables.delete("sc_item_option", option).await?;
                    }
                }
                tables.delete("sc_req_item", item).await?;
            }
            tables.delete("sc_request", &request).await?;
        }
        Ok(())
    }
}

impl Choice {
    fn text(&self) -> String {
        python_compat::Value::from(self.value.clone()).to_text()
    }

    /// `option_match_heuristic` of boxes and buttons; a text has to occur.
    fn is_answered_by(&self, answer: &str) -> bool {
        let plain = |text: &str| lower(text).replace(['_', ' '], "");
        match self.control {
            Control::Textarea => lower(answer).contains(&*lower(&self.text())),
            Control::Checkbox | Control::Radio => plain(&self.text()) == plain(answer),
        }
    }
}
