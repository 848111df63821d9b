//! Whole runs against a browser that is not there.

mod asking;
mod hostile;
mod packing;
mod pages;
mod programs;
mod resuming;

use std::num::NonZeroU32;
use std::time::Duration;

use agents::AgentSpec;
use camino::{Utf8Path, Utf8PathBuf};
use play::{Error, HostFacts, Limits, Options, Progress};
use results::{EpisodeId, Outcome, RunFolder, Times};
use results::{Summary, compare, compare_repeats, fingerprint, pair};
use scoring::{PageCheck, Scorer};
use tasks::{GoalText, StopRules, Suite, UserMessage};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::fake::{Fake, Mood, SHORT, suite};
use crate::listener::listener;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn folder() -> std::io::Result<(TempDir, Utf8PathBuf)> {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::from_path_buf(temporary.path().join("run"))
        .map_err(|_| std::io::ErrorKind::InvalidData)?;
    Ok((temporary, path))
}

fn into(out: &Utf8Path) -> Options {
    Options { out: Some(out.to_owned()), ..Options::default() }
}

async fn play(
    mood: &Mood,
    agent: &str,
    options: &Options,
) -> Result<Summary, Box<dyn std::error::Error>> {
    play_with_progress(mood, agent, options, CancellationToken::new(), play::silent()).await
}

async fn play_with_progress(
    mood: &Mood,
    agent: &str,
    options: &Options,
    interrupt: CancellationToken,
    progress: Progress,
) -> Result<Summary, Box<dyn std::error::Error>> {
    let mood = mood.clone();
    let bring_up = move |_| Fake::bring_up(mood.clone());
    Ok(play::run_in(
        HostFacts::default(),
        bring_up,
        &suite()?,
        &agent.parse::<AgentSpec>()?,
        options,
        interrupt,
        progress,
    )
    .await?)
}

fn outcome(out: &Utf8Path, task: &str, repeat: u32) -> Result<Outcome, Error> {
    Ok(RunFolder::open(out)?
        .episode(&EpisodeId { task: task.to_owned(), repeat })
        .record()?
        .outcome)
}

/// A program that goes through these replies, the same in every episode.
fn replying(replies: &[&str]) -> String {
    let mut program =
        "program:read -r hello; echo \"$hello\" >&2; echo '{\"protocol\":1}'; read -r task; "
            .to_owned();
    for reply in replies {
        program.push_str(&format!(
            "read -r x; cat <<'END'\n{}\nEND\n",
            serde_json::json!({ "action": reply })
        ));
    }
    program + "read -r end"
}

#[tokio::test]
async fn the_oracle_passes_and_two_repeats_have_one_fingerprint() -> Tested {
    let (_temporary, out) = folder()?;
    let (progress, heard) = listener();
    let options = Options { repeat: 2, ..into(&out) };
    let summary = play_with_progress(
        &Mood::default(),
        "oracle",
        &options,
        CancellationToken::new(),
        progress,
    )
    .await?;
    assert_eq!((summary.passed, summary.episodes, summary.deterministic), (3, 6, Some(true)));
    assert!(compare_repeats(&out)?.is_same());
    assert!(fingerprint::verify(&out)?.is_empty());
    let heard = heard.lock().map_err(|_| "poisoned")?.clone();
    assert_eq!(
        heard[..6],
        [
            "planned 6, 0 done",
            "0: bringing up",
            "0: bike.one-1",
            "0: step 1 of 4",
            "0: step 2 of 4",
            "0: answered 1"
        ]
    );
    let mut summary = summary;
    summary.wall_ms = 12_345;
    summary.times = Times {
        opening_ms: 3_000,
        looking_ms: 4_500,
        agent_ms: 1_500,
        acting_ms: 5_400,
        ending_ms: 600,
    };
    summary.tasks.iter_mut().for_each(|task| task.wall_ms = 2_057);
    summary.fingerprints.iter_mut().for_each(|one| one.fingerprint = "0123456789abcdef".repeat(4));
    insta::assert_snapshot!(summary.to_string());
    Ok(())
}

#[tokio::test]
async fn what_is_on_disk_is_as_documented() -> Tested {
    let (_temporary, out) = folder()?;
    play(&Mood::default(), "oracle", &into(&out)).await?;
    let episode = out.join("episodes/bike%2Etwo-1");
    let mut names: Vec<_> = episode
        .read_dir_utf8()?
        .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
        .collect::<Result<_, _>>()?;
    names.sort();
    assert_eq!(
        names,
        [
            "episode.json",
            "ledger.jsonl",
            "score_state.json",
            "step-01.png",
            "step-02.png",
            "step-03.png",
            "trace.jsonl"
        ]
    );
    let mut record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(episode.join("episode.json"))?)?;
    record["started"] = "[time]".into();
    record["wall_ms"] = 0.into();
    record["times"] = "[times]".into();
    let mut text = format!("--- episode.json\n{record:#}");
    for name in ["trace.jsonl", "ledger.jsonl"] {
        text.push_str(&format!("\n--- {name}"));
        for line in std::fs::read_to_string(episode.join(name))?.lines() {
            let mut line: serde_json::Value = serde_json::from_str(line)?;
            for time in ["at_ms", "agent_ms", "acting_ms"] {
                if let Some(time) = line.get_mut(time) {
                    *time = 0.into();
                }
            }
            text.push_str(&format!("\n{line}"));
        }
    }
    insta::assert_snapshot!(text);
    Ok(())
}

#[tokio::test]
async fn doing_nothing_earns_nothing_and_ends_at_once() -> Tested {
    let (_temporary, out) = folder()?;
    let summary = play(&Mood::default(), "noop", &into(&out)).await?;
    assert_eq!((summary.score, summary.passed, summary.steps), (Some(0.0), 0, 0));
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Stopped);
    Ok(())
}

