//! Collects the files of a packed run: of the run, its suite, and everything that its world reads.
//!
//! The suite may come from somebody else. So it decides which files are needed, but never alone
//! that a file outside of it is given away.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use scoring::{ProgramCheck, Requirement};
use sites::{Site, is_shipped};
use snapshots::collection::Collection;
use snapshots::{Archive, is_address};
use tasks::{Suite, Task, UNDATED, WorldSpec};
use tempfile::TempDir;

use super::Error;
use super::manifest::{CASSETTE, RUN, SUITE};
use crate::Summary;
use crate::stored::suite_digest::Digests;
use crate::stored::{EpisodeId, EpisodeRecord, PlaySettings, RunFolder, RunRecord};

/// Files of episodes with which anybody could log in. They stay out.
const CREDENTIALS: [&str; 2] = ["storage_state.json", "network.har"];
/// Files of the run's folder itself. Other files there are not the run's.
const OF_RUN: [&str; 3] = ["run.json", "report.html", "trace.html"];

/// Files of a run that may show solutions.
const TELLS_SOLUTIONS: [&str; 3] = ["score_state.json", "report.html", "trace.html"];

/// Whether snapshots are in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Snapshots {
    /// All of them.
    #[default]
    Inside,
    /// None: the file names only their digests.
    ByDigest,
}

/// The inputs of a pack.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The folder of the run.
    pub run: Utf8PathBuf,
    /// The folder of its suite. If `None`, the one that the run names.
    pub suite: Option<Utf8PathBuf>,
    /// Recorded replies of models. If `None`, those that the run names.
    pub cassette: Option<Utf8PathBuf>,
    /// Whether snapshots are in the file.
    pub snapshots: Snapshots,
    /// Whether the suite, and what else tells its solutions, stays out. So do recorded replies of
    /// models: what a judge was asked has the references in it.
    pub without_solutions: bool,
    /// Files and folders outside of the suite's folder that its world reads and that may be packed:
    /// cookies and storage, files to upload, sites.
    pub include: Vec<Utf8PathBuf>,
}

/// A file to be packed.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) from: Utf8PathBuf,
    pub(super) executable: bool,
    /// Whether it is a file of the run, behind which no link is followed.
    pub(super) of_run: bool,
}

/// All files of a packed run.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) summary: Summary,
    pub(super) record: RunRecord,
    pub(super) settings: PlaySettings,
    /// By their paths in the file.
    pub(super) files: BTreeMap<String, Source>,
    /// The paths of `files` that are snapshots.
    pub(super) snapshots: BTreeSet<String>,
    pub(super) paths: BTreeMap<String, String>,
    /// Files of the run that stay out because they hold credentials.
    pub(super) left_out: usize,
    /// Files that were written for the pack.
    pub(super) written: Option<TempDir>,
}

/// Finds all files.
///
/// # Errors
/// When the run has not ended, its suite is not the one that was run, or a file cannot be read.
pub(super) fn collect(sources: &Sources) -> Result<Collected, Error> {
    let folder = RunFolder::open(&sources.run)?;
    let record = folder.run()?;
    let summary = Summary::read(&sources.run)?;
    let planned = record.planned();
    let missing = planned.iter().filter(|id| !folder.episode(id).is_whole()).count();
    if missing > 0 {
        return Err(Error::Unfinished {
            run: sources.run.clone(),
            missing,
            planned: planned.len(),
        });
    }
    let inputs = folder.inputs()?;
    let settings = inputs.as_ref().map(|inputs| inputs.settings.clone()).unwrap_or_default();
    let suite_path = match (&sources.suite, &inputs) {
        (Some(named), _) => named.clone(),
        (None, Some(inputs)) => inputs.path(&inputs.suite),
        (None, None) => return Err(Error::NoSuite { run: sources.run.clone() }),
    };
    let typed = inputs.as_ref().map_or(suite_path.as_path(), |inputs| inputs.suite.as_path());
    let suite = load(&suite_path, &record)?;
    let tasks = tasks_of(&suite, &record, settings.max_steps)?;
    if digest(&suite, &tasks, typed)? != record.suite_digest {
        return Err(Error::SuiteChanged { run: sources.run.clone(), suite: suite.folder });
    }
    let of_tasks = tasks.iter().filter_map(|task| task.snapshots.as_ref()).flatten();
    if let Some(address) = of_tasks.chain(&suite.world.snapshots).find(|path| is_address(path)) {
        return Err(Error::Remote { run: sources.run.clone(), address: address.clone() });
    }
    let mut collected = Collected {
        summary,
        record,
        settings,
        files: BTreeMap::new(),
        snapshots: BTreeSet::new(),
        paths: BTreeMap::new(),
        left_out: 0,
        written: None,
    };
    collected.add_run(&sources.run, &planned, &folder)?;
    // Who names the suite knows where its links lead.
    let links = if sources.suite.is_some() { Links::Followed } else { Links::Inside };
    if sources.without_solutions {
        collected.written = Some(without_solutions(&mut collected.files, &planned, &folder)?);
    } else {
        collected.add_suite(&suite, links)?;
    }
    collected.add_world(&suite, &tasks, links, sources)?;
    let recorded =
        || inputs.as_ref().and_then(|inputs| Some(inputs.path(inputs.cassette.as_ref()?)));
    // Which of its lines are a judge's cannot be told with certainty.
    if !sources.without_solutions
        && let Some(cassette) = sources.cassette.clone().or_else(recorded)
    {
        let named = sources.cassette.is_some();
        if !named && ![&sources.run, &suite.folder].iter().any(|folder| is_below(folder, &cassette))
        {
            let (run, what) = (sources.run.clone(), "recorded replies of models");
            return Err(Error::Outside { run, what, path: cassette, flag: "--cassette" });
        }
        collected.add(CASSETTE.to_owned(), &cassette, false);
    }
    Ok(collected)
}

