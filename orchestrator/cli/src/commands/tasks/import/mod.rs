//! `sandbox tasks import`: a suite made of a benchmark's own files.
//!
//! Here is what can be said on the command line, and what is told of the result. The importers are
//! those of `tasks::import`.

mod infinity;
mod live;
mod miniwob;
mod turkingbench;
mod warcbench;
mod webarena;
mod workarena;

use anyhow::anyhow;
use camino::{Utf8Path, Utf8PathBuf};
use results::counted;
use tasks::import::{Import, NewSuite, SkippedTask};

use crate::failure::{OrFail as _, Outcome};
use crate::options::DataFolder;
use crate::options::benchmarks::BenchmarkCommand;
use crate::terminal::out;
use crate::trust;
use crate::trust::Origin;

/// The benchmark
#[derive(clap::Subcommand)]
pub(super) enum Benchmark {
    #[command(flatten)]
    Live(BenchmarkCommand<live::Live>),
    /// WebArena-Infinity: its repository; applications and verifiers stay there
    Infinity {
        /// Repository, or its folder `apps` or `apps/ablations`
        folder: Utf8PathBuf,
        #[command(flatten)]
        choice: infinity::Choice,
        /// Folder to create, with the suite and the manifests of its sites
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// MiniWoB++: the folder `html` of its package (`pip download miniwob`, then `unzip`)
    Miniwob {
        /// Folder `html`, or a folder that holds it
        folder: Utf8PathBuf,
        /// Folder to create, with the suite and the manifest of its site
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
        /// Seed of the randomness in the pages
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        seed: u64,
    },
    /// TurkingBench: its repository
    Turkingbench {
        /// Repository, or its folder `tasks`; the files stay there
        folder: Utf8PathBuf,
        #[command(flatten)]
        choice: turkingbench::Choice,
        /// Folder to create, with the suite and the manifests of its sites
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// VisualWebArena: `test_classifieds.raw.json`, `test_reddit.raw.json` and
    /// `test_shopping.raw.json` of its `config_files/vwa`
    Visualwebarena {
        /// One or more of the files
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        #[command(flatten)]
        sites: webarena::Sites,
        /// Folder to create, with the suite
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// WARC-Bench: `benchmark_dev.json` and `benchmark_test.json`; each task is played in the
    /// recording that it names
    Warcbench {
        /// One or more of the files; their names tell the split
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        #[command(flatten)]
        choice: warcbench::Choice,
        /// Folder to create, with the suite
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// WebArena: `config_files/test.raw.json`, or a file of the same format, such as
    /// WebArena-Lite's `test_webarena_lite.raw.json`
    ///
    /// WebArena-Lite is 165 of WebArena's tasks. Its own file has corrected answers, and is scored
    /// by WebArena-Lite's evaluators. With --subset lite, WebArena's file gives the same tasks with
    /// WebArena's answers and evaluators. Tasks have their WebArena ids in both cases.
    Webarena {
        /// File with all tasks
        file: Utf8PathBuf,
        /// Tasks to import: all, or those of WebArena-Lite
        #[arg(long, value_name = "SUBSET", default_value = "all")]
        subset: webarena::Subset,
        #[command(flatten)]
        sites: webarena::Sites,
        /// Folder to create, with the suite
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// WebArena-Verified: `webarena-verified.json`, scored by the answer and the network traffic
    WebarenaVerified {
        /// File with all tasks
        file: Utf8PathBuf,
        #[command(flatten)]
        sites: webarena::Sites,
        /// Folder to create, with the suite
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// WebChoreArena: `test_webchore.raw.json`, or the files of its sites, on WebArena's sites and
    /// by its own rules
    Webchorearena {
        /// One or more of the files
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        #[command(flatten)]
        sites: webarena::Sites,
        /// Folder to create, with the suite
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
    /// WorkArena: the folder `data_files` of its package (`pip download --no-deps
    /// browsergym-workarena`, then `unzip`)
    Workarena {
        /// Folder `data_files`, or a folder that holds it
        folder: Utf8PathBuf,
        #[command(flatten)]
        choice: workarena::Choice,
        /// Folder to create, with the suite and the manifest of ServiceNow
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
    },
}

impl Benchmark {
    /// Writes the suite, and says what is in it. What was written is agreed to, and what it starts
    /// elsewhere is not.
    pub(super) fn import(self, data: &DataFolder) -> Outcome {
        let output = self.output().to_owned();
        self.write()?;
        trust::warn_unless_kept(trust::agree_to_own(&output, Origin::New, data));
        Ok(())
    }

    /// The folder of the new suite.
    fn output(&self) -> &Utf8Path {
        match self {
            Benchmark::Live(live) => live.args.output(),
            Benchmark::Infinity { output, .. }
            | Benchmark::Miniwob { output, .. }
            | Benchmark::Turkingbench { output, .. }
            | Benchmark::Visualwebarena { output, .. }
            | Benchmark::Warcbench { output, .. }
            | Benchmark::Webarena { output, .. }
            | Benchmark::WebarenaVerified { output, .. }
            | Benchmark::Webchorearena { output, .. }
            | Benchmark::Workarena { output, .. } => output,
        }
    }

    fn write(self) -> Outcome {
        match self {
            Benchmark::Live(BenchmarkCommand { benchmark, args }) => args.import(benchmark),
            Benchmark::Infinity { folder, choice, output } => {
                infinity::import(&folder, &choice, &output)
            }
            Benchmark::Miniwob { folder, output, seed } => miniwob::import(&folder, &output, seed),
            Benchmark::Turkingbench { folder, choice, output } => {
                turkingbench::import(&folder, choice, &output)
            }
            Benchmark::Visualwebarena { files, sites, output } => {
                webarena::import_visual(&files, sites, &output)
            }
            Benchmark::Warcbench { files, choice, output } => {
                warcbench::import(&files, &choice, &output)
            }
            Benchmark::Webarena { file, subset, sites, output } => {
                webarena::import(&file, subset, sites, &output)
            }
            Benchmark::WebarenaVerified { file, sites, output } => {
                webarena::import_verified(&file, sites, &output)
            }
            Benchmark::Webchorearena { files, sites, output } => {
                webarena::import_chores(&files, sites, &output)
            }
            Benchmark::Workarena { folder, choice, output } => {
                workarena::import(&folder, choice, &output)
            }
        }
    }
}

/// Says what is worth a warning in a benchmark's file.
pub(crate) fn warn(import: &Import) {
    for (warning, tasks) in &import.warnings {
        out::warn(&format!("{warning} (in {})", counted(*tasks, "task")));
    }
}

/// Writes the folder of a suite.
fn write(suite: &NewSuite, output: &Utf8Path) -> Outcome {
    const DOING: &str = "write the suite";
    if out::is_stdout(output) {
        return Err(anyhow!("a suite is a folder, and `-` is none; name another one"))
            .or_input(DOING);
    }
    suite.write(output).or_input(DOING)
}

/// Says what was left out, and what to do with the rest.
fn say_rest(import: &Import, output: &Utf8Path) {
    warn(import);
    for SkippedTask { id, reason } in &import.skipped {
        println!("left out {id}: {reason}");
    }
    println!("sandbox run {output} --agent AGENT");
}
