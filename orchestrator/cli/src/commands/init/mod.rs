//! `sandbox init`: the folder of a new suite, with a task that passes and an agent that plays it.

use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser as _;
use play::suites::scaffold;
use recorder::web_address;
use results::counted;
use tasks::scaffold::{Scaffold, filled};
use url::Url;

use crate::commands::demo;
use crate::commands::record::Record;
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::terminal::out;
use crate::trust;
use crate::trust::Origin;

const SUITE: &str = "suite.yaml";
const TASK: &str = "first-task.yaml";
const SNAPSHOT: &str = "snapshot.wacz";
/// What comes beside any suite.
const BESIDE: [(&str, &str); 3] = [
    ("README.md", include_str!("README.md")),
    ("agent.py", include_str!("agent.py")),
    ("sandbox_agents.py", include_str!("../../../../../clients/python/sandbox_agents.py")),
];

/// Make the folder of a new suite: a task that passes, an agent in Python, and a README
///
/// The world of the suite is a page that is recorded now (--url), a recording (--snapshot), or
/// sites (--site). Without any of them it is the recording of the demo. In the folder of a suite,
/// such as `sandbox tasks import` makes, only the agent and the README are added. No file is
/// replaced.
#[derive(clap::Args)]
pub(crate) struct Init {
    /// Folder of the suite; it is made if it is not there
    folder: Utf8PathBuf,
    /// Record this page first; options of `sandbox record` follow after `--`
    #[arg(long, value_parser = web_address, group = "world")]
    url: Option<Url>,
    /// Use this recording; can be repeated. It stays where it is
    #[arg(long, value_name = "FILE", group = "world")]
    snapshot: Vec<Utf8PathBuf>,
    /// Use this site; can be repeated
    #[arg(long, value_name = "NAME", group = "world")]
    site: Vec<String>,
    /// Folder that has a folder for each site
    #[arg(long, value_name = "DIR", default_value = "sites")]
    sites: Utf8PathBuf,
    /// Options of `sandbox record`
    #[arg(last = true, requires = "url", value_name = "RECORD OPTIONS")]
    record: Vec<String>,
    #[command(flatten)]
    data: DataFolder,
}

/// The words of the command line of a recording, from `record` on.
#[derive(clap::Parser)]
struct RecordAlone {
    #[command(flatten)]
    record: Record,
}

impl Init {
    /// Whether it records pages, which may be of this user alone.
    pub(crate) fn records(&self) -> bool {
        self.url.is_some()
    }

    pub(crate) async fn run(self) -> Outcome {
        let folder = &self.folder;
        let new_folder = !folder.exists();
        std::fs::create_dir_all(folder).or_input(format!("make {folder}"))?;
        let is_empty = folder.read_dir().is_ok_and(|mut entries| entries.next().is_none());
        let is_agreed_to = || trust::is_agreed_to(folder, &self.data).unwrap_or(false);
        let origin = if is_empty {
            Origin::New
        } else if folder.join(SUITE).exists() && is_agreed_to() {
            Origin::Agreed
        } else {
            // Also where only its suite.yaml is missing: the tasks may be somebody else's.
            Origin::Foreign
        };
        let made = self.write().await;
        if made.is_err() && new_folder {
            // Only if it is empty.
            let _ = std::fs::remove_dir(folder);
        }
        let files = made?;
        println!("{folder} has {}: {}", counted(files.len(), "more file"), files.join(", "));
        trust::warn_unless_kept(trust::agree_to_own(folder, origin, &self.data));
        println!("");
        let own =
            format!("program:{}", out::command_line(["python3", folder.join("agent.py").as_str()]));
        for agent in ["oracle", &own] {
            println!(
                "{}",
                out::command_line(["sandbox", "run", folder.as_str(), "--agent", agent])
            );
        }
        Ok(())
    }

    /// Writes the files, and gives their names.
    async fn write(&self) -> Result<Vec<&'static str>, Failure> {
        let mut files = Vec::new();
        if self.folder.join(SUITE).exists() {
            if self.url.is_some() || !self.snapshot.is_empty() || !self.site.is_empty() {
                return Err(Failure::Input(format!(
                    "failed to make a suite in {}: {SUITE} is there already; name another folder, or leave --url, \
                     --snapshot and --site out to add an agent to it",
                    self.folder
                )));
            }
        } else {
            let scaffold = self.scaffold().await?;
            files.extend([(SUITE, scaffold.suite(&self.folder)), (TASK, scaffold.task())]);
        }
        let folder = [("folder", self.folder.as_str())];
        files.extend(BESIDE.map(|(name, text)| (name, filled(text, &folder))));
        let mut written = Vec::new();
        for (name, text) in files {
            let path = self.folder.join(name);
            if write_new(&path, text.as_bytes()).or_input(format!("write {path}"))? {
                written.push(name);
            }
        }
        Ok(written)
    }

    async fn scaffold(&self) -> Result<Scaffold, Failure> {
        let folder = &self.folder;
        if !self.site.is_empty() {
            let made = scaffold::of_sites(folder, &self.sites, &self.site);
            return made.map_err(Failure::input);
        }
        if !self.snapshot.is_empty() {
            return scaffold::of_snapshots(folder, &self.snapshot).map_err(Failure::input);
        }
        let snapshot = self.folder.join(SNAPSHOT);
        match &self.url {
            Some(url) => self.record_into(&snapshot, url).await?,
            None => {
                write_new(&snapshot, demo::SNAPSHOT).or_input(format!("write {snapshot}"))?;
            }
        }
        scaffold::of_snapshots(folder, &[snapshot]).map_err(Failure::input)
    }

    async fn record_into(&self, snapshot: &Utf8Path, url: &Url) -> Outcome {
        let data = self.data.path()?;
        let command =
            ["record", url.as_str(), "--output", snapshot.as_str(), "--data", data.as_str()];
        let command = command.into_iter().chain(self.record.iter().map(String::as_str));
        let parsed = RecordAlone::try_parse_from(command).map_err(|error| {
            Failure::Input(format!("failed to read what follows `--`: {error}"))
        })?;
        parsed.record.run().await
    }
}

/// Writes a file if it is not there. Tells whether it was written.
fn write_new(path: &Utf8Path, contents: &[u8]) -> std::io::Result<bool> {
    match std::fs::File::create_new(path) {
        Ok(mut file) => file.write_all(contents).map(|()| true),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}
