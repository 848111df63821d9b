//! `sandbox tasks`: lists, shows, checks and imports tasks.

mod check;
pub(crate) mod import;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use snapshots::Archive;
use tasks::{Suite, Task};

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::terminal::out;
use crate::terminal::progress::wrap;

/// List, show and check the tasks of a suite; import a benchmark
#[derive(clap::Args)]
pub(crate) struct Tasks {
    #[command(subcommand)]
    command: Command,
}

impl Tasks {
    /// Whether it plays tasks, whose results are for this user alone.
    pub(crate) fn plays(&self) -> bool {
        matches!(self.command, Command::Check(_))
    }
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the tasks of a suite
    List {
        /// Folder with a suite.yaml
        suite: Utf8PathBuf,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Show one task with its scorer and oracle, as YAML
    Show {
        /// Folder with a suite.yaml
        suite: Utf8PathBuf,
        /// Id of the task
        task: String,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    Check(check::Check),
    /// Print the JSON schema of tasks, suites and sites; editors complete and check files with it
    Schema {
        /// Kind of file
        #[arg(value_enum)]
        file: File,
    },
    /// Make a suite from the files of a benchmark, which stay where they are
    Import {
        #[command(subcommand)]
        benchmark: import::Benchmark,
        #[command(flatten)]
        data: DataFolder,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum File {
    /// `TASK.yaml`
    Task,
    /// `suite.yaml`
    Suite,
    /// `site.yaml`
    Site,
    /// `site.yaml`, as a Markdown page that lists every key
    SiteReference,
}

impl Tasks {
    /// Prints what was asked for.
    pub(crate) async fn run(self) -> Outcome {
        match self.command {
            Command::List { suite, json } => list(&load_undated(&suite)?, json),
            Command::Show { suite, task, json } => show(&load_undated(&suite)?, &task, json),
            Command::Check(check) => check.run().await,
            Command::Schema { file } => {
                match file {
                    File::Task => out::json(&tasks::schema::task()),
                    File::Suite => out::json(&tasks::schema::suite()),
                    File::Site => out::json(&sites::schema::site()),
                    File::SiteReference => print!("{}", sites::schema::reference()),
                }
                Ok(())
            }
            Command::Import { benchmark, data } => benchmark.import(&data),
        }
    }
}

/// Reads a suite; whatever is wrong with it is the user's to mend.
pub(crate) fn load(folder: &Utf8Path) -> Result<Suite, Failure> {
    let mut suite = load_undated(folder)?;
    date(&mut suite)?;
    Ok(suite)
}

/// Reads a suite without looking into its snapshots, which may be at an address of somebody else.
pub(crate) fn load_undated(folder: &Utf8Path) -> Result<Suite, Failure> {
    let is_there = folder.exists() || folder.as_str().contains('@');
    if !is_there {
        let meant = other_suite(folder).unwrap_or_default();
        return Err(Failure::Input(format!(
            "failed to load the suite: there is no {folder}{meant}"
        )));
    }
    let suite = Suite::load(folder).or_input("load the suite")?;
    if let Some(version) = suite.version.filter(|version| !suite.versions.contains(version)) {
        let there: Vec<String> = suite.versions.iter().map(ToString::to_string).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        return Err(Failure::Input(format!(
            "failed to load the suite: {} has no snapshots of {version}; there are: {there}",
            suite.folder
        )));
    }
    Ok(suite)
}

/// Takes the time of a world that names none from its first snapshot.
pub(crate) fn date(suite: &mut Suite) -> Outcome {
    if suite.world.clock == tasks::UNDATED {
        suite.world.clock = recorded(&suite.world.snapshots)?;
    }
    Ok(())
}

/// The suite beside a folder that is not there that may have been meant, as an error proposes it.
fn other_suite(folder: &Utf8Path) -> Option<String> {
    let beside =
        folder.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let entries = beside.read_dir_utf8().ok()?.filter_map(Result::ok);
    let suites = entries.filter(|entry| {
        ["yaml", "yml"].iter().any(|ending| entry.path().join(format!("suite.{ending}")).is_file())
    });
    let names: Vec<String> = suites.map(|entry| entry.file_name().to_owned()).collect();
    let near = suggestions::nearest(folder.file_name()?, names.iter().map(String::as_str))?;
    Some(format!(" (did you mean `{}`?)", folder.with_file_name(near)))
}

/// The time of the first recording in a file or a collection.
pub(crate) fn recorded_at(
    snapshot: &Utf8Path,
) -> Result<Option<snapshots::Timestamp>, snapshots::Error> {
    let files = snapshots::collection::files_of(snapshot)?;
    let times = files.iter().map(|file| Ok(Archive::open(file)?.recorded()));
    Ok(times.collect::<Result<Vec<_>, snapshots::Error>>()?.into_iter().flatten().min())
}

/// The time of a world that names none: that of its first snapshot.
pub(crate) fn recorded(snapshots: &[Utf8PathBuf]) -> Result<Timestamp, Failure> {
    let Some(first) = snapshots.first() else {
        return Err(Failure::Input(
            "failed to load the suite: its world has no `clock`, and no snapshot to take the time from; write one, \
             such as 2026-03-14T09:00:00Z"
                .to_owned(),
        ));
    };
    match recorded_at(first).or_input("load the suite")? {
        Some(time) => Ok(time.inner()),
        None => Err(Failure::Input(format!(
            "failed to load the suite: its world has no `clock`, and {first} holds nothing with a time; write one, \
             such as 2026-03-14T09:00:00Z"
        ))),
    }
}

fn list(suite: &Suite, json: bool) -> Outcome {
    if json {
        out::json(&suite.tasks);
        return Ok(());
    }
    let width = suite.tasks.iter().map(|task| task.id.len()).max().unwrap_or_default();
    for Task { id, goal, .. } in &suite.tasks {
        let goal = goal.to_string();
        println!("{}", wrap(&format!("{id:width$}  "), goal.lines().next().unwrap_or_default()));
    }
    Ok(())
}

fn show(suite: &Suite, id: &str, json: bool) -> Outcome {
    let task = suite.task(id).or_input("show a task")?;
    let mut fields = serde_yaml::to_value(task).expect("a task that was read can be written");
    // Digests of suites have it under its older name, which nobody should write any more.
    if let Some(fields) = fields.as_mapping_mut()
        && let Some(steps) = fields.remove("mistake")
    {
        fields.insert("wrong_solution".into(), steps);
    }
    if json {
        out::json(&fields);
    } else {
        print!("{}", yaml::to_string(&fields).expect("a task that was read can be written"));
    }
    Ok(())
}
