//! `sandbox tasks import`: a suite made of a benchmark's own files.
//!
//! The suite is written beside its place and moved there when it is whole, so an interrupted import leaves no half of one.

mod infinity;
mod live;
mod miniwob;
mod published;
mod turkingbench;
mod warcbench;
mod webarena;
mod workarena;

pub(crate) use turkingbench::no_task;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use tasks::import::{Import, Skipped, assistantbench, fanoutqa, mind2web_live};
use tasks::{Task, WorldSpec};

use crate::failure::Outcome;
use crate::out;

/// The benchmark
#[derive(clap::Subcommand)]
pub(super) enum Benchmark {
    /// AssistantBench: the JSON lines of its published dataset
    Assistantbench(live::Live),
    /// FanOutQA: `fanout-dev.json`, scored by AssistantBench's rules
    Fanoutqa(live::Live),
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
    /// Mind2Web-Live: the JSON file that WebCanvas publishes
    #[command(name = "mind2web-live")]
    Mind2WebLive(live::Live),
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
    /// VisualWebArena: `test_classifieds.raw.json`, `test_reddit.raw.json` and `test_shopping.raw.json` of its
    /// `config_files/vwa`
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
    /// WARC-Bench: `benchmark_dev.json` and `benchmark_test.json`; each task is played in the recording that it names
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
    /// WebArena: `config_files/test.raw.json`, or a file of the same format, such as WebArena-Lite's
    /// `test_webarena_lite.raw.json`
    ///
    /// WebArena-Lite is 165 of WebArena's tasks. Its own file has corrected answers, and is scored by WebArena-Lite's
    /// evaluators. With --subset lite, WebArena's file gives the same tasks with WebArena's answers and evaluators. Tasks
    /// have their WebArena ids in both cases.
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
    /// WebChoreArena: `test_webchore.raw.json`, or the files of its sites, on WebArena's sites and by its own rules
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
    /// WorkArena: the folder `data_files` of its package (`pip download --no-deps browsergym-workarena`, then `unzip`)
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
    /// Writes the suite, and says what is in it.
    pub(super) fn import(self) -> Outcome {
        match self {
            Benchmark::Assistantbench(live) => live.import("assistantbench", USUAL, assistantbench),
            Benchmark::Fanoutqa(live) => live.import("fanoutqa", USUAL, fanoutqa),
            Benchmark::Infinity { folder, choice, output } => infinity::import(&folder, &choice, &output),
            Benchmark::Mind2WebLive(live) => live.import("mind2web-live", WEBCANVAS, mind2web_live),
            Benchmark::Miniwob { folder, output, seed } => miniwob::import(&folder, &output, seed),
            Benchmark::Turkingbench { folder, choice, output } => {
                turkingbench::import(&folder, &choice, &output)
            }
            Benchmark::Visualwebarena { files, sites, output } => {
                webarena::import_visual(&files, sites, &output)
            }
            Benchmark::Warcbench { files, choice, output } => warcbench::import(&files, &choice, &output),
            Benchmark::Webarena { file, subset, sites, output } => {
                webarena::import(&file, subset, sites, &output)
            }
            Benchmark::WebarenaVerified { file, sites, output } => {
                webarena::import_verified(&file, sites, &output)
            }
            Benchmark::Webchorearena { files, sites, output } => {
                webarena::import_chores(&files, sites, &output)
            }
            Benchmark::Workarena { folder, choice, output } => workarena::import(&folder, choice, &output),
        }
    }
}

/// The viewport of BrowserGym.
const USUAL: (u32, u32) = (1280, 720);
/// That of WebCanvas.
const WEBCANVAS: (u32, u32) = (1080, 720);

/// Says what is worth a warning in a benchmark's file.
pub(crate) fn warn(import: &Import) {
    for (warning, tasks) in &import.warnings {
        out::warn(&format!("{warning} (in {})", counted(*tasks, "task")));
    }
}

/// What is written.
struct Written<'a> {
    name: &'a str,
    world: WorldSpec,
    /// Of the sites that come with the suite, by their names.
    manifests: Vec<(&'a str, String)>,
    /// What else comes with it, by its place in the suite's folder.
    files: Vec<(Utf8PathBuf, String)>,
    import: &'a Import,
}

#[derive(serde::Serialize)]
struct SuiteFile<'a> {
    name: &'a str,
    world: &'a WorldSpec,
}

impl Written<'_> {
    fn write(&self, output: &Utf8Path) -> anyhow::Result<()> {
        if out::is_stdout(output) {
            bail!("a suite is a folder, and `-` is none; name another one");
        }
        if fs::symlink_metadata(output).is_ok() {
            bail!("{output} is there already; remove it, or name another folder");
        }
        let parent = match output.parent() {
            Some(parent) if !parent.as_str().is_empty() => parent,
            _ => Utf8Path::new("."),
        };
        fs::create_dir_all(parent).with_context(|| parent.to_string())?;
        let part = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o755))
            .prefix(".import-")
            .tempdir_in(parent)
            .with_context(|| parent.to_string())?;
        let folder = Utf8Path::from_path(part.path()).context("the name of a folder is not UTF-8")?;
        let suite = SuiteFile { name: self.name, world: &self.world };
        fs::write(folder.join("suite.yaml"), yaml::to_string(&suite)?)?;
        for (name, manifest) in &self.manifests {
            let site = folder.join("sites").join(name);
            fs::create_dir_all(&site)?;
            fs::write(site.join("site.yaml"), manifest)?;
        }
        for (place, text) in &self.files {
            let path = folder.join(place);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        for task in &self.import.tasks {
            let Task { id, .. } = task;
            fs::write(folder.join(format!("{id}.yaml")), yaml::to_string(task)?)?;
        }
        fs::rename(folder, output).with_context(|| output.to_string())?;
        // It has another name now, so there is nothing to remove.
        let _ = part.keep();
        Ok(())
    }

    /// Says what was left out, and what to do with the rest.
    fn say_rest(&self, output: &Utf8Path) {
        warn(self.import);
        for Skipped { id, reason } in &self.import.skipped {
            println!("left out {id}: {reason}");
        }
        println!("sandbox run {output} --agent AGENT");
    }
}
