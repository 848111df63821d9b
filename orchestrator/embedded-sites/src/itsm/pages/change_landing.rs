//! The page before the form of a new change request: which kind of change it is.

use minijinja::{Value, context};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Page, Result, form, layout};

const TABLE: &str = "change_request";
/// The kinds, what each is for, and whether it needs no approval of its own.
const KINDS: [(&str, &str, bool); 3] = [
    ("Normal", "Planned, assessed and authorized before it is made.", false),
    ("Standard", "Well known and of low risk; was approved once for all times.", true),
    ("Emergency", "Has to be made at once, to repair or to prevent an outage.", false),
];

pub(super) fn show(page: &Page<'_>) -> Result {
    let list = form::list_before(page.asked).unwrap_or_default();
    let kinds = KINDS.iter().map(|(label, about, is_approved)| -> Result<Value> {
        let query = query(page, label)?;
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let (query, list) = (encoded(&query), encoded(&list));
        Ok(context! {
            label => *label, about => *about, is_approved => *is_approved,
            address => format!("/{TABLE}.do?sys_id=-1&sysparm_query={query}&sysparm_list={list}"),
        })
    });
    let kinds = kinds.collect::<Result<Vec<Value>>>()?;
    layout::draw(page, "change_landing.html", context! { kinds })
}

/// The values of a kind's form, as far as the desk has them.
fn query(page: &Page<'_>, label: &str) -> Result<String> {
    let desk = page.desk;
    let kind = desk.schema().column(TABLE, "type");
    let choice = kind.and_then(|column| column.choices.iter().find(|one| one.label == label));
    let models = desk.records("chg_model")?;
    let model = models.iter().find(|model| desk.title(model) == label);
    let mut query = Vec::new();
    query.extend(choice.map(|choice| format!("type={}", choice.value)));
    query.extend(model.map(|model| format!("chg_model={}", model.sys_id)));
    Ok(query.join("^"))
}
