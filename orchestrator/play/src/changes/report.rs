//! Writes a comparison of two recordings as one HTML page, with its pictures beside it.

use camino::Utf8Path;
use results::Error;
use results::html::words::link;
use results::html::{TABLES, Template};
use serde::Serialize;

use super::{Changes, PageChange, Verdict};

/// The changes of the pages that a suite names, or of two snapshots alone.
#[derive(Debug, Clone, Serialize)]
pub struct SuiteChanges<'a> {
    /// The name of the suite; of the snapshots if there is no suite.
    pub name: &'a str,
    /// The snapshots that were compared, by file and day of recording.
    pub old: String,
    /// The recording that they were compared with.
    pub new: String,
    /// The tasks, in the order of the suite; none for two snapshots alone.
    pub tasks: Vec<TaskChanges>,
    /// The pages, each once.
    pub changes: &'a Changes,
}

/// The pages of one task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskChanges {
    /// Its id.
    pub id: String,
    /// Its goal.
    pub goal: String,
    /// The worst of its pages; `Same` without pages.
    pub verdict: Verdict,
    /// Its pages, as positions in the list of all pages.
    pub pages: Vec<usize>,
    /// Number of its pages that were not visited, as the check was interrupted.
    pub not_checked: usize,
}

impl TaskChanges {
    /// The task with these pages.
    pub fn new(id: &str, goal: &str, urls: &[String], changes: &Changes) -> TaskChanges {
        let at = |url: &String| changes.pages.iter().position(|page| page.url == *url);
        let pages: Vec<usize> = urls.iter().filter_map(at).collect();
        let verdict = pages.iter().map(|page| changes.pages[*page].verdict).max();
        TaskChanges {
            id: id.to_owned(),
            goal: goal.to_owned(),
            verdict: verdict.unwrap_or(Verdict::Same),
            not_checked: urls.len() - pages.len(),
            pages,
        }
    }

    /// Whether all of its pages were visited and are the same.
    pub fn is_same(&self) -> bool {
        self.verdict == Verdict::Same && self.not_checked == 0
    }
}

impl SuiteChanges<'_> {
    /// The pages of a task.
    pub fn pages_of(&self, task: &TaskChanges) -> impl Iterator<Item = &PageChange> {
        task.pages.iter().map(|page| &self.changes.pages[*page])
    }
}

const REPORT: Template = Template {
    name: "changes.html",
    source: include_str!("report.html"),
    macros: &[],
    style: include_str!("report.css"),
    script: TABLES,
};

#[derive(Serialize)]
struct View<'a> {
    sandbox: &'static str,
    name: &'a str,
    old: &'a str,
    new: &'a str,
    counts: Vec<(&'static str, &'static str, usize)>,
    tasks: Vec<TaskView<'a>>,
    pages: Vec<PageView<'a>>,
    unchanged: Vec<&'a str>,
    choices: Vec<Choice>,
    interrupted: bool,
}

#[derive(Serialize)]
struct TaskView<'a> {
    #[serde(flatten)]
    task: &'a TaskChanges,
    word: &'static str,
    badge: &'static str,
    /// Number of its pages that are not the same.
    differ: usize,
    total: usize,
}

#[derive(Serialize)]
struct PageView<'a> {
    #[serde(flatten)]
    page: &'a PageChange,
    number: usize,
    word: &'static str,
    badge: &'static str,
    /// Share of the text that has changed, in percent.
    text_percent: String,
    pictures: Option<Pictures>,
    tasks: Vec<&'a str>,
}

/// The addresses of the pictures, and the boxes in percent.
#[derive(Serialize)]
struct Pictures {
    old: Option<String>,
    new: Option<String>,
    percent: String,
    boxes: Vec<[String; 4]>,
}

#[derive(Serialize)]
struct Choice {
    name: &'static str,
    label: &'static str,
    values: Vec<ChoiceValue>,
}

#[derive(Serialize)]
struct ChoiceValue {
    value: &'static str,
    label: &'static str,
}

/// Writes the report. `pictures` is the name of the folder beside it with the pictures.
///
/// # Errors
/// When it cannot be written.
pub fn write_report(
    path: &Utf8Path,
    suite: &SuiteChanges<'_>,
    pictures: &str,
) -> Result<(), Error> {
    REPORT.write(&view(suite, pictures), path)
}

const VERDICTS: [Verdict; 6] = [
    Verdict::Gone,
    Verdict::Walled,
    Verdict::Moved,
    Verdict::Changed,
    Verdict::NotRecorded,
    Verdict::Same,
];

fn view<'a>(suite: &'a SuiteChanges<'a>, folder: &str) -> View<'a> {
    let changes = suite.changes;
    let counts = VERDICTS.into_iter().map(|verdict| {
        let tone = match (verdict, changes.count(verdict)) {
            (Verdict::Same, _) | (_, 0) => "ok",
            (Verdict::Gone | Verdict::Walled, _) => "bad",
            _ => "warn",
        };
        (verdict.word(), tone, changes.count(verdict))
    });
    let tasks = suite.tasks.iter().map(|task| TaskView {
        task,
        word: task.verdict.word(),
        badge: badge(task.verdict),
        differ: suite.pages_of(task).filter(|page| page.verdict != Verdict::Same).count(),
        total: task.pages.len(),
    });
    // Numbered before the filter: tasks name their pages by positions in the whole list.
    let pages = changes.pages.iter().enumerate();
    let pages =
        pages.filter(|(_, page)| page.verdict != Verdict::Same).map(|(number, page)| PageView {
            page,
            number,
            word: page.verdict.word(),
            badge: badge(page.verdict),
            text_percent: percent(page.text_share),
            pictures: pictures_of(page, folder),
            tasks: suite
                .tasks
                .iter()
                .filter(|task| task.pages.contains(&number))
                .map(|task| task.id.as_str())
                .collect(),
        });
    let same = changes.pages.iter().filter(|page| page.verdict == Verdict::Same);
    View {
        sandbox: env!("CARGO_PKG_VERSION"),
        name: suite.name,
        old: &suite.old,
        new: &suite.new,
        counts: counts.collect(),
        tasks: tasks.collect(),
        pages: pages.collect(),
        unchanged: same.map(|page| page.url.as_str()).collect(),
        choices: vec![Choice {
            name: "verdict",
            label: "all pages",
            values: VERDICTS
                .into_iter()
                .filter(|verdict| *verdict != Verdict::Same && changes.count(*verdict) > 0)
                .map(|verdict| ChoiceValue { value: verdict.word(), label: verdict.word() })
                .collect(),
        }],
        interrupted: changes.interrupted,
    }
}

fn pictures_of(page: &PageChange, folder: &str) -> Option<Pictures> {
    let picture = page.picture.as_ref()?;
    let place = |name: &Option<String>| name.as_ref().map(|name| link(&format!("{folder}/{name}")));
    let boxes = picture.boxes.iter().map(|sides| sides.map(|side| format!("{:.3}", side * 100.0)));
    Some(Pictures {
        old: place(&picture.old),
        new: place(&picture.new),
        percent: percent(picture.share),
        boxes: boxes.collect(),
    })
}

/// The style of a verdict.
fn badge(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "pass",
        Verdict::Changed | Verdict::Moved => "part",
        Verdict::Walled | Verdict::Gone => "fail",
        Verdict::NotRecorded => "open",
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        share if share > 0.0 && share < 1.0 => "below 1 %".to_owned(),
        share => format!("{share:.0} %"),
    }
}
