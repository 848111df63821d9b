//! `sandbox verify`: a packed run, played again and compared.

use std::num::NonZeroUsize;

use agents::AgentSpec;
use camino::{Utf8Path, Utf8PathBuf};
use play::consent::{Given, of_suite};
use play::{AgentAgain, Options, agent_again, options_again};
use processes::Variable;
use results::pack::{Manifest, Part, Unpacked};
use results::{Comparison, Summary, counted, fingerprint};
use results::{Conditions, RunFolder, RunRecord};
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::options::DataFolder;
use crate::options::confinement;
use crate::options::units;
use crate::packed_run::{temporary_folder, unpack};
use crate::terminal::board::Board;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::trust::{SiteVariables, Trust};

/// Play a packed run again, offline, and compare its fingerprint
///
/// Checks the digest of every file first. An agent that is a program or a server is not in the
/// file: its recorded actions are played again, or another agent with --agent. Exit code 0: the
/// same fingerprint. Exit code 1: an episode or a digest differs. Exit code 2: the file is no
/// packed run, or needs what was not given.
#[derive(clap::Args)]
pub(crate) struct Verify {
    /// File of `sandbox pack`
    file: Utf8PathBuf,
    /// Play with this agent, named as for `sandbox run`
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentSpec>,
    /// Pass this environment variable to the program of --agent; can be repeated
    #[arg(long = "agent-env", value_name = "NAME[=VALUE]", requires = "agent")]
    agent_variables: Vec<Variable>,
    /// Play the recorded actions, whatever the agent was
    #[arg(long, conflicts_with = "agent")]
    recorded_actions: bool,
    /// Where snapshots are that the file has only by digest: a file, or a folder; can be repeated
    #[arg(long, value_name = "PATH")]
    snapshots: Vec<Utf8PathBuf>,
    /// Check the digests only, and play nothing
    #[arg(long)]
    digests: bool,
    /// Parallel episodes
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    workers: NonZeroUsize,
    /// How much memory sites and browsers may take; a bare number is MiB [default: nine tenths of
    /// what is free]
    #[arg(long, value_name = "SIZE", value_parser = units::mebibytes)]
    memory: Option<u64>,
    /// Folder in which to keep the new run
    #[arg(short, long, value_name = "DIR")]
    output: Option<Utf8PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    variables: SiteVariables,
    #[command(flatten)]
    data: DataFolder,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Verification<'a> {
    suite: &'a str,
    /// The agent of the packed run.
    agent: &'a str,
    /// How the agent played now.
    played: String,
    same: bool,
    /// Of the packed run.
    fingerprints: &'a [results::RepeatFingerprint],
    #[serde(flatten)]
    compared: &'a Comparison,
}

impl Verify {
    /// Exit code 1 when anything differs.
    pub(crate) async fn run(self) -> Outcome {
        let stop = interrupt::token();
        let (_kept, folder) = temporary_folder()?;
        let part = if self.digests { Part::Run } else { Part::All };
        let manifest = tokio::task::block_in_place(|| unpack(&self.file, &folder, part, &stop))?;
        self.print_manifest(&manifest);
        let unpacked = Unpacked::new(&folder, manifest);
        tokio::task::block_in_place(|| check_run(&unpacked))?;
        let run = RunFolder::open(&unpacked.run())?;
        for doubt in run.run()?.conditions.iter().flat_map(Conditions::doubts) {
            self.print(&format!("trust         {doubt}"));
        }
        if unpacked.manifest().without_solutions {
            self.print(
                "solutions     not in the file, so that scores cannot be computed again and nothing is played; \
                 what was checked: every digest, and that the fingerprints follow from the results",
            );
            return Ok(());
        }
        if self.digests {
            return Ok(());
        }
        let (suite, tasks) = unpacked.suite(&self.snapshots)?;
        let given = Given { variables: &self.variables.given, unpacked: Some(&folder) };
        let list = of_suite(&suite, &tasks, given)?;
        let agreed = self.trust.agree(
            &format!("the suite of the run in {}", self.file),
            &list,
            &self.data,
        )?;
        let record = run.run()?;
        let AgentAgain { agent, played } =
            agent_again(&unpacked, self.agent.as_ref(), self.recorded_actions)?;
        self.print(&format!("agent         {played}"));
        let options = self.options(&unpacked, &record, &folder)?;
        let keep_order =
            run.episodes()?.iter().any(|episode| run.episode(&episode.id()).has_order());
        let site_variables = self.variables.given.clone();
        let options = Options { agreed, site_variables, keep_order, ..options };
        let board = Board::new();
        let outcome = play::run(&suite, &agent, &options, stop, board.progress()).await;
        board.clear();
        let summary = outcome?;
        if !summary.is_complete() {
            return Err(Failure::Interrupted("interrupted; nothing was compared".to_owned()));
        }
        self.print_differences(&record, &summary)?;
        let compared = results::compare(run.path(), &summary.folder)?;
        self.report(&unpacked, played, &compared)
    }

