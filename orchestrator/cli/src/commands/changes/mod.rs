//! `sandbox snapshot check` and the pictures of `sandbox snapshot diff`: what has changed between
//! two recordings of the same pages.

mod live;

use std::cell::Cell;
use std::fs;
use std::time::Duration;

use browser::Device;
use camino::{Utf8Path, Utf8PathBuf};
use play::changes::{
    ChangeOptions, Changes, ComparedPages, PageChange, SuiteChanges, TaskChanges, Verdict, compare,
    dated, pictures_of, write_junit, write_report,
};
use play::suites::snapshots_of;
use recorder::plan::seeds;
use results::{counted, short_url};
use snapshots::index::ReplaySet;
use tasks::{Suite, Task};

use crate::failure::{Failure, OrFail, Outcome};
use crate::finish;
use crate::options::DataFolder;
use crate::options::units;
use crate::packed_run::temporary_folder;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// How long a page may take to settle when it is shown offline.
const SETTLE: Duration = Duration::from_secs(30);
/// Pages that are named; the rest is counted.
const MOST: usize = 40;

/// Visit the pages that a suite names again, and print which have changed, moved or died
///
/// Each page is shown offline, as it was recorded and as it is now, and compared by text and
/// picture. Exit code 1 unless every page is the same.
#[derive(clap::Args)]
pub(crate) struct Check {
    /// Folder with a suite.yaml
    suite: Utf8PathBuf,
    /// Visit the pages on the live web
    #[arg(long, required_unless_present = "against")]
    live: bool,
    /// Compare with this snapshot instead; can be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "live")]
    against: Vec<Utf8PathBuf>,
    /// Check only this task; can be repeated
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,
    /// Share of the lines of text that may differ in a page that counts as the same, from 0 to 1.
    /// Pages that show something else at each visit need one
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = units::share)]
    tolerance: f64,
    #[command(flatten)]
    report: ReportOptions,
    /// Write the result as JUnit XML, with a test case for each task
    #[arg(long, value_name = "FILE.xml")]
    junit: Option<Utf8PathBuf>,
    /// Keep what was visited as this snapshot
    #[arg(short, long, value_name = "FILE.wacz", requires = "live")]
    output: Option<Utf8PathBuf>,
    #[command(flatten)]
    visits: live::VisitOptions,
    #[command(flatten)]
    data: DataFolder,
}

/// The report with pictures.
#[derive(clap::Args)]
pub(crate) struct ReportOptions {
    /// Write a report with pictures of pages that differ. They are in a folder beside it
    #[arg(long, value_name = "FILE.html")]
    html: Option<Utf8PathBuf>,
}

impl Check {
    /// Visits, compares, writes the reports; an answer of no unless all is the same.
    pub(crate) async fn run(&self, json: bool, force: bool) -> Outcome {
        let suite = play::suites::load(&self.suite)?;
        let tasks = suite.named(&self.tasks).or_input("find the task")?;
        let named =
            |task: &Task| seeds(task, &suite.world).into_iter().map(|seed| seed.url).collect();
        let urls_of: Vec<Vec<String>> = tasks.iter().map(|task| named(task)).collect();
        let mut pages = ComparedPages::default();
        for url in urls_of.iter().flatten() {
            if !pages.urls.contains(url) {
                pages.urls.push(url.clone());
            }
        }
        if pages.urls.is_empty() {
            return Err(Failure::Input(format!(
                "failed to check {}: no task names a page",
                self.suite
            )));
        }
        let old = snapshots_of(&suite, &tasks)?;
        self.check_outputs(&old)?;
        let (_folder, folder) = temporary_folder()?;
        let new = if self.live {
            let output = self.output.clone().unwrap_or_else(|| folder.join("now.wacz"));
            pages.absent = self
                .visits
                .record(&suite, &pages.urls, (&output, self.output.is_some()), force, &self.data)
                .await?;
            vec![output]
        } else {
            self.against.clone()
        };
        let device = suite.world.device();
        let changes =
            self.report.compare(&old, &new, &pages, device, self.tolerance, &self.data).await?;
        let of_tasks = tasks.iter().zip(&urls_of);
        let now = if self.live { "the live web".to_owned() } else { dated(&new) };
        let report = SuiteChanges {
            name: &suite.name,
            old: dated(&old),
            new: now,
            tasks: of_tasks
                .map(|(task, urls)| {
                    TaskChanges::new(&task.id, &task.goal.to_string(), urls, &changes)
                })
                .collect(),
            changes: &changes,
        };
        if json {
            out::json(&report);
        } else {
            print(&report);
        }
        self.report.write(&report)?;
        if let Some(path) = &self.junit {
            write_junit(path, &report)?;
        }
        self.verdict(&suite, &changes)
    }

