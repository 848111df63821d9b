//! TurkingBench: pages that are made of its own files when they are asked for, or a copy of Turkle
//! that has them, with the manifests of their sites.

use camino::{Utf8Path, Utf8PathBuf};
use results::counted;
use tasks::import::turkingbench::{SuiteOptions, TurkingBenchSuite, suite};
use turkingbench::Split;

use super::{say_rest, write};
use crate::failure::{OrFail, Outcome};

/// Which of its tasks, and where the files of other hosts are.
#[derive(clap::Args)]
pub(in crate::commands::tasks) struct Choice {
    /// Import only the tasks of this list of the benchmark
    #[arg(long, value_enum)]
    split: Option<Listed>,
    /// Import only this task, by the name of its folder; can be repeated
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    /// Import only the first N instances of each task
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// Folder with files of other hosts that the pages load: `https://code.jquery.com/x.js` is
    /// DIR/code.jquery.com/x.js
    #[arg(long, value_name = "DIR")]
    vendor: Option<Utf8PathBuf>,
    /// Snapshot with responses of other hosts that the pages load; can be repeated
    #[arg(long = "snapshot", value_name = "FILE")]
    snapshots: Vec<Utf8PathBuf>,
    /// Serve the tasks in Turkle itself, by the site `hits` with its own image
    #[arg(long)]
    turkle: bool,
}

/// The benchmark's lists
#[derive(Clone, Copy, clap::ValueEnum)]
enum Listed {
    Easy,
    Hard,
    Subjective,
}

impl From<Listed> for Split {
    fn from(listed: Listed) -> Split {
        match listed {
            Listed::Easy => Split::Easy,
            Listed::Hard => Split::Hard,
            Listed::Subjective => Split::Subjective,
        }
    }
}

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, choice: Choice, output: &Utf8Path) -> Outcome {
    let Choice { split, tasks, rows, vendor, snapshots, turkle } = choice;
    let options =
        SuiteOptions { split: split.map(Split::from), tasks, rows, vendor, snapshots, turkle };
    let TurkingBenchSuite { suite, root, tasks, missing_hosts } =
        suite(folder, &options).or_input("import TurkingBench")?;
    write(&suite, output)?;
    println!(
        "{output}: {} of {}, made from {root}",
        counted(suite.import.tasks.len(), "instance"),
        counted(tasks, "task")
    );
    for (task, hosts) in missing_hosts {
        println!("{task}: its pages ask for files of {}", hosts.join(", "));
    }
    if !options.snapshots.is_empty() {
        println!("What a recording has of those hosts is answered from it.");
    }
    if turkle {
        println!(
            "sandbox images build hits && sandbox images build --force --images '{output}/images' hits-turkingbench"
        );
    }
    say_rest(&suite.import, output);
    Ok(())
}
