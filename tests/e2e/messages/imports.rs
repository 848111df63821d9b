//! Files of benchmarks that cannot be imported, or not all of them.

use anyhow::{Result, ensure};
use serde_json::json;

use super::{Table, write};
use crate::harness::Bench;
use crate::{miniwob, turkingbench, warcbench, webarena};

/// Which sites stand for those of WebArena.
const SITES: &str = "--sites=sites --site=reddit=forum,https://forum.test,grant \
    --site=homepage=desk,https://desk.test";

#[test]
fn imports_of_webarena() -> Result<()> {
    let bench = Bench::new()?;
    let tasks = webarena::file();
    let (mut renumbered, mut odd) = (tasks.clone(), tasks.clone());
    renumbered[1]["task_id"] = json!(7);
    odd[1]["eval"]["judge"] = json!("me");
    let handmade = json!({
        "sites": ["reddit"], "task_id": 5, "start_url": null, "intent": "yes",
        "data_source": "hand", "extra": 1,
        "eval": { "eval_types": ["url_match"], "reference_answers": [],
                  "reference_url": "__REDDIT__/f/12:30", "program_html": [] },
    });
    write(
        &bench,
        &[
            ("tasks.json", &tasks.to_string()),
            ("renumbered.json", &renumbered.to_string()),
            ("none.json", &json!([tasks[0]]).to_string()),
            ("odd.json", &serde_json::to_string_pretty(&odd)?),
            ("handmade.json", &handmade.to_string()),
        ],
    )?;
    let import = |options: &str| format!("sandbox tasks import webarena {options} {SITES}");
    Table::new("imports_of_webarena", &bench).check(&[
        ("a function that is not there", &import("HERE/tasks.json -o HERE/whole")),
        ("WebArena-Lite", &import("HERE/renumbered.json --subset=lite -o HERE/lite")),
        ("nothing of WebArena-Lite", &import("HERE/none.json --subset=lite -o HERE/none")),
        ("an unknown key of a score", &import("HERE/odd.json -o HERE/odd")),
        ("unknown keys of a task", &import("HERE/handmade.json -o HERE/handmade")),
    ])?;
    ensure!(!bench.path("odd").exists(), "an import that is refused leaves nothing");
    Ok(())
}

#[test]
fn imports_of_folders() -> Result<()> {
    let bench = Bench::new()?;
    turkingbench::ground(&bench)?;
    miniwob::folder(&bench, &["right", "wrong"])?;
    write(&bench, &[("apps/notes/server.py", "")])?;
    Table::new("imports_of_folders", &bench).check(&[
        ("no folder of MiniWoB", "sandbox tasks import miniwob tasks -o HERE/none"),
        ("MiniWoB", "sandbox tasks import miniwob HERE/html -o HERE/miniwob"),
        ("a suite in the way", "sandbox tasks import miniwob HERE/html -o HERE/miniwob"),
        ("no folder of WorkArena", "sandbox tasks import workarena tasks --desk -o HERE/none"),
        ("no platform", "sandbox tasks import workarena tasks -o HERE/none"),
        ("one application", "sandbox tasks import infinity HERE/apps/notes -o HERE/none"),
        (
            "files of others",
            "sandbox tasks import turkingbench HERE/bench -o HERE/turk --rows=1 --task='Boats and birds'",
        ),
        (
            "a split",
            "sandbox tasks import turkingbench HERE/bench -o HERE/split --split=easy --vendor HERE/vendor",
        ),
        ("in Turkle", "sandbox tasks import turkingbench HERE/bench -o HERE/turkle --turkle --rows=1"),
    ])
}

#[test]
fn imports_of_warcbench() -> Result<()> {
    let bench = Bench::new()?;
    warcbench::benchmark(&bench)?;
    write(&bench, &[("tasks.csv", ""), ("data/x", "")])?;
    let import = |options: &str| format!("sandbox tasks import warcbench -o HERE/suite {options}");
    Table::new("imports_of_warcbench", &bench).check(&[
        ("no recording", &import("HERE/benchmark_dev.json --archives HERE/data")),
        ("no folder", &import("HERE/benchmark_dev.json --archives /nowhere")),
        ("no list of tasks", &import("HERE/tasks.csv --archives HERE/web_archives")),
        (
            "some recordings",
            &import(
                "HERE/benchmark_dev.json HERE/benchmark_test.json --kinds HERE/tasks_dev_1.csv \
                 --archives HERE",
            ),
        ),
    ])
}
