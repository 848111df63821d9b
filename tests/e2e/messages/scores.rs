//! Attempts of other systems that cannot be scored, or not as they are.

use anyhow::Result;

use super::{Table, write};
use crate::harness::Bench;
use crate::scores::QUESTIONS;
use crate::turkingbench::ground;

#[test]
fn scores() -> Result<()> {
    let bench = Bench::new()?;
    let question = r#"[{"id": "q", "question": "Who?", "answer": "Ada", "necessary_evidence": [],
        "categories": [], "decomposition": []}]"#;
    write(
        &bench,
        &[
            ("tasks.json", QUESTIONS),
            ("question.json", question),
            ("none.json", "[]"),
            ("some.jsonl", "{\"id\": \"a\", \"answer\": \"alton\"}\n"),
            ("unknown.jsonl", "{\"id\": \"z\", \"answer\": 1}"),
            ("misspelt.jsonl", "\n{\"id\": \"a\", \"anwser\": 1}"),
            ("list.jsonl", "[]"),
            ("ada.jsonl", "{\"id\": \"q\", \"answer\": \"Ada\"}"),
            ("guesses.jsonl", "{\"id\": \"b\", \"answer\": 5}\n"),
            ("empty.jsonl", ""),
        ],
    )?;
    Table::new("scores", &bench).check(&[
        ("a task without an attempt", "sandbox score assistantbench HERE/tasks.json --attempts HERE/some.jsonl"),
        ("an unknown task", "sandbox score assistantbench HERE/tasks.json --attempts HERE/unknown.jsonl"),
        ("an unknown key", "sandbox score assistantbench HERE/tasks.json --attempts HERE/misspelt.jsonl"),
        ("a list", "sandbox score assistantbench HERE/tasks.json --attempts HERE/list.jsonl"),
        (
            "an unknown task of another system",
            "sandbox score fanoutqa HERE/question.json --attempts HERE/ada.jsonl --fallback HERE/guesses.jsonl",
        ),
        (
            "another system where pages count",
            "sandbox score webarena HERE/none.json --attempts HERE/empty.jsonl --fallback HERE/guesses.jsonl",
        ),
        (
            "an unknown mode",
            "sandbox score assistantbench HERE/tasks.json --attempts HERE/some.jsonl --scoring-mode kind",
        ),
    ])
}

#[test]
fn fields_of_turkingbench() -> Result<()> {
    let bench = Bench::new()?;
    ground(&bench)?;
    let whole = r#"{"task": "Boats and birds", "row": 0, "fields": {"word": "mast"}}"#;
    let with = |line: &str| format!("{whole}\n{line}\n");
    write(
        &bench,
        &[
            ("task.jsonl", &with(r#"{"task": "Boats", "row": 0, "fields": {}}"#)),
            ("row.jsonl", &with(r#"{"task": "Boats and birds", "row": 2, "fields": {}}"#)),
            (
                "field.jsonl",
                &with(r#"{"task": "Boats and birds", "row": 0, "fields": {"wrod": "x"}}"#),
            ),
            (
                "type.jsonl",
                &with(
                    r#"{"task": "Boats and birds", "row": 1, "fields": {"word": {"type": "month", "value": "x"}}}"#,
                ),
            ),
        ],
    )?;
    Table::new("fields_of_turkingbench", &bench).check(&[
        ("an unknown task", "sandbox score turkingbench HERE/bench --attempts HERE/task.jsonl"),
        ("a row too many", "sandbox score turkingbench HERE/bench --attempts HERE/row.jsonl"),
        ("an unknown field", "sandbox score turkingbench HERE/bench --attempts HERE/field.jsonl"),
        (
            "a type without a score",
            "sandbox score turkingbench HERE/bench --attempts HERE/type.jsonl",
        ),
    ])
}