/// Removes everything from a run's files that shows the solutions of its suite: the references of
/// scorers, and pages with them. The remaining results are written into a folder of their own.
fn without_solutions(
    files: &mut BTreeMap<String, Source>,
    planned: &[EpisodeId],
    folder: &RunFolder,
) -> Result<TempDir, Error> {
    let temporary = tempfile::Builder::new().prefix("sandbox-pack-").tempdir();
    let unwritten = |source| crate::Error::Write { path: folder.path().to_owned(), source };
    let temporary = temporary.map_err(unwritten)?;
    files.retain(|path, _| !TELLS_SOLUTIONS.iter().any(|name| path.ends_with(&format!("/{name}"))));
    for (number, id) in planned.iter().enumerate() {
        let record =
            EpisodeRecord { detail: None, judgements: Vec::new(), ..folder.episode(id).record()? };
        let path = temporary.path().join(number.to_string());
        let text =
            serde_json::to_vec_pretty(&record).map_err(|source| crate::Error::Encode { source })?;
        std::fs::write(&path, text).map_err(unwritten)?;
        let from = Utf8PathBuf::from_path_buf(path)
            .map_err(|_| unwritten(io::ErrorKind::InvalidData.into()))?;
        let name = format!("{RUN}/episodes/{}/episode.json", id.folder_name());
        files.insert(name, Source { from, executable: false, of_run: false });
    }
    Ok(temporary)
}

/// Loads the suite of a run. If its world names no time, it gets that of the run.
pub(super) fn load(path: &Utf8Path, record: &RunRecord) -> Result<Suite, Error> {
    // A folder alone is its newest version.
    let of_run = record.world.version.filter(|_| path.exists());
    let path = of_run.map_or_else(|| path.to_owned(), |version| format!("{path}@{version}").into());
    let mut suite = Suite::load(&path).map_err(|source| Error::Suite { source })?;
    if suite.world.clock == UNDATED {
        suite.world.clock = record.world.clock;
    }
    Ok(suite)
}

/// The tasks of a run, as they were played.
pub(super) fn tasks_of(
    suite: &Suite,
    record: &RunRecord,
    max_steps: Option<u32>,
) -> Result<Vec<Task>, crate::Error> {
    let tasks: Vec<String> = record.tasks.iter().map(|task| task.id.clone()).collect();
    Ok(suite.select(&tasks, max_steps)?)
}

/// Returns the digest of the suite under the name that it had when it was run: the path of the
/// sites counts as it was given.
fn digest(suite: &Suite, tasks: &[Task], typed: &Utf8Path) -> Result<String, crate::Error> {
    let as_typed = |sites: &Utf8PathBuf| match sites.strip_prefix(&suite.folder) {
        Ok(rest) => typed.join(rest),
        Err(_) => sites.clone(),
    };
    let sites = suite.world.sites.as_ref().map(as_typed);
    Digests::default().of_suite(&WorldSpec { sites, ..suite.world.clone() }, tasks)
}

impl Collected {
    fn add(&mut self, path: String, from: &Utf8Path, executable: bool) {
        self.files.insert(path, Source { from: from.to_owned(), executable, of_run: false });
    }

    fn add_of_run(&mut self, path: String, from: Utf8PathBuf) {
        self.files.insert(path, Source { from, executable: false, of_run: true });
    }

