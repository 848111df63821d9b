//! Benchmarks of the live web: their tasks, in a world of recordings.

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use results::counted;
use snapshots::is_address;
use tasks::import::{Benchmark, NewSuite, live, read_file};

use super::{say_rest, write};
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::benchmarks::BenchmarkArgs;

/// A file of tasks, and the web that they are played in.
#[derive(clap::Args)]
pub(in crate::commands::tasks) struct Live {
    /// File with all tasks
    file: Utf8PathBuf,
    /// Snapshot of the world of the tasks; can be repeated
    #[arg(long = "snapshot", value_name = "FILE")]
    snapshots: Vec<Utf8PathBuf>,
    /// Time on the clocks when an episode begins; best the time of the snapshots
    #[arg(long, value_name = "TIME", default_value = "2024-06-01T12:00:00Z")]
    clock: jiff::Timestamp,
    /// Search URL of agents that have a search action, with `{}` for the query [default: Google]
    #[arg(long, value_name = "URL")]
    search: Option<String>,
    /// Folder to create, with the suite
    #[arg(short, long, value_name = "DIR")]
    output: Utf8PathBuf,
}

impl BenchmarkArgs for Live {
    fn about(benchmark: &Benchmark) -> Option<&'static str> {
        benchmark.live.map(|live| live.about)
    }

    fn augment(_: &Benchmark, command: Command) -> Command {
        Live::augment_args(command)
    }

    fn read(_: &Benchmark, given: &ArgMatches) -> Result<Live, clap::Error> {
        Live::from_arg_matches(given)
    }
}

impl Live {
    /// The folder of the new suite.
    pub(super) fn output(&self) -> &Utf8Path {
        &self.output
    }

    /// Writes the suite, and says what is in it.
    pub(super) fn import(self, benchmark: &Benchmark) -> Outcome {
        let Live { file, snapshots, clock, search, output } = self;
        let name = benchmark.name;
        let web = benchmark.live.expect("only benchmarks of the live web have this command");
        let doing = format!("import {name}");
        let import = read_file(&file, |text| (benchmark.read)(text, &file)).or_input(&doing)?;
        if import.tasks.is_empty() {
            return Err(Failure::Input(format!(
                "failed to {doing}: {file} has no task that can be scored"
            )));
        }
        let found = |path: Utf8PathBuf| {
            snapshots::Archive::open(&path)?;
            if is_address(&path) {
                return Ok(path);
            }
            path.canonicalize_utf8().with_context(|| path.to_string())
        };
        let snapshots = snapshots
            .into_iter()
            .map(found)
            .collect::<anyhow::Result<Vec<_>>>()
            .or_input(&doing)?;
        let recorded = snapshots.len();
        let suite =
            NewSuite::new(name, live::world(snapshots, clock, web.viewport, search), import);
        write(&suite, &output)?;
        say(&output, suite.import.tasks.len(), recorded);
        say_rest(&suite.import, &output);
        Ok(())
    }
}

fn say(output: &Utf8Path, tasks: usize, recorded: usize) {
    let tasks = counted(tasks, "task");
    match recorded {
        0 => println!(
            "{output}: {tasks}, in an empty web; record what they need with\n  sandbox record --suite {output}\nor add \
             recordings under `snapshots` of {output}/suite.yaml"
        ),
        1 => println!("{output}: {tasks}, in one recording"),
        more => println!("{output}: {tasks}, in {more} recordings"),
    }
}
