//! What the desk does by itself when a record is made, changed or removed.

use super::schema::Schema;
use super::seed::Record;
use super::store::{Desk, stamp};

/// The tables whose priority follows from impact and urgency.
const JUDGED: [&str; 2] = ["incident", "problem"];
/// The states of a private task that is done.
const CLOSED: [&str; 3] = ["3", "4", "7"];

/// Completes a new record.
pub(super) fn before_insert(desk: &Desk<'_>, record: &mut Record) -> rusqlite::Result<()> {
    if let Some(prefix) = desk.schema().prefix(&record.table)
        && record.text("number").is_empty()
    {
        let number = next_number(desk, &record.table, prefix)?;
        record.fields.insert("number".to_owned(), number);
    }
    if is_a(desk.schema(), &record.table, "task") && record.text("opened_at").is_empty() {
        record.fields.insert("opened_at".to_owned(), stamp(desk.now));
    }
    if record.table == "alm_hardware" && record.text("display_name").is_empty() {
        let model = desk.shown_of(record, "model")?;
        let name = match record.text("asset_tag") {
            "" => model,
            tag => format!("{tag} - {model}"),
        };
        record.fields.insert("display_name".to_owned(), name);
    }
    before_update(desk, record);
    Ok(())
}

/// Completes a changed record.
pub(super) fn before_update(desk: &Desk<'_>, record: &mut Record) {
    if is_judged(&record.table) {
        let of = |name: &str| record.text(name).parse::<i64>().ok();
        if let (Some(impact), Some(urgency)) = (of("impact"), of("urgency")) {
            let priority = (impact + urgency - 1).clamp(1, 5).to_string();
            record.fields.insert("priority".to_owned(), priority);
        }
    }
    if is_a(desk.schema(), &record.table, "task") {
        let number = record.text("number").to_owned();
        record.fields.insert("task_effective_number".to_owned(), number);
    }
    if record.table == "sys_user" {
        let name = format!("{} {}", record.text("first_name"), record.text("last_name"));
        if !name.trim().is_empty() {
            record.fields.insert("name".to_owned(), name.trim().to_owned());
        }
    }
    if record.table == "vtb_task" {
        let active = !CLOSED.contains(&record.text("state"));
        record.fields.insert("active".to_owned(), active.to_string());
    }
}

/// The records that go with one that is removed.
pub(super) fn removed_with(desk: &Desk<'_>, record: &Record) -> rusqlite::Result<Vec<Record>> {
    let of = |table: &str, column: &str| -> rusqlite::Result<Vec<Record>> {
        let mut all = desk.records(table)?;
        all.retain(|one| one.text(column) == record.sys_id);
        Ok(all)
    };
    match record.table.as_str() {
        "sc_request" => of("sc_req_item", "request"),
        "sc_req_item" => {
            let mut links = of("sc_item_option_mtom", "request_item")?;
            for link in links.clone() {
                links.extend(desk.by_id(link.text("sc_item_option"))?);
            }
            Ok(links)
        }
        _ => Ok(Vec::new()),
    }
}

/// Whether a table is this one, or extends it.
pub(super) fn is_a(schema: &Schema, table: &str, base: &str) -> bool {
    schema.lineage(table).iter().any(|one| one.name == base)
}

/// Whether the priority of a table's records follows from impact and urgency.
pub(super) fn is_judged(table: &str) -> bool {
    JUDGED.contains(&table)
}

/// The number of the next record: one more than the greatest there was.
pub(super) fn next_number(desk: &Desk<'_>, table: &str, prefix: &str) -> rusqlite::Result<String> {
    let greatest = || {
        let records = desk.records(table)?;
        let numbers = records
            .iter()
            .filter_map(|record| record.text("number").strip_prefix(prefix)?.parse::<i64>().ok());
        Ok(numbers.max().unwrap_or(10_000))
    };
    Ok(format!("{prefix}{:07}", desk.count(prefix, greatest)?))
}
