//! Agents that are asked for wrongly, before any of them is asked for an action.

use anyhow::Result;

use super::Table;
use crate::harness::Bench;

#[test]
fn agents() -> Result<()> {
    Table::new("agents", &Bench::new()?).check(&[
        ("no model", "sandbox run tasks/demo --agent=cot"),
        ("no server", "sandbox run tasks/demo --agent=cot --model=m"),
        ("a model too many", "sandbox run tasks/demo --agent=oracle --model=m"),
        ("a misspelt name", "sandbox run tasks/demo --agent=cto"),
        ("a misspelt name to show", "sandbox agents show cto"),
        ("no settings", "sandbox run tasks/demo --agent=nowhere.yaml"),
        ("a second dialect", "sandbox run tasks/demo --agent=cot --dialect=seeact --model=m"),
        ("an unset variable", "sandbox run tasks/demo --agent=program:x --agent-env=NOT_SET"),
        (
            "a variable for no program",
            "TOKEN=x sandbox run tasks/demo --agent=noop --agent-env=TOKEN",
        ),
        (
            "pictures that are not taken",
            "sandbox run tasks/demo --agent=generic-vision --no-screenshots --model=m",
        ),
    ])
}
