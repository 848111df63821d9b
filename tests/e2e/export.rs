//! A run as tables, from the command line.

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::harness::{Bench, text};
use crate::output::full;

#[test]
fn a_run_is_exported_as_tables_that_agree_and_replace_nothing() -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("run");
    let run = [
        "run",
        "tasks/demo",
        "--agent=oracle",
        "--repeat=2",
        "--task=clock-time-zone",
        "--output",
        out.as_str(),
    ];
    bench.succeed(&run)?;
    let file = |format: &str| bench.path(&format!("run.{format}"));
    for format in ["csv", "parquet", "json"] {
        let said = bench.succeed(&["export", format, out.as_str(), "-o", file(format).as_str()])?;
        ensure!(said.ends_with(": 2 episodes\n"), "{said}");
    }
    let rows: Value = serde_json::from_str(&std::fs::read_to_string(file("json"))?)?;
    let table = std::fs::read_to_string(file("csv"))?;
    let lines: Vec<&str> = table.lines().collect();
    let row =
        rows[1].as_object().map(|row| row.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    ensure!(lines.len() == 3 && lines[0] == row.join(","), "{table}");
    ensure!(
        rows[1]["answer"] == "Europe/London" && rows[1]["repeat"] == 2 && rows[1]["score"] == 1.0,
        "{rows:#}"
    );
    ensure!(
        rows[0]["fingerprint"] == rows[1]["fingerprint"]
            && lines[2].contains(",Europe/London,1,true,"),
        "{table}"
    );
    let parquet = std::fs::read(file("parquet"))?;
    ensure!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"), "no Parquet file");

    let again = bench.run(&["export", "csv", out.as_str(), "-o", file("csv").as_str()])?;
    let said = text(&again.stderr);
    ensure!(again.status.code() == Some(2) && said.contains("--force"), "{said}");
    ensure!(std::fs::read_to_string(file("csv"))? == table, "the file was replaced");
    std::fs::write(file("csv"), "mine")?;
    bench.succeed(&["export", "csv", out.as_str(), "-o", file("csv").as_str(), "--force"])?;
    ensure!(std::fs::read_to_string(file("csv"))? == table, "--force replaces it");

    // On standard output there is the table and nothing else.
    ensure!(bench.succeed(&["export", "csv", out.as_str(), "-o", "-"])? == table);
    let parquet_there = bench.run(&["export", "parquet", out.as_str(), "--output=-"])?;
    ensure!(
        parquet_there.status.success() && parquet_there.stdout == parquet,
        "another Parquet file"
    );
    let nowhere =
        bench.command(&["export", "json", out.as_str(), "-o", "-"]).stdout(full()?).output()?;
    ensure!(nowhere.status.code() == Some(3), "{nowhere:?}");
    for what in [
        &["export", "webarena-verified", out.as_str(), "-o", "-"][..],
        &["snapshot", "export", "snapshots/demo.wacz", "-o", "-"],
    ] {
        let refused = bench.run(what)?;
        let said = text(&refused.stderr);
        ensure!(refused.status.code() == Some(2) && said.contains("standard output"), "{said}");
    }
    let none = bench.run(&["trace", out.as_str(), "clock-time-zone-3"])?;
    let said = text(&none.stderr);
    ensure!(none.status.code() == Some(2), "{said}");
    ensure!(said.contains("has clock-time-zone-1, clock-time-zone-2"), "{said}");
    Ok(())
}
