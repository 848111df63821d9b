//! Runs that no scheduler can be given. Empty programs stand for Slurm's: none of them is asked.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Result;

use super::{Table, write};
use crate::harness::{Bench, repository};

#[test]
fn slurm() -> Result<()> {
    let bench = Bench::new()?;
    for folder in ["slurm", "sbatch-alone"] {
        for name in ["sbatch", "squeue", "scancel", "sinfo", "scontrol"] {
            let program = format!("{folder}/{name}");
            if folder == "slurm" || name != "sinfo" {
                write(&bench, &[(program.as_str(), "#!/bin/sh\n")])?;
                let mode = fs::Permissions::from_mode(0o755);
                fs::set_permissions(bench.path(&program), mode)?;
            }
        }
    }
    let run = |path: &str, options: &str| {
        format!(
            "PATH=HERE/{path} sandbox run tasks/demo --task=quiet-coach --output HERE/out {options}"
        )
    };
    let slurm = |options: &str| run("slurm", options);
    Table::new("slurm", &bench).check(&[
        ("another scheduler", &slurm("--agent=oracle --scheduler=pbs")),
        (
            "options of Kubernetes",
            &slurm("--agent=oracle --scheduler=slurm --k8s-image=x --k8s-secret=y"),
        ),
        (
            "old names of options",
            &slurm("--agent=oracle --on=slurm --image=x --secret=y --claim=z"),
        ),
        ("parts without a scheduler", &slurm("--agent=oracle --parts=3")),
        ("an option that is ours", &slurm("--agent=oracle --scheduler=slurm -- --array=1-9")),
        ("a secret", &slurm("--scheduler=slurm --agent=program:x --agent-env=KEY=secret")),
        ("a cassette", &slurm("--scheduler=slurm --agent=cot --model=m --cassette=HERE/c.jsonl")),
        ("durations of no run", &slurm("--agent=oracle --scheduler=slurm --durations=nowhere")),
        ("no Slurm", &run("nowhere", "--agent=oracle --scheduler=slurm")),
        ("half of Slurm", &run("sbatch-alone", "--agent=oracle --scheduler=slurm")),
        (
            "an object store",
            "sandbox run tasks/demo --agent=noop --scheduler=slurm --output=s3://bucket/x",
        ),
    ])
}

#[test]
fn kubernetes() -> Result<()> {
    let bench = Bench::new()?;
    let mut table = Table::new("kubernetes", &bench);
    // Pods find the suite by the path that it has here, so there must be nothing above it.
    table.folder = bench.path("copy");
    fs::create_dir(&table.folder)?;
    for name in ["tasks", "snapshots"] {
        std::os::unix::fs::symlink(repository().join(name), table.folder.join(name))?;
    }
    table.variables.push(("OPENAI_API_KEY", "x".to_owned()));
    let run = |options: &str| {
        format!(
            "sandbox run tasks/demo --scheduler=kubernetes --k8s-image=x --output=runs/demo {options}"
        )
    };
    let oracle = |options: &str| run(&format!("--agent=oracle {options}"));
    let cot = |options: &str| run(&format!("--agent=cot {options}"));
    table.check(&[
        ("options of who follows", &oracle("--max-cost=3 --json --check")),
        ("a number of errors", &oracle("--max-errors=2")),
        ("the first error", &oracle("--fail-fast")),
        ("a second run", &oracle("--resume")),
        ("a second run of errors", &oracle("--resume --retry-errors")),
        ("options of Slurm", &oracle("-- --partition=x")),
        ("a secret", &run("--agent=program:x --agent-env=KEY=secret")),
        ("a variable", &run("--agent=program:x --agent-env=OPENAI_API_KEY")),
        ("a cassette", &cot("--model=m --cassette=c.jsonl")),
        ("no key", &cot("--model=m")),
        ("a server on this machine", &run("'--agent=noop->http://127.0.0.1:9000/a'")),
        ("settings above the folder", &cot("--model=m --k8s-secret=s --model-settings=/m.yaml")),
        ("a cassette above the folder", &cot("--offline --cassette=../c.jsonl")),
        ("a manifest", &oracle("--task=quiet-coach --task=guest-booking --repeat=9")),
        ("a manifest in the way", &oracle("--task=quiet-coach --task=guest-booking --repeat=9")),
    ])
}
