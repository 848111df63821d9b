//! The rows of the published files. Keys that are not used are known as well: any other key is an
//! error.

use std::collections::BTreeMap;

use scoring::workarena::{
    Articles, Chart, Choice, ColumnType, Config, Control, Direction, Field, Filter,
    FilterCondition, Form, Impersonation, Joint, Key, Knowledge, NewRecord, Order, Question, Sort,
    Unit,
};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde_json::{Map, Value};

use super::super::{ImportError, read_json};

/// The files that some tasks need besides their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// Of `setup_files/knowledge/knowledge_base.json`.
    pub base: Option<Articles>,
    /// Of `setup_files/forms/`: the columns that a table's form shows, by the table.
    pub forms: BTreeMap<String, Vec<String>>,
}

/// An article of the knowledge base.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArticleRow {
    pub(super) article: String,
    #[serde(rename = "item")]
    _item: IgnoredAny,
    #[serde(rename = "value")]
    _value: IgnoredAny,
    #[serde(rename = "questions")]
    _questions: IgnoredAny,
    #[serde(rename = "alternative_answers")]
    _alternative_answers: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnowledgeRow {
    alternative_answers: Vec<String>,
    item: String,
    question: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SortRow {
    goal: String,
    sort_dirs: Vec<Direction>,
    sort_fields: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormRow {
    fields: BTreeMap<String, String>,
    task_fields: Vec<String>,
    template_record: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderRow {
    configuration: Map<String, Value>,
    description: String,
    item: String,
    quantity: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChartRow {
    url: String,
    chart_title: String,
    chart_series: String,
    question: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilterRow {
    filter_columns: Vec<String>,
    filter_kind: Joint,
    filter_values: Vec<String>,
    list_info: ListInfo,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListInfo {
    columns: BTreeMap<String, Column>,
}

/// A column as an instance describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    label: String,
    r#type: String,
    choices: Option<BTreeMap<String, String>>,
    reference: Option<String>,
    reference_attributes: Option<ReferenceAttributes>,
    #[serde(rename = "attributes")]
    _attributes: Option<IgnoredAny>,
    #[serde(rename = "base_type")]
    _base_type: Option<IgnoredAny>,
    #[serde(rename = "cangroup")]
    _cangroup: Option<IgnoredAny>,
    #[serde(rename = "canmatch")]
    _canmatch: Option<IgnoredAny>,
    #[serde(rename = "cansort")]
    _cansort: Option<IgnoredAny>,
    #[serde(rename = "choice_type")]
    _choice_type: Option<IgnoredAny>,
    #[serde(rename = "column_type")]
    _column_type: Option<IgnoredAny>,
    #[serde(rename = "default")]
    _default: Option<IgnoredAny>,
    #[serde(rename = "dependent_on_field")]
    _dependent_on_field: Option<IgnoredAny>,
    #[serde(rename = "element")]
    _element: Option<IgnoredAny>,
    #[serde(rename = "filterable")]
    _filterable: Option<IgnoredAny>,
    #[serde(rename = "hint")]
    _hint: Option<IgnoredAny>,
    #[serde(rename = "internal_type")]
    _internal_type: Option<IgnoredAny>,
    #[serde(rename = "mandatory")]
    _mandatory: Option<IgnoredAny>,
    #[serde(rename = "max_length")]
    _max_length: Option<IgnoredAny>,
    #[serde(rename = "max_unit")]
    _max_unit: Option<IgnoredAny>,
    #[serde(rename = "multitext")]
    _multitext: Option<IgnoredAny>,
    #[serde(rename = "name")]
    _name: Option<IgnoredAny>,
    #[serde(rename = "read_only")]
    _read_only: Option<IgnoredAny>,
    #[serde(rename = "reference_display_field")]
    _reference_display_field: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReferenceAttributes {
    display_field: String,
    #[serde(rename = "ref_ac_columns")]
    _ref_ac_columns: Option<IgnoredAny>,
    #[serde(rename = "ref_ac_columns_search")]
    _ref_ac_columns_search: Option<IgnoredAny>,
    #[serde(rename = "ref_ac_display_value")]
    _ref_ac_display_value: Option<IgnoredAny>,
    #[serde(rename = "ref_auto_completer")]
    _ref_auto_completer: Option<IgnoredAny>,
    #[serde(rename = "ref_ac_order_by")]
    _ref_ac_order_by: Option<IgnoredAny>,
}

/// The tasks of a file, in its order. Values that have to be unique are as the file has them.
pub(super) fn read(form: Form, json: &str, setup: &Setup) -> Result<Vec<Config>, ImportError> {
    match form {
        Form::Menu => all(json, |row| Ok(Config::Menu(row))),
        Form::Impersonation => all(json, |user| Ok(Config::Impersonation(Impersonation { user }))),
        Form::Knowledge => all(json, |row| knowledge(row, setup)),
        Form::Filter(table) => all(json, |row| filter(table, row)),
        Form::Sort(table) => all(json, |row| sort(table, row)),
        Form::NewRecord(table) => all(json, |row| new_record(table, row, setup)),
        Form::Order => all(json, order),
        Form::Chart => all(json, chart),
    }
}

fn all<R: DeserializeOwned>(
    json: &str,
    of: impl Fn(R) -> Result<Config, String>,
) -> Result<Vec<Config>, ImportError> {
    let rows: Vec<R> = read_json(json)?;
    let one = |(place, row)| {
        let wrong = |wrong| ImportError::Format {
            line: None,
            key: format!("[{place}]"),
            source: serde_json::Error::custom(wrong),
        };
        of(row).map_err(wrong)
    };
    rows.into_iter().enumerate().map(one).collect()
}

fn knowledge(row: KnowledgeRow, setup: &Setup) -> Result<Config, String> {
    let KnowledgeRow { alternative_answers, item, question, value } = row;
    let base = setup.base.clone().ok_or("the articles of the knowledge base are not known")?;
    Ok(Config::Knowledge(Knowledge { question, item, value, alternative_answers, base }))
}

fn sort(table: &str, row: SortRow) -> Result<Config, String> {
    let SortRow { goal, sort_dirs, sort_fields } = row;
    if sort_dirs.len() != sort_fields.len() {
        return Err("`sort_dirs` and `sort_fields` are not equally long".to_owned());
    }
    let unknown = || format!("its goal is not as goals of its kind are: {goal:?}");
    let mut lines = goal.lines();
    let title =
        lines.next().and_then(|line| line.split('"').nth(1)).ok_or_else(unknown)?.to_owned();
    let key = |(column, direction)| {
        let line = lines.next()?.strip_prefix(" - ")?;
        let label = line.rsplit_once(" (")?.0.to_owned();
        Some(Key { column, label, direction })
    };
    let by = sort_fields
        .into_iter()
        .zip(sort_dirs)
        .map(key)
        .collect::<Option<_>>()
        .ok_or_else(unknown)?;
    let sort = Config::Sort(Sort { table: table.to_owned(), title, by });
    // The goal is rendered again from its parts, and is published as a whole.
    if sort.goal() == goal { Ok(sort) } else { Err(unknown()) }
}

fn filter(table: &str, row: FilterRow) -> Result<Config, String> {
    let FilterRow {
        filter_columns,
        filter_kind,
        filter_values,
        list_info: ListInfo { mut columns },
    } = row;
    if filter_columns.len() != filter_values.len() {
        return Err("`filter_columns` and `filter_values` are not equally long".to_owned());
    }
    let wanted = |(column, value): (String, String)| {
        let info = columns
            .remove(&column)
            .ok_or_else(|| format!("`list_info` has no column `{column}`"))?;
        let lacks = |what: &str| format!("list_info.columns.{column} has no `{what}`");
        let holds = match info.r#type.as_str() {
            "choice" => ColumnType::Choice(info.choices.ok_or_else(|| lacks("choices"))?),
            "reference" => ColumnType::Reference {
                table: info.reference.ok_or_else(|| lacks("reference"))?,
                display: info
                    .reference_attributes
                    .ok_or_else(|| lacks("reference_attributes"))?
                    .display_field,
            },
            _ => ColumnType::Text,
        };
        Ok(FilterCondition { label: info.label, column, value, holds })
    };
    let conditions =
        filter_columns.into_iter().zip(filter_values).map(wanted).collect::<Result<_, String>>()?;
    Ok(Config::Filter(Filter { table: table.to_owned(), kind: filter_kind, conditions }))
}

fn new_record(table: &str, row: FormRow, setup: &Setup) -> Result<Config, String> {
    let FormRow { fields, task_fields, template_record } = row;
    let form = setup.forms.get(table).cloned().ok_or("the fields of its form are not known")?;
    let field = |column: String| {
        let label =
            fields.get(&column).cloned().ok_or_else(|| format!("`fields` lacks `{column}`"))?;
        let value = template_record.get(&column).and_then(Value::as_str);
        let value = value.ok_or_else(|| format!("template_record.{column} is no text"))?.to_owned();
        Ok(Field { column, label, value })
    };
    let fields = task_fields.into_iter().map(field).collect::<Result<_, String>>()?;
    Ok(Config::NewRecord(NewRecord { table: table.to_owned(), fields, form }))
}

fn order(row: OrderRow) -> Result<Config, String> {
    let OrderRow { configuration, description, item, quantity } = row;
    let option = |(question, answer): (String, Value)| {
        let wrong = |why: &dyn std::fmt::Display| format!("configuration.{question}: {why}");
        let (control, value): (Control, Value) =
            serde_json::from_value(answer).map_err(|error| wrong(&error))?;
        if !value.is_string() && !value.is_boolean() {
            return Err(wrong(&"neither a text nor true or false"));
        }
        Ok(Choice { question, control, value })
    };
    let options = configuration.into_iter().map(option).collect::<Result<_, String>>()?;
    Ok(Config::Order(Order { item, description, quantity, options }))
}

fn chart(row: ChartRow) -> Result<Config, String> {
    let ChartRow { url, chart_title: title, chart_series: series, question } = row;
    let parts: Vec<&str> = question.split(';').map(str::trim).collect();
    let question = match parts.as_slice() {
        ["max"] => Question::Max,
        ["min"] => Question::Min,
        ["value", "count", label] => {
            Question::Value { unit: Unit::Count, label: (*label).to_owned() }
        }
        ["value", "percent", label] => {
            Question::Value { unit: Unit::Percent, label: (*label).to_owned() }
        }
        _ => return Err(format!("the question {question:?} is not known")),
    };
    Ok(Config::Chart(Chart { url, title, series, question }))
}
