//! WARC-Bench: its tasks, each in the recording that it names.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use snapshots::Archive;
use tasks::Task;
use tasks::import::Import;
use tasks::import::warcbench::{Kinds, Recording, kinds, split, warcbench, world};

use super::Written;
use crate::failure::{Failure, OrFail, Outcome};

/// Where the recordings and the kinds of tasks are.
#[derive(clap::Args)]
pub(in crate::tasks) struct Choice {
    /// Folder `web_archives` of the benchmark, or a folder that holds it. Tasks without a recording are left out and
    /// named
    #[arg(long, value_name = "DIR")]
    archives: Utf8PathBuf,
    /// CSV file of a split, such as `tasks_dev_08202025.csv`; the kinds of tasks in it become tags. Can be repeated
    #[arg(long, value_name = "FILE")]
    kinds: Vec<Utf8PathBuf>,
}

const DOING: &str = "import WARC-Bench";

/// Writes the suite, and says what is in it.
pub(super) fn import(files: &[Utf8PathBuf], choice: &Choice, output: &Utf8Path) -> Outcome {
    let mut archives = Archives { folder: &choice.archives, found: BTreeMap::new() };
    if !choice.archives.is_dir() {
        return Err(anyhow!("{} is no folder with recordings", choice.archives)).or_input(DOING);
    }
    let kinds = read_kinds(&choice.kinds).or_input(DOING)?;
    let mut all = Import::default();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| file.to_string()).or_input(DOING)?;
        let import = warcbench(&text, split(file), &kinds, &mut |place| archives.find(place));
        all.extend(import.with_context(|| file.to_string()).or_input(DOING)?);
    }
    let mut ids = HashSet::new();
    if let Some(Task { id, .. }) = all.tasks.iter().find(|task| !ids.insert(&task.id)) {
        let error =
            anyhow!("{id} is there twice; name each file once, and `benchmark.json` without the others");
        return Err(error).or_input(DOING);
    }
    let Some(clock) = all.tasks.iter().filter_map(|task| task.clock).min() else {
        let why = all.skipped.first().map_or("there are none".to_owned(), |one| one.reason.clone());
        return Err(Failure::Input(format!("failed to {DOING}: no task can be imported: {why}")));
    };
    let recordings: HashSet<_> = all.tasks.iter().filter_map(|task| task.snapshots.as_ref()).collect();
    let recordings = counted(recordings.len(), "recording");
    let suite = Written {
        name: "warcbench",
        world: world(clock),
        manifests: Vec::new(),
        files: Vec::new(),
        import: &all,
    };
    suite.write(output).or_input("write the suite")?;
    println!("{output}: {}, in {recordings}", counted(all.tasks.len(), "task"));
    suite.say_rest(output);
    Ok(())
}

fn read_kinds(files: &[Utf8PathBuf]) -> anyhow::Result<BTreeMap<String, Kinds>> {
    let mut all = BTreeMap::new();
    for file in files {
        let split = split(file).with_context(|| {
            format!("{file}: its name does not say of which split it is: dev, test or train")
        })?;
        let text = fs::read_to_string(file).with_context(|| file.to_string())?;
        all.insert(split.to_owned(), kinds(&text).with_context(|| file.to_string())?);
    }
    Ok(all)
}

/// The recordings that were looked for, each opened once.
struct Archives<'a> {
    folder: &'a Utf8Path,
    found: BTreeMap<String, Result<Recording, String>>,
}

impl Archives<'_> {
    /// By its place below the benchmark's folder of recordings.
    fn find(&mut self, place: &str) -> Result<Recording, String> {
        if let Some(found) = self.found.get(place) {
            return found.clone();
        }
        let found = open(self.folder, place).map_err(|error| error_text::with_causes(&*error));
        self.found.insert(place.to_owned(), found.clone());
        found
    }
}

fn open(folder: &Utf8Path, place: &str) -> anyhow::Result<Recording> {
    let inside = ["", "web_archives", "environments/web_archives"].map(|inside| folder.join(inside));
    let path = inside.iter().map(|folder| folder.join(place)).find(|path| path.is_file());
    let path = path.with_context(|| format!("its recording {place} is not in {folder}"))?;
    let archive = Archive::open(&path)?;
    let began = archive.records().find_map(|record| {
        let (_, record) = record.ok()?;
        record.holds_http().then(|| record.date()).flatten()
    });
    let began = began.with_context(|| format!("its recording {path} holds nothing with a date"))?;
    Ok(Recording { path: path.canonicalize_utf8()?, began: began.inner() })
}