    fn add_run(
        &mut self,
        run: &Utf8Path,
        planned: &[EpisodeId],
        folder: &RunFolder,
    ) -> Result<(), Error> {
        for name in OF_RUN {
            if run.join(name).symlink_metadata().is_ok_and(|there| there.is_file()) {
                self.add_of_run(format!("{RUN}/{name}"), run.join(name));
            }
        }
        for id in planned {
            let episode = folder.episode(id);
            let unread = |source| crate::Error::Read { path: episode.path().to_owned(), source };
            // What is no regular file is no file of the run.
            let found = ::files::below::list(episode.path()).map_err(unread)?;
            for name in found.files.into_iter().filter(|name| !is_hidden(name)) {
                let from = episode.path().join(&name);
                if CREDENTIALS.contains(&name.as_str()) {
                    self.left_out += 1;
                } else {
                    self.add_of_run(format!("{RUN}/episodes/{}/{name}", id.folder_name()), from);
                }
            }
        }
        Ok(())
    }

    /// Adds the files that [`Suite::load`] reads, and the programs of scorers.
    fn add_suite(&mut self, suite: &Suite, links: Links) -> Result<(), Error> {
        let unread = |source| crate::Error::Read { path: suite.folder.clone(), source };
        for entry in suite.folder.read_dir_utf8().map_err(unread)? {
            let entry = entry.map_err(unread)?;
            if matches!(entry.path().extension(), Some("yaml" | "yml")) && entry.path().is_file() {
                links.check(&suite.folder, entry.path())?;
                self.add(format!("{SUITE}/{}", entry.file_name()), entry.path(), false);
            }
        }
        let requirements = suite.tasks.iter().flat_map(|task| task.scorer.requirements());
        for program in requirements.filter_map(Requirement::program) {
            for file in ProgramCheck::files(program) {
                if let Ok(below) = file.strip_prefix(&program.folder) {
                    links.check(&program.folder, &file)?;
                    self.add(format!("{SUITE}/{below}"), &file, is_executable(&file));
                }
            }
        }
        Ok(())
    }

    /// Adds the other files of the world and of the run's tasks. A user who lets a suite read a
    /// private file has not yet agreed to give that file away with the run.
    fn add_world(
        &mut self,
        suite: &Suite,
        tasks: &[Task],
        links: Links,
        sources: &Sources,
    ) -> Result<(), Error> {
        let world = &suite.world;
        let own = |what, path: &Utf8PathBuf| {
            let mut named = sources.include.iter().chain([&suite.folder]);
            if named.any(|folder| is_below(folder, path)) {
                return Ok(());
            }
            let (run, path) = (sources.run.clone(), path.clone());
            Err(Error::Outside { run, what, path, flag: "--include" })
        };
        let of_tasks = tasks.iter().filter_map(|task| task.snapshots.as_ref()).flatten();
        for snapshot in world.snapshots.iter().chain(of_tasks) {
            for file in self.add_snapshot(suite, snapshot) {
                own("a snapshot", &file)
                    .or_else(|error| if is_recording(&file) { Ok(()) } else { Err(error) })?;
            }
        }
        // A file without solutions is not played.
        if sources.without_solutions {
            return Ok(());
        }
        let states = tasks.iter().filter_map(|task| task.storage_state.as_ref());
        for state in world.storage_state.iter().chain(states) {
            own("the cookies and storage that episodes begin with", state)?;
            self.place(suite, "state", state);
        }
        let has_sites = tasks.iter().any(|task| !task.sites.is_empty());
        let folders = [
            ("files", "the files to upload", &world.files),
            ("sites", "the folder of its sites", &world.sites),
        ];
        for (part, what, folder) in folders {
            let Some(folder) = folder.as_ref().filter(|_| part == "files" || has_sites) else {
                continue;
            };
            if part == "files" || !are_shipped(folder, tasks) {
                own(what, folder)?;
            }
            self.paths.insert(written(suite, folder), part.to_owned());
            let found = files(folder, links)?;
            let is_wanted = |name: &str| part == "files" || is_of_a_site(name, &found, tasks);
            for (name, from) in found.iter().filter(|(name, _)| is_wanted(name)) {
                self.add(format!("{part}/{name}"), from, is_executable(from));
            }
        }
        Ok(())
    }

