//! Suites that cannot be played, as it turns out before a browser starts.

use anyhow::Result;

use super::{Table, write};
use crate::harness::Bench;

const WORLD: &str = "world:\n  snapshots: ['REPOSITORY/snapshots/demo.wacz']\n";
const TASK: &str = "id: one\ngoal: Look.\nstart_url: https://www.aldria-rail.test/\n\
    scorer: {infeasible: {}}\n";

#[test]
fn suites() -> Result<()> {
    let bench = Bench::new()?;
    let elsewhere = TASK.replace("aldria-rail", "aldria-rial");
    let engine = TASK.replace("www.aldria-rail.test", "www.google.com");
    let site_search = format!("{WORLD}  site_search: ['https://www.cityscreen.test/search']\n");
    write(
        &bench,
        &[
            ("plain/suite.yaml", WORLD),
            ("plain/one.yaml", TASK),
            ("plain/two.yml", &TASK.replace("one", "two")),
            ("far/suite.yaml", WORLD),
            ("far/one.yaml", &elsewhere),
            ("empty/suite.yaml", "world: {clock: 2024-01-01T00:00:00Z}\n"),
            ("empty/one.yaml", &elsewhere),
            ("unsearched/suite.yaml", &format!("{WORLD}  search_pages: false\n")),
            ("unsearched/one.yaml", &engine),
            ("searched/suite.yaml", &site_search),
            ("searched/one.yaml", TASK),
            ("dated/suite.yaml", "name: shops\nworld: {snapshots: ['shops-{date}.wacz']}\n"),
            ("dated/one.yaml", TASK),
        ],
    )?;
    Table::new("suites", &bench).check(&[
        ("no solution", "sandbox run HERE/plain --agent=oracle --output HERE/out"),
        ("no wrong solution", "sandbox run HERE/plain --agent=negative --output HERE/out"),
        ("a host that was not recorded", "sandbox run HERE/far --agent=noop --output HERE/out"),
        ("an empty world", "sandbox run HERE/empty --agent=noop --output HERE/out"),
        (
            "an engine that is not searched",
            "sandbox run HERE/unsearched --agent=noop --output HERE/out",
        ),
        ("no place for the query", "sandbox run HERE/searched --agent=noop --output HERE/out"),
        ("never recorded", "sandbox run HERE/dated --agent=noop --output HERE/out"),
        ("no suite", "sandbox run HERE --agent=noop"),
    ])
}
