//! TurkingBench: for each instance of a task a page with a form, and for each of its fields what
//! workers answered.
//!
//! An instance is one of a task's rows of inputs, counted from 0 in the order in which they first
//! come up, as in `Evaluation` of JHU-CLSP/turking-bench (`src/evaluation_class.py`). The pages are
//! made when they are asked for, by the site [`SITE`] from the benchmark's own folder; or they are
//! those of a copy of Turkle, where the benchmark has its own agents work: the frame of a task,
//! outside of the page that it is in.

mod suite;

use std::collections::{BTreeMap, BTreeSet};

use scoring::Scorer;
use scoring::solution::{FormField, OracleStep};
use scoring::turkingbench::{Field as ScoredField, Form};
pub use suite::{SuiteOptions, TurkingBenchSuite, no_task, suite};
use turkingbench::{Batch, Cell, Field};

use super::task_id;
use crate::{GoalText, Task, WorldSpec};

/// The name of the site that serves the pages, in the world of the suite.
pub const SITE: &str = "turk";
/// The host that it is reached by. Its pages are not encrypted, so that they can have from other
/// hosts what is not.
pub const HOST: &str = "turk.test";
/// The name of the site that is a copy of Turkle. Tasks of the suites `town` and `arena` have it,
/// too, so another name would change their digests.
pub const TURKLE: &str = "hits";
/// The host that it is reached by.
const TURKLE_HOST: &str = "hits.test";
/// The account that is logged in there.
const WORKER: &str = "worker";
/// The name of the site that stands for other hosts, where the user has their files.
pub const VENDOR: &str = "vendor";

/// Fields that the benchmark passes over: what sites put into forms for themselves.
pub const PASSED: [&str; 4] = ["csrfmiddlewaretoken", "worker_ip", "ee", "submit"];
/// When the benchmark's scores were published.
const CLOCK: &str = "2024-02-16T09:00:00Z";
const GOAL: &str = "This page describes a task and has a form for its answers. Do the task: read the instructions, and fill in every field.";
/// Actions that are allowed in any case, and those for each field.
const MAX_STEPS: (usize, usize) = (30, 2);

/// The server of a task's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageHost {
    /// The site [`SITE`].
    Own,
    /// The site [`TURKLE`], which has the task's first instance under this number, and the others
    /// behind it.
    Turkle(u64),
}

impl PageHost {
    /// The site's name.
    pub fn site(self) -> &'static str {
        match self {
            PageHost::Own => SITE,
            PageHost::Turkle(_) => TURKLE,
        }
    }

    fn page(self, slug: &str, instance: usize) -> String {
        match self {
            PageHost::Own => format!("http://{HOST}/{slug}/{instance}"),
            PageHost::Turkle(first) => {
                format!("http://{TURKLE_HOST}/task/{}/iframe/", first + instance as u64)
            }
        }
    }
}

/// A task with its files, and how it is imported.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub task: &'a turkingbench::Task,
    /// Its page.
    pub template: &'a str,
    /// Its table.
    pub batch: &'a Batch,
    /// So many instances at most, the first ones.
    pub rows: usize,
    /// Words to select its instances by, besides its slug.
    pub tags: &'a [String],
    /// The sites of the world.
    pub sites: &'a [String],
    /// The server of its pages.
    pub through: PageHost,
}

/// The world of such a suite; the manifests of its sites are in the folder `sites` beside the
/// suite.
pub fn world(snapshots: Vec<camino::Utf8PathBuf>) -> WorldSpec {
    WorldSpec {
        snapshots,
        sites: Some("sites".into()),
        ..WorldSpec::new(CLOCK.parse().expect("the clock is a time"))
    }
}

/// One task for each instance; none where the table has no answers.
pub fn turkingbench(source: &Source<'_>) -> Vec<Task> {
    let forms = forms(source.task, source.batch, source.through).take(source.rows);
    let instance = |(number, form): (usize, Form)| task(source, number, form);
    forms.enumerate().map(instance).collect()
}