#[tokio::test]
async fn a_broken_episode_is_an_outcome_and_the_next_gets_a_new_browser() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { dies_in: "bike.one", hangs_in: "bike.two", ..Mood::default() };
    let options = Options { limits: Limits { episode: SHORT, ..Limits::default() }, ..into(&out) };
    let summary = play(&mood, "oracle", &options).await?;
    assert_eq!((summary.errors, summary.timeouts, summary.passed), (1, 1, 1));
    let message =
        "failed to click: reach the browser: it closed the connection during `a click`".to_owned();
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Error { message });
    assert_eq!(outcome(&out, "bike.two", 1)?, Outcome::TimedOut);
    assert_eq!(mood.brought_up.load(std::sync::atomic::Ordering::SeqCst), 3);
    // What was seen before the end is there.
    let episode =
        RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.two".to_owned(), repeat: 1 });
    assert_eq!((episode.steps()?.len(), episode.requests()?.len()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn a_world_that_never_comes_up_ends_the_run() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { fails_to_come_up_from: Some(1), ..Mood::default() };
    let error = play(&mood, "oracle", &into(&out)).await.err().ok_or("no error")?;
    assert_eq!(error.to_string(), "bring up the world: start the browser: no such program");
    // Later on it costs the episode only, until it has failed three times in a row.
    let (_temporary, out) = folder()?;
    let mood = Mood { dies_in: "bike.one", fails_to_come_up_from: Some(2), ..Mood::default() };
    let summary = play(&mood, "oracle", &into(&out)).await?;
    assert_eq!(summary.errors, 3);
    let message = "failed to start the browser: no such program".to_owned();
    assert_eq!(outcome(&out, "bike.zero", 1)?, Outcome::Error { message });
    Ok(())
}

#[tokio::test]
async fn drift_is_named_by_episode_step_and_field() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { drifts_in_episode: Some(5), ..Mood::default() };
    let summary = play(&mood, "oracle", &Options { repeat: 2, ..into(&out) }).await?;
    assert_eq!(summary.deterministic, Some(false));
    let repeats = compare_repeats(&out)?;
    assert_eq!((repeats.compared, repeats.differences.len()), (3, 1));
    insta::assert_snapshot!(repeats.differences[0], @r"
    bike.two-1 and bike.two-2, step 1, observation, line 1:
      - RootWebArea 'Page 1'
      + RootWebArea 'Page 1 of today'
    ");
    let (_temporary, other) = folder()?;
    play(&Mood::default(), "noop", &into(&other)).await?;
    let found = compare(&out, &other)?;
    assert_eq!((found.compared, found.differences.len(), found.only_left.len()), (3, 3, 3));
    assert_eq!(found.differences[0].field, "action");
    let paired = pair(&other, &out)?;
    let difference = paired.difference.ok_or("nothing to compare")?;
    assert_eq!((paired.tasks, difference.mean, difference.p), (3, 1.0, 0.25));
    assert_eq!((paired.left.passed, paired.right.passed, paired.flips.len()), (0, 3, 3));
    assert!(!paired.different_suites && paired.left_out.is_empty());
    let text = paired.to_string();
    assert!(
        text.contains("difference +1.000") && text.contains("gained  0.00 to 1.00  bike.one"),
        "{text}"
    );
    Ok(())
}

#[tokio::test]
async fn several_workers_share_the_queue_and_give_the_same_fingerprint() -> Tested {
    let (_one, alone) = folder()?;
    let (_two, shared) = folder()?;
    let one = play(&Mood::default(), "oracle", &Options { repeat: 4, ..into(&alone) }).await?;
    let three =
        play(&Mood::default(), "oracle", &Options { repeat: 4, workers: 3, ..into(&shared) })
            .await?;
    assert_eq!(one.fingerprints, three.fingerprints);
    assert_eq!(three.episodes, 12);
    Ok(())
}

#[tokio::test]
async fn a_newer_format_and_a_tampered_trace_are_noticed() -> Tested {
    let (_temporary, out) = folder()?;
    play(&Mood::default(), "oracle", &into(&out)).await?;
    let trace = out.join("episodes/bike%2Eone-1/trace.jsonl");
    let text = std::fs::read_to_string(&trace)?;
    std::fs::write(&trace, text.replace("Page 2", "Page 9"))?;
    let changed: Vec<String> =
        fingerprint::verify(&out)?.into_iter().map(|record| record.task).collect();
    assert_eq!(changed, ["bike.one"]);
    let run = out.join("run.json");
    std::fs::write(&run, std::fs::read_to_string(&run)?.replace("\"major\": 2", "\"major\": 3"))?;
    let error = Summary::read(&out).err().ok_or("no error")?;
    assert!(
        error
            .to_string()
            .ends_with("it has format 3.7, and this version reads 2.x; use a newer sandbox"),
        "{error}"
    );
    std::fs::write(&run, "{\"format\"")?;
    assert!(matches!(Summary::read(&out), Err(results::Error::Malformed { line: 1, .. })));
    Ok(())
}

#[tokio::test]
async fn narrow_terminals_get_narrow_tables() -> Tested {
    let (_temporary, out) = folder()?;
    let summary = play(&Mood::default(), "oracle", &into(&out)).await?;
    for width in [20, 24, 31, 40, 60, 80, 200] {
        let table = summary.table(width);
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width.max(24), "{width}: {widest}\n{table}");
        assert!(table.contains("score"), "{table}");
    }
    let report = results::report::write(&out)?;
    assert!(report.is_file());
    Ok(())
}
