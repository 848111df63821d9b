//! Making a record by its form: `GenericNewRecordTask` of `tasks/form.py`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, Move, TARGET, Verdict, page};
use crate::Pages;
use crate::evidence::Visit;
use crate::solution::{Element, OracleStep};
use crate::tables::{Display, Lookup, Tables, shown};

/// A record to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewRecord {
    pub table: String,
    /// The fields to fill in.
    pub fields: Vec<Field>,
    /// The columns whose fields the form shows on an instance that is as it should be.
    pub form: Vec<String>,
}

/// A field of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    pub column: String,
    /// The label of the field.
    pub label: String,
    /// The display value that it must have.
    pub value: String,
}

/// The key under which the page keeps the record that was sent last.
const SENT: &str = "sandbox.workarena.sent";
/// The variable of the frame's window that is set once another field was changed.
const SPOILT: &str = "sandboxOtherFieldChanged";
/// The elements that lead around the form.
const REMOVED: [&str; 3] =
    ["#togglePersonalizeForm", "button.additional-actions-context-menu-button", ".context_menu"];

/// Returns the word for a record of a table in goals.
fn label(table: &str) -> &str {
    match table {
        "change_request" => "change request",
        "alm_hardware" => "hardware asset",
        "sys_user" => "user",
        other => other,
    }
}

/// Returns the fields that are mandatory on these forms, whatever the instance says.
fn mandatory(table: &str) -> &'static [&'static str] {
    match table {
        "alm_hardware" => &["model", "model_category", "serial_number", "vendor"],
        "sys_user" => &["user_name", "first_name", "last_name", "email"],
        _ => &[],
    }
}

/// The state that the form reports.
#[derive(Debug, Deserialize)]
struct Form {
    shown: BTreeSet<String>,
    expected: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
struct SubmittedForm {
    sys_id: Option<String>,
    spoilt: bool,
}

impl NewRecord {
    pub(super) fn goal(&self) -> String {
        let one =
            |field: &Field| format!("a value of \"{}\" for field \"{}\"", field.value, field.label);
        let all: Vec<String> = self.fields.iter().map(one).collect();
        let all = match all.as_slice() {
            [before @ .., last] if !before.is_empty() => {
                format!("{}, and {last}", before.join(", "))
            }
            other => other.concat(),
        };
        format!("Create a new {} with {all}.", label(&self.table))
    }

    pub(super) fn start(&self) -> String {
        format!("{TARGET}{}.do", self.table)
    }

    /// Marks fields as mandatory, notes changes of fields that are none of the task's, and which
    /// record is sent.
    pub(super) async fn tend<P: Pages>(&self, pages: &mut P) -> Result<(), Failure<P::Error>> {
        let fields: Vec<&str> = self.fields.iter().map(|field| field.column.as_str()).collect();
        let script = format!(
            "(() => {{
  const frame = window.gsft_main;
  if (!frame || !frame.g_form || frame.g_form.getTableName() !== {table} || frame.sandboxTended) return;
  frame.sandboxTended = true;
  for (const field of {mandatory}) frame.g_form.setMandatory(field, true);
  for (const control of frame.document.querySelectorAll('input, select, textarea')) {{
    if ({fields}.includes(control.name.split('.').pop())) continue;
    control.addEventListener('change', () => {{ frame.{SPOILT} = true; }});
  }}
  const submit = frame.gsftSubmit;
  frame.gsftSubmit = function (...given) {{
    localStorage[{sent}] = frame.g_form.getUniqueValue();
    return submit.apply(this, given);
  }};
}})()",
            table = page::quoted(&self.table),
            mandatory = Value::from(mandatory(&self.table)),
            fields = Value::from(fields),
            sent = page::quoted(SENT),
        );
        page::run(pages, &script).await?;
        page::run(pages, &page::removal(&REMOVED)).await?;
        Ok(())
    }

    /// Whether the form is as it should be: `_get_fields`. On another form the task could not be
    /// done.
    pub(super) async fn check<P: Pages>(&self, pages: &mut P) -> Result<(), Failure<P::Error>> {
        let script = format!(
            "(() => {{
  const form = gsft_main.g_form;
  const isShown = field => form.isVisible(form.getGlideUIElement(field), form.getControl(field));
  return {{
    shown: form.elements.map(element => element.fieldName).filter(isShown),
    expected: {}.filter(isShown),
  }};
}})()",
            Value::from(self.form.clone())
        );
        let Form { shown, expected } = page::read(pages, &script).await?;
        let wrong: Vec<&str> = shown.symmetric_difference(&expected).map(String::as_str).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let (table, wrong) = (&self.table, wrong.join(", "));
        Err(Failure::set_up(format!(
            "its form of `{table}` has or lacks {wrong}; run the benchmark's `workarena-install`"
        )))
    }

    /// The record that was sent last has to hold the values. A wrong one ends the episode.
    pub(super) async fn validate<T: Tables, P: Pages<Error = T::Error>>(
        &self,
        visit: &Visit,
        tables: &mut T,
        pages: &mut P,
    ) -> Result<Verdict, Failure<T::Error>> {
        let here: String = page::read(pages, page::ADDRESS).await?;
        let start = visit.start_url();
        let mut known = vec![start.replace(".do", "_list.do"), start];
        if self.table == "change_request" {
            known.push(format!("{}{TARGET}sn_chg_model_ui_landing.do", visit.address));
        }
        if !known.iter().any(|url| page::is_at(&here, url)) {
            return Ok(Verdict::not_yet("the page is neither the form nor the list"));
        }
        let script = format!(
            "({{sys_id: localStorage[{}] || null, spoilt: !!(window.gsft_main && gsft_main.{SPOILT})}})",
            page::quoted(SENT)
        );
        let SubmittedForm { sys_id, spoilt } = page::read(pages, &script).await?;
        if spoilt {
            return Ok(Verdict::wrong("a field was changed that is none of the task's"));
        }
        let Some(sys_id) = sys_id else { return Ok(Verdict::not_yet("the form was not sent")) };
        let lookup = Lookup::new(&self.table, format!("sys_id={sys_id}")).display(Display::Shown);
        let found = tables.get(&lookup).await?;
        let Some(record) = found.first() else {
            return Ok(Verdict::not_yet("the form was not accepted"));
        };
        for Field { column, label, value } in &self.fields {
            if !record.contains_key(column) {
                return Err(Failure::Raised("KeyError"));
            }
            if shown(record, column) != value {
                return Ok(Verdict::wrong(format!("the field \"{label}\" has another value")));
            }
        }
        Ok(Verdict::right())
    }

    pub(super) fn cheat(&self) -> Vec<Move> {
        let fill =
            |field: &Field| Move::Fill { label: field.label.clone(), value: field.value.clone() };
        let submit = Element { role: "button".to_owned(), name: "Submit".to_owned(), nth: 0 };
        let sent = std::iter::once(Move::Step(OracleStep::Click(submit.into())));
        self.fields.iter().map(fill).chain(sent).collect()
    }

    /// Deletes what the user has made.
    pub(super) async fn tear_down<T: Tables>(
        &self,
        visit: &Visit,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        for sys_id in visit.records_made(tables, &self.table).await? {
            tables.delete(&self.table, &sys_id).await?;
        }
        Ok(())
    }
}
