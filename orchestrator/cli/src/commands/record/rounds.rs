//! `sandbox record --suite S --agent A --rounds N`: agents play the suite in its snapshot, and what
//! they miss is fetched from the live web and added.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser;
use gateway::{Config, Recorder, Redact};
use play::LiveFill;
use recorder::plan::Plan;
use recorder::rounds;
use results::counted;
use tasks::Suite;

use crate::commands::run::Run;
use crate::failure::{Failure, OrFail, Outcome};
use crate::finish::{self, EmptyRecording};
use crate::terminal::progress;

/// Who plays, and how often.
#[derive(clap::Args)]
pub(super) struct RoundOptions {
    /// Then let this agent play the suite in the snapshot, fetch what it misses from the live web,
    /// and add that; as `sandbox run --agent`. A snapshot that is there already is added to
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// How many times the agent plays at most; fewer when nothing is missed any more
    #[arg(long, value_name = "N", default_value_t = 3, requires = "agent",
          value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Further options of `sandbox run`, such as -- --model NAME --workers 2
    #[arg(last = true, value_name = "RUN-OPTIONS", requires = "agent")]
    run_options: Vec<String>,
}

/// The command `run` as it stands behind `--`.
#[derive(Parser)]
#[command(name = "sandbox run", no_binary_name = true, disable_help_flag = true)]
struct RunAlone {
    #[command(flatten)]
    run: Run,
}

/// What all rounds share.
pub(super) struct Rounds<'a> {
    pub(super) plan: &'a Plan,
    /// The suite of the plan.
    pub(super) suite: &'a Utf8Path,
    pub(super) output: &'a Utf8Path,
    /// How the live web is reached.
    pub(super) live: Config,
    pub(super) redact: Redact,
    pub(super) body_cap: u64,
    /// How much is asked again after a write.
    pub(super) ask_again: usize,
}

impl RoundOptions {
    /// Whether there are rounds at all.
    pub(super) fn are_wanted(&self) -> bool {
        self.agent.is_some()
    }

    /// The command that plays one round, with its results in a folder beside the snapshot.
    fn command(&self, rounds: &Rounds<'_>) -> Result<Run, Failure> {
        let agent = self.agent.clone().unwrap_or_default();
        let results = rounds.output.with_extension("rounds");
        let results =
            (1..).map(|n: u32| results.join(n.to_string())).find(|folder| !folder.exists());
        let results = results.expect("there are more numbers than folders").to_string();
        let suite = rounds.suite.to_string();
        let mut arguments =
            [&suite, "--agent", &agent, "--output", &results].map(str::to_owned).to_vec();
        arguments.extend(
            rounds.plan.tasks.iter().flat_map(|task| ["--task".to_owned(), task.id.clone()]),
        );
        arguments.extend(self.run_options.iter().cloned());
        let parsed = RunAlone::try_parse_from(arguments);
        parsed.map(|alone| alone.run).map_err(|error| {
            let error = error.render().to_string();
            let why = error.trim_start_matches("error: ").trim_end();
            Failure::Input(format!("failed to read the options of `sandbox run`: {why}"))
        })
    }

    /// Fails for options of `sandbox run` that cannot be read.
    pub(super) fn check(&self, rounds: &Rounds<'_>) -> Outcome {
        if self.are_wanted() { self.command(rounds).map(drop) } else { Ok(()) }
    }

    /// Plays until nothing is missed any more, or as often as wanted. Then all parts are one
    /// snapshot.
    pub(super) async fn play(&self, rounds: &Rounds<'_>) -> Outcome {
        join(rounds.output, &rounds::left_over(rounds.output)?)?;
        let mut parts: Vec<Utf8PathBuf> = Vec::new();
        let mut played = Ok(());
        for round in 1..=self.rounds {
            let part = rounds::part_of(rounds.output, round);
            played = self.play_round(rounds, round, &part, &parts).await;
            if part.exists() {
                parts.push(part);
            } else {
                break;
            }
            if played.is_err() {
                break;
            }
        }
        join(rounds.output, &parts)?;
        played
    }

    /// Plays once, and records into `part` what the snapshots lack. Nothing lacked leaves no file.
    async fn play_round(
        &self,
        rounds: &Rounds<'_>,
        round: u32,
        part: &Utf8Path,
        parts: &[Utf8PathBuf],
    ) -> Outcome {
        let mut suite = Suite::load(rounds.suite).or_input("load the suite")?;
        rounds::play_in(&mut suite, rounds.output, parts).or_input("play in the snapshot")?;
        let agent = self.agent.as_deref().unwrap_or_default();
        let recording = rounds::begin(part, agent, round)?;
        let recorder = Arc::new(Recorder::new(recording, rounds.redact.clone(), rounds.body_cap));
        // A solution is recorded from start to end: what was recorded before is of another state.
        let whole = round == 1 && agent == "oracle";
        let fill = LiveFill {
            recorder: Arc::clone(&recorder),
            live: rounds.live.clone(),
            whole,
            ask_again: rounds.ask_again,
        };
        let mut command = self.command(rounds)?;
        let played = match command.agree(&mut suite) {
            Ok(()) => command.play(&suite, Some(fill)).await,
            Err(refused) => Err(refused),
        };
        let report = recorder.report();
        let recording = recorder.close().ok_or_else(|| {
            Failure::Environment(format!("failed to finish {part}: connections still write to it"))
        })?;
        if report.recorded == 0 && report.failed == 0 {
            recording.discard().or_environment(format!("remove the recording of {part}"))?;
        } else {
            finish::finish_recording(recording, &report, part, &[], EmptyRecording::Failure)?;
        }
        let summary = played?;
        println!(
            "round {round}: {}, {} passed; {} fetched; results in {}",
            counted(summary.episodes, "episode"),
            summary.passed,
            counted(report.recorded, if whole { "response" } else { "missing response" }),
            summary.folder,
        );
        if !summary.is_complete() {
            return Err(Failure::Interrupted(
                "interrupted; the snapshot holds what was fetched so far".to_owned(),
            ));
        }
        Ok(())
    }
}

/// Makes one snapshot of all parts, with a progress bar.
fn join(output: &Utf8Path, parts: &[Utf8PathBuf]) -> Outcome {
    let bar = progress::unknown("joining");
    let joined = tokio::task::block_in_place(|| {
        rounds::join(output, parts, &mut |at| progress::advance(&bar, at.done, at.total))
    });
    bar.finish_and_clear();
    Ok(joined?)
}
