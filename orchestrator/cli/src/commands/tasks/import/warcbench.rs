//! WARC-Bench: its tasks, each in the recording that it names.

use std::collections::{BTreeMap, HashSet};

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use results::counted;
use snapshots::Archive;
use tasks::import::warcbench::{Recording, read_kinds, suite};

use super::{say_rest, write};
use crate::failure::{OrFail, Outcome};

/// Where the recordings and the kinds of tasks are.
#[derive(clap::Args)]
pub(in crate::commands::tasks) struct Choice {
    /// Folder `web_archives` of the benchmark, or a folder that holds it. Tasks without a recording
    /// are left out and named
    #[arg(long, value_name = "DIR")]
    archives: Utf8PathBuf,
    /// CSV file of a split, such as `tasks_dev_08202025.csv`; the kinds of tasks in it become tags.
    /// Can be repeated
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
    let suite = suite(files, &kinds, &mut |place| archives.find(place)).or_input(DOING)?;
    write(&suite, output)?;
    let tasks = &suite.import.tasks;
    let recordings: HashSet<_> = tasks.iter().filter_map(|task| task.snapshots.as_ref()).collect();
    let recordings = counted(recordings.len(), "recording");
    println!("{output}: {}, in {recordings}", counted(tasks.len(), "task"));
    say_rest(&suite.import, output);
    Ok(())
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
    let inside =
        ["", "web_archives", "environments/web_archives"].map(|inside| folder.join(inside));
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