/// The forms of a task's instances, in their order; none where the table has no answers.
pub fn forms<'a>(
    task: &'a turkingbench::Task,
    batch: &'a Batch,
    through: PageHost,
) -> impl Iterator<Item = Form> + 'a {
    let scored: Vec<(usize, &String)> = batch
        .fields
        .iter()
        .enumerate()
        .filter(|(_, name)| !PASSED.contains(&name.as_str()))
        .collect();
    let instances = if scored.is_empty() { &[] } else { batch.instances.as_slice() };
    instances.iter().enumerate().map(move |(number, instance)| {
        let field = |(at, name): &(usize, &String)| ScoredField {
            name: (*name).clone(),
            golds: instance.golds[*at].clone(),
        };
        let page = through.page(&task.slug, number);
        Form { page, fields: scored.iter().map(field).collect() }
    })
}

/// The types of the fields of an instance's page by their names, as far as they are in its HTML; of
/// several fields of a name the first counts.
pub fn kinds(template: &str, batch: &Batch, instance: usize) -> BTreeMap<String, String> {
    let mut kinds = BTreeMap::new();
    let page = batch.page(template, instance, "").unwrap_or_default();
    for Field { name, kind } in turkingbench::fields(&page) {
        kinds.entry(name).or_insert(kind);
    }
    kinds
}

/// The hosts that the page of a task's first instance asks for besides its own.
pub fn outside(template: &str, batch: &Batch) -> BTreeSet<String> {
    let page = batch.page(template, 0, "").unwrap_or_default();
    turkingbench::assets(&page)
        .iter()
        .map(|address| turkingbench::host(address).to_lowercase())
        .collect()
}

fn task(source: &Source<'_>, number: usize, form: Form) -> Task {
    let kinds = kinds(source.template, source.batch, number);
    let (least, each) = MAX_STEPS;
    let max_steps = u32::try_from(form.fields.len() * each).unwrap_or(u32::MAX).max(least as u32);
    let kind = |field: &ScoredField| kinds.get(&field.name).map(String::as_str);
    let worker = worker(form.fields.iter().map(|field| (kind(field), field.golds.as_slice())));
    let step = |field: &ScoredField| {
        let value = best(kind(field), &field.golds, worker)?;
        Some(OracleStep::Field(FormField { name: field.name.clone(), value }))
    };
    let mut tags = vec![source.task.slug.clone()];
    tags.extend_from_slice(source.tags);
    Task {
        start_url: Some(form.page.clone()),
        sites: source.sites.to_vec(),
        login: match source.through {
            PageHost::Own => BTreeMap::new(),
            PageHost::Turkle(_) => [(TURKLE.to_owned(), WORKER.to_owned())].into(),
        },
        max_steps,
        tags,
        oracle: form.fields.iter().filter_map(step).collect(),
        ..Task::new(
            task_id("turkingbench", &format!("{}-{number}", source.task.slug)),
            GoalText::Words(GOAL.to_owned()),
            Scorer::TurkingBench(form),
        )
    }
}

/// The worker who can be followed furthest: who is with the majority most often, and left the
/// fewest texts empty. Fields depend on each other in many pages, so that a mixture of several
/// workers' answers may not hold together.
fn worker<'a>(fields: impl Iterator<Item = (Option<&'a str>, &'a [Cell])>) -> usize {
    let mut followed: Vec<usize> = Vec::new();
    for (kind, golds) in fields {
        followed.resize(followed.len().max(golds.len()), 0);
        for (followed, gold) in followed.iter_mut().zip(golds) {
            let good = match kind {
                Some("submit") => false,
                kind if is_text(kind) => says_something(gold),
                _ => Some(gold) == majority(golds),
            };
            *followed += usize::from(good);
        }
    }
    // Of several the first.
    followed
        .iter()
        .enumerate()
        .rev()
        .max_by_key(|(_, followed)| **followed)
        .map_or(0, |(worker, _)| worker)
}

/// Returns the value that earns all in a field of this type, in this worker's version where it
/// earns all. None where the field is best left as it is. For a type that is not known it is the
/// answer of most workers.
fn best(kind: Option<&str>, golds: &[Cell], worker: usize) -> Option<String> {
    let own = golds.get(worker);
    let best = match kind {
        // A button that sends the form holds nothing that anybody answered.
        Some("submit") => None,
        kind if is_text(kind) => own
            .filter(|gold| says_something(gold))
            .or_else(|| golds.iter().find(|gold| says_something(gold))),
        // Where somebody ticked nothing that is right, and touches no other field.
        Some("checkbox") => golds.iter().find(|gold| !says_something(gold)).or(own),
        _ => majority(golds),
    };
    best.filter(|gold| says_something(gold)).map(value)
}

