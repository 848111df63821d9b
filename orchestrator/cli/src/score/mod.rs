//! `sandbox score`: saved answers and traces under published rules, and our scorers beside the published ones.

mod run;
mod saved;
mod turkingbench;
mod vectors;
mod webarena_verified;

use crate::failure::Outcome;

/// Score saved runs by a benchmark's rules, or recorded inputs of the published scorers
///
/// With --vectors, prints every line with our `score` added; where there is none it is null, and `error` says why. What was expected
/// instead of a score is then called `expected_error`. How each metric fared goes to stderr.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Score {
    #[command(subcommand)]
    runs: Option<Runs>,
    #[command(flatten)]
    vectors: vectors::Vectors,
}

/// Whose rules they are
#[derive(clap::Subcommand)]
enum Runs {
    /// AssistantBench: score saved answers
    Assistantbench(saved::SavedAnswers),
    /// FanOutQA: score saved answers by AssistantBench's rules
    Fanoutqa(saved::SavedAnswers),
    /// Mind2Web-Live: score saved steps by its key nodes
    #[command(name = "mind2web-live")]
    Mind2WebLive(saved::SavedAttempts),
    /// WebArena: score saved answers, addresses and contents of pages
    Webarena(saved::SavedAttempts),
    /// WebChoreArena: score saved answers, addresses and contents of pages by its own rules
    Webchorearena(saved::SavedAttempts),
    /// VisualWebArena: score saved answers, addresses, contents of pages and what was seen of pictures
    Visualwebarena(saved::SavedAttempts),
    Turkingbench(turkingbench::SavedFields),
    /// WARC-Bench: score saved answers and addresses, and for scripts what they gave, as `contents:
    /// [true]`
    Warcbench(saved::SavedAttempts),
    WebarenaVerified(webarena_verified::SavedRuns),
    Run(run::Run),
}

impl Score {
    /// Prints scores, or how they compare.
    pub(crate) async fn run(self) -> Outcome {
        use saved::Benchmark;
        match self.runs {
            Some(Runs::Assistantbench(saved)) => saved.run(Benchmark::AssistantBench).await,
            Some(Runs::Fanoutqa(saved)) => saved.run(Benchmark::FanOutQa).await,
            Some(Runs::Mind2WebLive(saved)) => saved.run(Benchmark::Mind2WebLive).await,
            Some(Runs::Visualwebarena(saved)) => saved.run(Benchmark::VisualWebArena).await,
            Some(Runs::Webarena(saved)) => saved.run(Benchmark::WebArena).await,
            Some(Runs::Webchorearena(saved)) => saved.run(Benchmark::WebChoreArena).await,
            Some(Runs::Warcbench(saved)) => saved.run(Benchmark::WarcBench).await,
            Some(Runs::Run(run)) => run.run().await,
            Some(Runs::Turkingbench(saved)) => saved.run(),
            Some(Runs::WebarenaVerified(verified)) => verified.run(),
            None => self.vectors.run(),
        }
    }
}
