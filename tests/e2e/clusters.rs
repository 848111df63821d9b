//! `sandbox run --scheduler slurm` where small programs stand in for Slurm's: what we do ourselves,
//! without a cluster. Real Slurm is in `make places ONLY=slurm`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use camino::Utf8PathBuf;
use serde_json::Value;

use crate::harness::{Bench, interrupt, repository, text};

/// Plays each part of an array at once, in the background, on a node whose name is that of the
/// part.
const SBATCH: &str = r#"#!/bin/sh
echo "$*" >>"$STAND_IN/submitted"
[ ! -e "$STAND_IN/refuse" ] || { echo "sbatch: error: Batch job submission failed: Invalid account" >&2; exit 1; }
for word; do
    case $word in
    --array=*) parts=${word#--array=} ;;
    --job-name=*) name=${word#--job-name=} ;;
    --output=*) log=${word#--output=} ;;
    esac
    script=$submission submission=$word
done
count=$(wc -l <"$STAND_IN/submitted")
# Ranges such as 1-3,7.
for range in $(echo "$parts" | tr , ' '); do
    for part in $(seq "${range%-*}" "${range#*-}"); do
        echo "$name|$count|$part|RUNNING|n$part|None" >>"$STAND_IN/jobs"
        [ -e "$STAND_IN/hold" ] || SLURM_ARRAY_TASK_ID=$part SLURM_JOB_ID=$count$part SLURMD_NODENAME=n$part TMPDIR=$STAND_IN \
            setsid "$script" "$submission" >"$(echo "$log" | sed "s/%a/$part/")" 2>&1 </dev/null &
    done
done
echo "$count"
"#;
const SQUEUE: &str = r#"#!/bin/sh
[ -e "$STAND_IN/strange" ] && echo strange || cat "$STAND_IN/jobs"
echo "$*" >>"$STAND_IN/asked"
"#;
const SCANCEL: &str = "#!/bin/sh\necho \"$*\" >>\"$STAND_IN/cancelled\"\n";
const SINFO: &str = "#!/bin/sh\necho 'main*|1/1/0/2'\n";

/// A folder with the programs, and what they write down.
struct StandIn {
    bench: Bench,
    folder: Utf8PathBuf,
}

impl StandIn {
    fn new() -> Result<StandIn> {
        let bench = Bench::new()?;
        let folder = bench.path("stand-in");
        fs::create_dir(&folder)?;
        for (name, script) in [
            ("sbatch", SBATCH),
            ("squeue", SQUEUE),
            ("scancel", SCANCEL),
            ("sinfo", SINFO),
            ("scontrol", "#!/bin/sh\n"),
        ] {
            let path = folder.join(name);
            fs::write(&path, script)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        Ok(StandIn { bench, folder })
    }

    fn command(&self, options: &[&str]) -> Result<Command> {
        let out = self.bench.path("out");
        let run = [
            "run",
            "tasks/demo",
            "--task=quiet-coach",
            "--task=guest-booking",
            "--output",
            out.as_str(),
        ];
        let agent = if options.iter().any(|word| word.starts_with("--agent")) {
            ""
        } else {
            "--agent=oracle"
        };
        let agent = [agent].into_iter().filter(|word| !word.is_empty());
        let words: Vec<&str> =
            run.into_iter().chain(agent).chain(options.iter().copied()).collect();
        let mut command = self.bench.command(&words);
        let path = std::env::var("PATH").context("a PATH")?;
        command.env("PATH", format!("{}:{path}", self.folder)).env("STAND_IN", &self.folder);
        Ok(command)
    }

    fn run(&self, options: &[&str]) -> Result<Output> {
        Ok(self.command(options)?.output()?)
    }

    fn written(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }
}

fn until(what: &str, met: impl Fn() -> bool) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !met() {
        ensure!(Instant::now() < deadline, "waited for a minute until {what}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    Ok(())
}

fn fails(output: &Output, code: i32, expected: &str) -> Result<()> {
    let said = text(&output.stderr);
    ensure!(
        output.status.code() == Some(code) && said.contains(expected),
        "{}: {said}",
        output.status
    );
    Ok(())
}

#[test]
fn what_cannot_be_submitted_leaves_nothing_behind() -> Result<()> {
    let stand_in = StandIn::new()?;
    for options in [&["--k8s-image=x"][..], &["--durations=nowhere"], &["--", "--array=1-9"]] {
        let output = stand_in.run(&[&["--scheduler=slurm"], options].concat())?;
        ensure!(output.status.code() == Some(2), "{options:?}: {}", text(&output.stderr));
    }
    for missing in ["sinfo", "sbatch"] {
        fs::remove_file(stand_in.folder.join(missing))?;
        // This machine may have Slurm's own.
        let output =
            stand_in.command(&["--scheduler=slurm"])?.env("PATH", &stand_in.folder).output()?;
        fails(&output, 3, missing)?;
    }
    ensure!(!stand_in.bench.path("out").exists() && stand_in.written("submitted").is_empty());
    Ok(())
}

#[test]
fn parts_come_to_what_the_run_comes_to_here() -> Result<()> {
    let stand_in = StandIn::new()?;
    let output = stand_in.run(&[
        "--scheduler=slurm",
        "--repeat=2",
        "--parts=3",
        "--json",
        "--",
        "--time=9",
    ])?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    let here = stand_in.bench.path("here");
    let run = [
        "run",
        "tasks/demo",
        "--agent=oracle",
        "--task=quiet-coach",
        "--task=guest-booking",
        "--repeat=2",
    ];
    let alone =
        stand_in.bench.succeed(&[&run[..], &["--json", "--output", here.as_str()]].concat())?;
    let alone: Value = serde_json::from_str(&alone)?;
    ensure!(
        summary["fingerprints"] == alone["fingerprints"] && summary["episodes"] == 4,
        "{summary}"
    );
    let out = stand_in.bench.path("out");
    ensure!(out.join("report.html").is_file() && !out.join("parts").exists());
    let record = |run: &Utf8PathBuf| {
        anyhow::Ok(serde_json::from_slice::<Value>(&fs::read(run.join("run.json"))?)?)
    };
    let (of_parts, of_here) = (record(&out)?, record(&here)?);
    ensure!(
        of_parts["world"] == of_here["world"] && of_parts["world"]["chromium"].is_string(),
        "{of_parts}"
    );
    ensure!(of_parts.get("shard").is_none() && of_parts.get("episodes").is_none(), "{of_parts}");
    let submitted = stand_in.written("submitted");
    ensure!(
        submitted.lines().count() == 1
            && submitted.contains("--time=9")
            && submitted.contains("--array=1-3 ")
    );
    let said = text(&output.stderr);
    for count in 1..=4 {
        ensure!(said.contains(&format!("[{count}/4] ")), "{said}");
    }
    Ok(())
}

#[test]
fn what_slurm_refuses_leaves_nothing_behind() -> Result<()> {
    let stand_in = StandIn::new()?;
    fs::write(stand_in.folder.join("refuse"), "")?;
    fails(
        &stand_in.run(&["--scheduler=slurm"])?,
        3,
        "Batch job submission failed: Invalid account",
    )?;
    ensure!(!stand_in.bench.path("out").exists(), "something is left");
    Ok(())
}

#[test]
fn an_interrupt_leaves_the_jobs_and_the_run_goes_on_with_them() -> Result<()> {
    let stand_in = StandIn::new()?;
    // The jobs wait, as in a queue.
    fs::write(stand_in.folder.join("hold"), "")?;
    let interrupted = |options: &[&str], again: bool| -> Result<Output> {
        let asked = stand_in.written("asked").lines().count();
        let mut command =
            stand_in.command(&[&["--scheduler=slurm", "--parts=2"][..], options].concat())?;
        let child = command.stderr(fs::File::create(stand_in.folder.join("said"))?).spawn()?;
        // It listens for interrupts before it asks for jobs.
        until("it follows", || stand_in.written("asked").lines().count() > asked)?;
        interrupt(&child)?;
        if again {
            until("it says so", || stand_in.written("said").contains("interrupt again"))?;
            interrupt(&child)?;
        }
        let output = child.wait_with_output()?;
        Ok(Output { stderr: fs::read(stand_in.folder.join("said"))?, ..output })
    };
    let left = interrupted(&[], false)?;
    fails(&left, 4, "the jobs go on; come back with `sandbox run tasks/demo --agent oracle ")?;
    fails(&left, 4, "--scheduler slurm --parts 2 ")?;
    ensure!(stand_in.written("cancelled").is_empty());
    let here = stand_in.run(&["--resume"])?;
    fails(&here, 2, "--scheduler slurm --resume")?;
    fails(&interrupted(&["--resume"], true)?, 4, "cancelled")?;
    let cancelled = stand_in.written("cancelled");
    ensure!(
        cancelled.starts_with("--me --name=sandbox-") && cancelled.ends_with("-1\n"),
        "{cancelled}"
    );
    ensure!(cancelled.lines().count() == 1, "{cancelled}");
    ensure!(stand_in.written("submitted").lines().count() == 1, "it was submitted twice");
    // They are gone from the queue, as after a while; and Slurm once prints what nobody expects.
    fs::remove_file(stand_in.folder.join("hold"))?;
    fs::write(stand_in.folder.join("jobs"), "")?;
    fs::write(stand_in.folder.join("strange"), "")?;
    let mut child = stand_in.command(&["--scheduler=slurm", "--parts=2", "--resume"])?;
    let asked = stand_in.written("asked").lines().count();
    let child = child.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    until("it asks", || stand_in.written("asked").lines().count() > asked)?;
    fs::remove_file(stand_in.folder.join("strange"))?;
    let output = child.wait_with_output()?;
    let said = text(&output.stderr);
    ensure!(output.status.success(), "{said}");
    ensure!(said.contains("`squeue`") && said.contains("\"strange\""), "{said}");
    for part in 1..=2 {
        ensure!(said.contains(&format!("part {part}")), "it is submitted again: {said}");
    }
    ensure!(stand_in.written("submitted").lines().count() == 2);
    Ok(())
}

/// The words of a run on Kubernetes with nothing that it refuses.
const ON_KUBERNETES: [&str; 6] = [
    "run",
    "tasks/demo",
    "--agent=oracle",
    "--scheduler=kubernetes",
    "--k8s-image=x",
    "--output=runs/demo",
];

/// A command in a folder that has what the demo suite needs.
fn in_a_copy(bench: &Bench, words: &[&str]) -> Result<Output> {
    let folder = bench.path("copy");
    if !folder.exists() {
        fs::create_dir(&folder)?;
        for name in ["tasks", "snapshots"] {
            std::os::unix::fs::symlink(repository().join(name), folder.join(name))?;
        }
    }
    let mut command = bench.command(words);
    command.env_remove("OPENAI_BASE_URL").env("OPENAI_API_KEY", "x");
    Ok(command.current_dir(folder).output()?)
}

#[test]
fn what_pods_cannot_be_told_leaves_nothing_behind() -> Result<()> {
    let bench = Bench::new()?;
    for option in ["--max-cost=3", "--fail-fast", "--resume", "--agent-env=OPENAI_API_KEY"] {
        let output = in_a_copy(&bench, &[&ON_KUBERNETES[..], &[option]].concat())?;
        ensure!(output.status.code() == Some(2), "{option}: {}", text(&output.stderr));
    }
    ensure!(!bench.path("copy/runs").exists() && !bench.path("copy/c.jsonl").exists());
    Ok(())
}

#[test]
fn a_manifest_is_written_once() -> Result<()> {
    let bench = Bench::new()?;
    let words = [&ON_KUBERNETES[..], &["--task=quiet-coach", "--task=guest-booking", "--repeat=9"]]
        .concat();
    let output = in_a_copy(&bench, &words)?;
    let said = text(&output.stdout);
    ensure!(output.status.success(), "{}", text(&output.stderr));
    ensure!(
        said.contains("18 episodes") && said.contains("2 parts"),
        "a part has whole tasks: {said}"
    );
    let manifest: Value =
        serde_json::from_slice(&fs::read(bench.path("copy/runs/demo/kubernetes.json"))?)?;
    let (policy, job) = (&manifest["items"][0], &manifest["items"][1]);
    ensure!(
        job["metadata"]["name"] == "sandbox-runs-demo" && job["spec"]["completions"] == 2,
        "{job}"
    );
    ensure!(policy["spec"]["egress"] == serde_json::json!([]), "{policy}");
    fails(&in_a_copy(&bench, &words)?, 2, "--output")
}