    /// Adds a snapshot; a collection with its members, in a folder of its own. Returns the files of
    /// it that are no collection.
    fn add_snapshot(&mut self, suite: &Suite, snapshot: &Utf8Path) -> Vec<Utf8PathBuf> {
        if self.paths.contains_key(&written(suite, snapshot)) {
            return Vec::new();
        }
        // What cannot be read is named when it is packed.
        let Some(collection) = Collection::read_if_json(snapshot).unwrap_or(None) else {
            let path = self.place(suite, "snapshots", snapshot);
            self.snapshots.insert(path);
            return vec![snapshot.to_owned()];
        };
        let mut folders = (1..).map(|number| format!("snapshots/collection-{number}"));
        let is_free = |folder: &String| {
            !self.files.keys().any(|path| path.starts_with(&format!("{folder}/")))
        };
        let folder = folders.find(is_free).expect("there are endless numbers");
        let path = self.place(suite, &folder, snapshot);
        self.snapshots.insert(path);
        let beside = snapshot.parent().unwrap_or(Utf8Path::new(""));
        let mut members = Vec::new();
        for member in collection.resources {
            let path = format!("{folder}/{}", member.path);
            members.push(beside.join(&member.path));
            self.add(path.clone(), &beside.join(&member.path), false);
            self.snapshots.insert(path);
        }
        members
    }

    /// Adds one file that the suite names, under its own name. Returns its path in the pack.
    fn place(&mut self, suite: &Suite, part: &str, from: &Utf8Path) -> String {
        let written = written(suite, from);
        if let Some(known) = self.paths.get(&written) {
            return known.clone();
        }
        let name = from.file_name().unwrap_or(part);
        let numbered = (1..).map(|number| match number {
            1 => format!("{part}/{name}"),
            number => format!("{part}/{number}-{name}"),
        });
        let path = numbered.into_iter().find(|path| !self.files.contains_key(path));
        let path = path.expect("there are endless numbers");
        self.add(path.clone(), from, false);
        self.paths.insert(written, path.clone());
        path
    }
}

/// Whether a file is a recording of the web, wherever it is. Any other file may be private.
fn is_recording(path: &Utf8Path) -> bool {
    let has_records =
        |archive: Archive| archive.records().next().is_some_and(|record| record.is_ok());
    Archive::open(path).is_ok_and(has_records)
}

/// Whether the sites that the tasks name are those that come with this program.
fn are_shipped(folder: &Utf8Path, tasks: &[Task]) -> bool {
    let mut named = tasks.iter().flat_map(|task| &task.sites);
    named.all(|name| Site::load(&folder.join(name)).is_ok_and(|site| is_shipped(&site)))
}

/// A path as the suite's files write it.
pub(super) fn written(suite: &Suite, path: &Utf8Path) -> String {
    path.strip_prefix(&suite.folder).unwrap_or(path).to_string()
}

fn is_executable(path: &Utf8Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
}

/// Whether a path leads to a place below a folder, wherever links on the way lead.
fn is_below(folder: &Utf8Path, path: &Utf8Path) -> bool {
    match (folder.canonicalize_utf8(), path.canonicalize_utf8()) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        _ => false,
    }
}

/// Returns whether a file of the folder of sites is one of a site that the tasks name. Other files
/// there stay out: the digest of the suite does not cover them.
fn is_of_a_site(name: &str, found: &BTreeMap<String, Utf8PathBuf>, tasks: &[Task]) -> bool {
    let Some((site, _)) = name.split_once('/') else { return false };
    tasks.iter().any(|task| task.sites.iter().any(|named| named == site))
        && found.contains_key(&format!("{site}/site.yaml"))
}

/// The targets that links of a suite may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Below its folder: the run that names the suite may come from somebody else.
    Inside,
    /// Anywhere: the user has named the suite.
    Followed,
}

impl Links {
    fn check(self, folder: &Utf8Path, path: &Utf8Path) -> Result<(), Error> {
        if self == Links::Followed || is_below(folder, path) {
            return Ok(());
        }
        Err(Error::LeadsOut { path: path.to_owned(), folder: folder.to_owned() })
    }
}

/// All regular files below a folder, by their paths below it, except hidden ones.
fn files(folder: &Utf8Path, links: Links) -> Result<BTreeMap<String, Utf8PathBuf>, Error> {
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(next) = rest.pop() {
        let unread = |source: io::Error| crate::Error::Read { path: next.clone(), source };
        // Links can make a circle.
        if !seen.insert(next.canonicalize_utf8().map_err(unread)?) {
            continue;
        }
        for entry in next.read_dir_utf8().map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let path = entry.path();
            if entry.file_name().starts_with('.') {
                continue;
            }
            links.check(folder, path)?;
            let there = path.metadata();
            let there =
                there.map_err(|source| crate::Error::Read { path: path.to_owned(), source })?;
            if there.is_dir() {
                rest.push(path.to_owned());
            } else if there.is_file() {
                let below = path.strip_prefix(folder).unwrap_or(path).to_string();
                found.insert(below, path.to_owned());
            }
        }
    }
    Ok(found)
}