    fn print(&self, line: &str) {
        if !self.json {
            println!("{line}");
        }
    }

    fn print_manifest(&self, manifest: &Manifest) {
        let run = &manifest.run;
        let episodes = counted(run.episodes, "episode");
        self.print(&format!("run           {} with {}, {episodes}", run.suite, run.agent));
        self.print(&format!(
            "digests       {}, as they were packed",
            counted(manifest.members.len(), "file")
        ));
        if run.sandbox != env!("CARGO_PKG_VERSION") {
            out::warn(&format!(
                "the run was played by sandbox {}, and this is {}",
                run.sandbox,
                env!("CARGO_PKG_VERSION")
            ));
        }
    }

    /// The options of the packed run.
    fn options(
        &self,
        unpacked: &Unpacked,
        record: &RunRecord,
        folder: &Utf8Path,
    ) -> Result<Options, Failure> {
        let here = Options {
            out: Some(self.output.clone().unwrap_or_else(|| folder.join("again"))),
            workers: self.workers.get(),
            agent_variables: self.agent_variables.clone(),
            unpacked: Some(folder.to_owned()),
            memory: self.memory,
            // The snapshots are in a temporary folder, and so are their indexes.
            index_cache: Some(folder.join("indexes")),
            ..confinement::of_user(&self.data)?
        };
        Ok(options_again(unpacked, record, here)?)
    }

    /// Says whether Chromium is another one than in the packed run, and which sites have another
    /// image.
    fn print_differences(&self, record: &RunRecord, summary: &Summary) -> Outcome {
        let world = RunFolder::open(&summary.folder)?.run()?.world;
        if let (Some(there), Some(here)) = (&record.world.chromium, &world.chromium)
            && there != here
        {
            out::warn(&format!("the run was played with Chromium {there}, and here it is {here}"));
        }
        let here = world.images;
        let other = record
            .world
            .images
            .iter()
            .filter(|(site, image)| here.get(*site).is_some_and(|id| id != *image));
        for (site, image) in other {
            out::warn(&format!(
                "the site {site} has another image than in the run, where it was {image}"
            ));
        }
        Ok(())
    }

    fn report(&self, unpacked: &Unpacked, played: String, compared: &Comparison) -> Outcome {
        let run = &unpacked.manifest().run;
        let (fingerprints, same) = (&run.fingerprints[..], compared.is_same());
        if self.json {
            let (suite, agent) = (&run.suite[..], &run.agent[..]);
            out::json(&Verification { suite, agent, played, same, fingerprints, compared });
        }
        if same {
            let mut texts: Vec<&str> =
                fingerprints.iter().map(|one| one.fingerprint.as_str()).collect();
            texts.dedup();
            self.print(&format!(
                "the same fingerprint in {}",
                counted(compared.compared, "episode")
            ));
            texts.iter().for_each(|text| self.print(&format!("fingerprint   {text}")));
            return Ok(());
        }
        compared.differences.iter().for_each(|difference| self.print(&difference.to_string()));
        let mut differ: Vec<&str> = compared
            .differences
            .iter()
            .map(|difference| difference.left_episode.as_str())
            .collect();
        differ.extend(compared.only_left.iter().chain(&compared.only_right).map(String::as_str));
        Err(Failure::Negative(format!(
            "the fingerprint differs in {} of {}: {}",
            differ.len(),
            counted(run.episodes, "episode"),
            differ.join(", ")
        )))
    }
}

/// The fingerprints in the results have to follow from the results.
fn check_run(unpacked: &Unpacked) -> Outcome {
    let changed = fingerprint::verify(&unpacked.run())?;
    if changed.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = changed.iter().map(|episode| episode.id().to_string()).collect();
    Err(Failure::Negative(format!(
        "the results have other fingerprints than they say: {}; they were changed before they were packed",
        names.join(", ")
    )))
}