fn is_text(kind: Option<&str>) -> bool {
    matches!(kind, Some("text" | "textarea" | "hidden"))
}

/// Of several with as many votes the first, as the benchmark has it.
fn majority(golds: &[Cell]) -> Option<&Cell> {
    golds.iter().rev().max_by_key(|cell| golds.iter().filter(|gold| gold == cell).count())
}

fn says_something(gold: &Cell) -> bool {
    match gold {
        Cell::Empty => false,
        Cell::Text(text) => !matches!(text.as_str(), "" | "nan" | "{}" | "'{}'"),
        Cell::Bool(_) | Cell::Number(_) => true,
    }
}

/// A gold as the value of a field, as `str(..)` spells it: pages have their truths as they came
/// into the table.
fn value(gold: &Cell) -> String {
    match gold {
        Cell::Bool(true) => "True".to_owned(),
        Cell::Bool(false) => "False".to_owned(),
        Cell::Number(number) => number.to_string(),
        Cell::Text(text) => text.clone(),
        Cell::Empty => String::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn ground() -> (tempfile::TempDir, turkingbench::Folder) {
        let keep = tempfile::tempdir().unwrap();
        let folder = camino::Utf8Path::from_path(keep.path()).unwrap().join("Paint it");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(
            folder.join("template.html"),
            "<script src=https://cdn.test/x.js></script><p>${thing}</p><input name=why><input name=why type=radio>
             <input type=radio name=colour value=red><input type=checkbox name=ticks value=a>
             <input type=radio name=fit value=True><input type=submit name=timer value=Send>",
        )
        .unwrap();
        std::fs::write(
            folder.join("batch.csv"),
            "thing,Answer.why,Answer.colour,Answer.ee,Answer.later,Answer.ticks,Answer.fit,Answer.timer
boat,,red,1,,a|b,TRUE,4
boat,it is,blue,1,3,a,TRUE,5
boat,yes,blue,1,,b,TRUE,6
<img src=http://pictures.test/1.png>,,,1,,,FALSE,7
<img src=http://pictures.test/1.png>,,,1,,a,FALSE,8
",
        )
        .unwrap();
        let folder = turkingbench::Folder::open(folder.parent().unwrap()).unwrap();
        (keep, folder)
    }

    fn import(rows: usize) -> Vec<Task> {
        let (_keep, folder) = ground();
        let task = folder.task("paint-it").unwrap();
        let (template, batch) = (task.template().unwrap(), task.batch().unwrap());
        assert_eq!(outside(&template, &batch).into_iter().collect::<Vec<_>>(), ["cdn.test"]);
        let (tags, sites) = (["easy".to_owned()], [SITE.to_owned()]);
        turkingbench(&Source {
            task,
            template: &template,
            batch: &batch,
            rows,
            tags: &tags,
            sites: &sites,
            through: PageHost::Own,
        })
    }

    #[test]
    fn every_instance_becomes_a_task_that_loads_again() {
        let tasks = import(10);
        let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["turkingbench-paint-it-0", "turkingbench-paint-it-1"]);
        assert_eq!(import(1).len(), 1);
        for task in &tasks {
            let yaml = serde_yaml::to_string(task).unwrap();
            assert_eq!(&serde_yaml::from_str::<Task>(&yaml).unwrap(), task, "{yaml}");
        }
        let Scorer::TurkingBench(form) = &tasks[0].scorer else { panic!("{:?}", tasks[0].scorer) };
        assert_eq!(form.page, "http://turk.test/paint-it/0");
        let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["why", "colour", "later", "ticks", "fit", "timer"]);
        assert_eq!(tasks[0].tags, ["paint-it", "easy"]);
    }

    #[test]
    fn solutions_are_what_earns_all() {
        let steps = |task: &Task| {
            task.oracle
                .iter()
                .map(|step| match step {
                    OracleStep::Field(FormField { name, value }) => format!("{name}={value}"),
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<_>>()
        };
        let tasks = import(10);
        assert_eq!(steps(&tasks[0]), ["why=yes", "colour=blue", "ticks=b", "fit=True"]);
        assert_eq!(steps(&tasks[1]), ["fit=False"]);
    }
}
