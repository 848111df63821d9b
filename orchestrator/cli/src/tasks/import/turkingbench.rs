//! TurkingBench: pages that are made of its own files when they are asked for, or a copy of Turkle that has them, with the manifests of their sites.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use serde_json::json;
use tasks::import::turkingbench::{HOST, Source, TURKLE, Through, VENDOR, outside, turkingbench, world};
use tasks::import::{Import, Skipped};
use turkingbench::{Batch, Folder, Split, Task};

use super::Written;
use crate::failure::{OrFail, Outcome};

/// Which of its tasks, and where the files of other hosts are.
#[derive(clap::Args)]
pub(in crate::tasks) struct Choice {
    /// Only the tasks of this list of the benchmark's
    #[arg(long, value_enum)]
    split: Option<Listed>,
    /// Only this task, by the name of its folder; may be given several times
    #[arg(long = "task", value_name = "NAME")]
    tasks: Vec<String>,
    /// Only so many instances of each task, the first ones
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// A folder with the files of other hosts that pages ask for: `https://code.jquery.com/x.js` is DIR/code.jquery.com/x.js
    #[arg(long, value_name = "DIR")]
    vendor: Option<Utf8PathBuf>,
    /// A recording with what pages ask of other hosts; may be given several times
    #[arg(long = "snapshot", value_name = "FILE")]
    snapshots: Vec<Utf8PathBuf>,
    /// Have the tasks in Turkle itself, in a copy of the site `hits` with an image of its own
    #[arg(long)]
    turkle: bool,
}

/// The site whose copies have the tasks, as it is without them.
const HITS: &str = include_str!("../../../../../sites/hits/site.yaml");
const HITS_IMAGE: &str = "sandbox/hits:1";
/// Its image with the tasks.
const IMAGE: &str = "hits-turkingbench";
/// A task has at most so many instances, so that the numbers of each task's have room, whichever tasks are chosen.
const INSTANCES: u64 = 1_000_000;

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
pub(super) fn import(folder: &Utf8Path, choice: &Choice, output: &Utf8Path) -> Outcome {
    const DOING: &str = "import TurkingBench";
    let folder = Folder::open(folder).or_input(DOING)?;
    let hosts = choice.hosts().or_input(DOING)?;
    let (chosen, skipped) = choice.choose(&folder).or_input(DOING)?;
    let splits = splits(&folder, choice).or_input(DOING)?;
    let mut import = Import { skipped, ..Import::default() };
    let (mut asking, mut files) = (Vec::new(), Vec::new());
    for task in &chosen {
        let (template, batch) = (task.template().or_input(DOING)?, task.batch().or_input(DOING)?);
        let through = choice.through(&folder, task);
        let sites: Vec<String> = [through.site()]
            .into_iter()
            .chain(choice.vendor.as_ref().map(|_| VENDOR))
            .map(str::to_owned)
            .collect();
        let tags: Vec<String> = splits
            .iter()
            .filter(|(names, _)| names.contains(&task.name))
            .map(|(_, split)| split.name().to_owned())
            .collect();
        let made = turkingbench(&Source {
            task,
            template: &template,
            batch: &batch,
            rows: choice.rows.unwrap_or(usize::MAX),
            tags: &tags,
            sites: &sites,
            through,
        });
        if made.is_empty() {
            let reason = "its table has no instances, or no answers to them".to_owned();
            import.skipped.push(Skipped { id: task.name.clone(), reason });
        } else if let Through::Turkle(first) = through {
            let place = format!("images/{IMAGE}/load/{}.jsonl", task.slug);
            files.push((place.into(), project(task, &template, &batch, first, made.len())));
        }
        import.tasks.extend(made);
        asking.push((task, outside(&template, &batch)));
    }
    let root = folder.path().canonicalize_utf8().or_input(DOING)?;
    let mut manifests = if choice.turkle {
        files.push((format!("images/{IMAGE}/Dockerfile").into(), DOCKERFILE.to_owned()));
        vec![(TURKLE, HITS.replace(HITS_IMAGE, &format!("sandbox/{IMAGE}:1")))]
    } else {
        vec![(Through::Own.site(), manifest(&root))]
    };
    if let Some(vendor) = &choice.vendor {
        manifests.push((VENDOR, vendor_manifest(&vendor.canonicalize_utf8().or_input(DOING)?, &hosts)));
    }
    let snapshots: Vec<Utf8PathBuf> = choice
        .snapshots
        .iter()
        .map(|file| file.canonicalize_utf8())
        .collect::<Result<_, _>>()
        .or_input(DOING)?;
    let recorded = !snapshots.is_empty();
    let suite = Written { name: "turkingbench", world: world(snapshots), manifests, files, import: &import };
    suite.write(output).or_input("write the suite")?;
    println!(
        "{output}: {} of {}, made from {root}",
        counted(import.tasks.len(), "instance"),
        counted(chosen.len(), "task")
    );
    for (task, asked) in asking {
        let missing: Vec<&str> =
            asked.iter().map(String::as_str).filter(|host| !hosts.contains(*host)).collect();
        if !missing.is_empty() {
            println!("{}: its pages ask for files of {}", task.name, missing.join(", "));
        }
    }
    if recorded {
        println!("What a recording has of those hosts is answered from it.");
    }
    if choice.turkle {
        println!("sandbox build hits && sandbox build --force --images '{output}/images' {IMAGE}");
    }
    suite.say_rest(output);
    Ok(())
}

