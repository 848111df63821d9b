//! `sandbox tasks`: lists, shows, checks and imports tasks.

mod check;
pub(crate) mod import;

use camino::Utf8PathBuf;
use play::suites::load_undated;
use tasks::{Suite, Task};

use crate::failure::{OrFail, Outcome};
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

fn for_programs(task: &Task) -> serde_json::Value {
    task.for_programs().expect("a task that was read can be written")
}

fn list(suite: &Suite, json: bool) -> Outcome {
    if json {
        out::json(&suite.tasks.iter().map(for_programs).collect::<Vec<_>>());
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
    if json {
        out::json(&for_programs(task));
    } else {
        print!("{}", yaml::to_string(task).expect("a task that was read can be written"));
    }
    Ok(())
}