    /// Fails early for files that cannot be written: the visits may take hours.
    fn check_outputs(&self, old: &[Utf8PathBuf]) -> Outcome {
        for path in [&self.junit, &self.report.html, &self.output].into_iter().flatten() {
            let folder = path.parent().filter(|folder| !folder.as_str().is_empty());
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(Failure::Input(format!(
                    "failed to write {path}: its folder does not exist"
                )));
            }
        }
        let Some(output) = &self.output else { return Ok(()) };
        finish::check_name(output)?;
        let whole = |path: &Utf8PathBuf| path.canonicalize_utf8().ok();
        if output.exists() && old.iter().any(|path| whole(path) == whole(output)) {
            return Err(Failure::Input(format!(
                "failed to write {output}: it is what the pages are compared with; name another file"
            )));
        }
        Ok(())
    }

    fn verdict(&self, suite: &Suite, changes: &Changes) -> Outcome {
        if changes.interrupted {
            return Err(Failure::Interrupted(format!(
                "interrupted after {}",
                counted(changes.pages.len(), "page")
            )));
        }
        if changes.is_same() {
            return Ok(());
        }
        let differ = changes.pages.iter().filter(|page| page.verdict != Verdict::Same).count();
        Err(Failure::Negative(format!(
            "{differ} of {} are not as the snapshots of {} have them; `{}` records them anew",
            counted(changes.pages.len(), "page"),
            suite.name,
            out::command_line([
                "sandbox",
                "record",
                "--suite",
                suite.folder.as_str(),
                "-o",
                "NEW.wacz"
            ])
        )))
    }
}

impl ReportOptions {
    /// Whether a report is wanted.
    pub(crate) fn is_wanted(&self) -> bool {
        self.html.is_some()
    }

    /// Compares pages of two lists of snapshots. With a report, pictures are taken.
    pub(crate) async fn compare(
        &self,
        old: &[Utf8PathBuf],
        new: &[Utf8PathBuf],
        pages: &ComparedPages,
        device: Device,
        tolerance: f64,
        data: &DataFolder,
    ) -> Result<Changes, Failure> {
        let cache = data.indexes()?;
        let open = |files: &[Utf8PathBuf]| {
            ReplaySet::open(files, Some(&cache), &mut |_, _| {}).or_input("open the snapshots")
        };
        let (old, new) = (open(old)?, open(new)?);
        let pictures = self.html.as_deref().map(pictures_of);
        if let Some(folder) = &pictures {
            fs::create_dir_all(folder).or_environment(format!("create {folder}"))?;
        }
        let options = ChangeOptions { device, settle_within: SETTLE, tolerance, pictures };
        let bar = progress::bar(pages.urls.len() as u64, "comparing");
        let on = |url: &str, done: usize| {
            bar.set_position(done as u64);
            progress::say(&bar, short_url(url));
        };
        let compared = compare(old, new, pages, &options, &interrupt::token(), &on).await;
        bar.finish_and_clear();
        compared.or_environment("compare the pages")
    }

    /// Writes the report, if one is wanted.
    pub(crate) fn write(&self, report: &SuiteChanges<'_>) -> Outcome {
        let Some(path) = &self.html else { return Ok(()) };
        let pictures = pictures_of(path);
        write_report(path, report, pictures.file_name().unwrap_or_default())?;
        Ok(())
    }
}

/// Prints pages that differ, tasks that need them, and the counts.
fn print(report: &SuiteChanges<'_>) {
    let changes = report.changes;
    let differing =
        changes.pages.iter().enumerate().filter(|(_, page)| page.verdict != Verdict::Same);
    let left = Cell::new(0);
    for (number, (at, page)) in differing.enumerate() {
        if number >= MOST {
            left.set(left.get() + 1);
            continue;
        }
        println!("{:13}{}", page.verdict.word(), page.url);
        if let Some(why) = detail(page) {
            println!("             {why}");
        }
        let needed: Vec<&str> = report
            .tasks
            .iter()
            .filter(|task| task.pages.contains(&at))
            .map(|task| &*task.id)
            .collect();
        if !needed.is_empty() {
            println!("             needed by {}", needed.join(", "));
        }
    }
    if left.get() > 0 {
        println!("and {}", counted(left.get(), "more page"));
    }
    let same = changes.count(Verdict::Same);
    println!("same         {same} of {}", counted(changes.pages.len(), "page"));
    if !report.tasks.is_empty() {
        let whole = report.tasks.iter().filter(|task| task.is_same()).count();
        println!("tasks        {whole} of {} with all their pages the same", report.tasks.len());
    }
}

/// What differs in a page, in one line.
fn detail(page: &PageChange) -> Option<String> {
    if let Some(why) = &page.why {
        return Some(why.clone());
    }
    let text = &page.text;
    let title = page.title.as_ref().map(|(old, new)| format!("title {old:?} -> {new:?}"));
    let words = (text.removed + text.added > 0).then(|| {
        let share = page.text_share * 100.0;
        format!(
            "{share:.0} % of the text: {} removed, {} added",
            counted(text.removed, "line"),
            text.added
        )
    });
    let parts: Vec<String> = words.into_iter().chain(title).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Writes the report of what has changed between two snapshots, for the pages that both list.
pub(crate) async fn picture_diff(
    old: &Utf8Path,
    new: &Utf8Path,
    report: &ReportOptions,
    most: usize,
    data: &DataFolder,
) -> Outcome {
    let (old, new) = ([old.to_owned()], [new.to_owned()]);
    let pages = ComparedPages::of_both(&old, &new, most).or_input("open the snapshots")?;
    let changes = report.compare(&old, &new, &pages, Device::default(), 0.0, data).await?;
    let drawn = SuiteChanges {
        name: old[0].file_stem().unwrap_or_default(),
        old: dated(&old),
        new: dated(&new),
        tasks: Vec::new(),
        changes: &changes,
    };
    report.write(&drawn)?;
    match changes.interrupted {
        true => Err(Failure::Interrupted(
            "interrupted; the report has only some of the pages".to_owned(),
        )),
        false => Ok(()),
    }
}