/// Adds the tasks to what copies begin with.
const DOCKERFILE: &str = "# Turkle with the tasks under `load`, each with a number of its own.
FROM sandbox/hits:1
USER root
COPY load /load
RUN cd /srv/site && PYTHONHASHSEED=0 STATE_DIR=/seed /opt/v/bin/python load.py /load
USER 10001:10001
";

/// A task as `images/hits/site/load.py` reads it: the project in the first line, and in each of the others an instance.
fn project(task: &Task, template: &str, batch: &Batch, first: u64, instances: usize) -> String {
    let mut lines = vec![json!({ "name": task.name, "template": template })];
    for (number, instance) in (first..).zip(&batch.instances).take(instances) {
        let given: serde_json::Map<_, _> = batch
            .inputs
            .iter()
            .cloned()
            .zip(instance.inputs.iter().cloned().map(serde_json::Value::from))
            .collect();
        lines.push(json!({ "id": number, "inputs": given }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

impl Choice {
    /// The hosts whose files are there.
    fn hosts(&self) -> anyhow::Result<BTreeSet<String>> {
        let Some(vendor) = &self.vendor else { return Ok(BTreeSet::new()) };
        let mut hosts = BTreeSet::new();
        for entry in vendor.read_dir_utf8().with_context(|| vendor.to_string())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                hosts.insert(entry.file_name().to_owned());
            }
        }
        if hosts.is_empty() {
            bail!("{vendor} has no folder with the name of a host, such as code.jquery.com");
        }
        Ok(hosts)
    }

    /// What shows a task's pages. In Turkle the numbers of its instances follow from its place in the whole folder.
    fn through(&self, folder: &Folder, task: &Task) -> Through {
        let place = folder.tasks().iter().position(|own| own.slug == task.slug).unwrap_or_default() as u64;
        if self.turkle { Through::Turkle((place + 1) * INSTANCES) } else { Through::Own }
    }

    /// The tasks that are wanted, and those that are and are not there.
    fn choose<'a>(&self, folder: &'a Folder) -> anyhow::Result<(Vec<&'a Task>, Vec<Skipped>)> {
        let find =
            |name: &String| folder.tasks().iter().find(|task| task.name == *name || task.slug == *name);
        if let Some(name) = self.tasks.iter().find(|name| find(name).is_none()) {
            bail!("{}", no_task(folder, name));
        }
        let listed = self.split.map(|split| folder.split(split.into())).transpose()?;
        let wanted = |task: &&Task| {
            let named = self.tasks.is_empty()
                || self.tasks.iter().any(|name| *name == task.name || *name == task.slug);
            named && listed.as_ref().is_none_or(|listed| listed.contains(&task.name))
        };
        let chosen: Vec<&Task> = folder.tasks().iter().filter(wanted).collect();
        if chosen.is_empty() {
            bail!("none of the tasks that were asked for is in {}", folder.path());
        }
        let absent = listed.iter().flatten().filter(|name| self.tasks.is_empty() && find(name).is_none());
        let reason = || "the folder has no such task".to_owned();
        Ok((chosen, absent.map(|name| Skipped { id: name.clone(), reason: reason() }).collect()))
    }
}

/// The lists that are there; without any, tasks are in none.
fn splits(folder: &Folder, choice: &Choice) -> anyhow::Result<Vec<(Vec<String>, Split)>> {
    match (choice.split, folder.split(Split::Easy)) {
        (None, Err(_)) => Ok(Vec::new()),
        _ => Split::ALL.into_iter().map(|split| Ok((folder.split(split)?, split))).collect(),
    }
}

/// The manifest of the site that makes the pages. A JSON text is a YAML text, too, whatever is in a path.
fn manifest(tasks: &Utf8Path) -> String {
    let tasks = serde_json::Value::from(tasks.as_str());
    format!(
        "title: Turk
about: Tasks for workers, one instance on each page, with what they have sent.
driver: embedded                     # pages made of files of yours, from where they are
embedded: {{turk: {tasks}}}
hosts: [{HOST}]
clock: 2024-02-16T09:00:00Z
ready:
  list: {{get: /, status: 200, contains: <h1>Tasks</h1>}}
reset: restore
probes:
  sent: {{query: \"select task, instance, fields from sent order by id\"}}
"
    )
}

/// The manifest of the site that stands for other hosts.
fn vendor_manifest(files: &Utf8Path, hosts: &BTreeSet<String>) -> String {
    let files = serde_json::Value::from(files.as_str());
    let hosts = serde_json::json!(hosts);
    format!(
        "title: Vendor
about: Files of other hosts that pages ask for.
driver: embedded                     # files of yours, served from where they are
embedded: {{hosts: {files}}}
hosts: {hosts}
ready:
  an answer: {{get: /there-is-no-such-file, status: 404}}
reset: never
"
    )
}

/// A folder has no such task.
pub(crate) fn no_task(folder: &Folder, name: &str) -> String {
    let known = folder.tasks().iter().flat_map(|task| [task.name.as_str(), task.slug.as_str()]);
    format!("{} has no task `{name}`{}", folder.path(), suggestions::did_you_mean(name, known))
}
