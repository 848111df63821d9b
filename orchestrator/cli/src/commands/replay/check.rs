//! `sandbox replay --check`: which documents of a snapshot are shown, and whether they hold still.

use std::time::Duration;

use gateway::{MatchLevel, ReplayOptions};
use play::fidelity::{self, Fidelity, PageFidelity, Verdict};
use results::{counted, short_url};
use snapshots::Page;
use snapshots::index::ReplaySet;

use crate::failure::{Failure, OrFail, Outcome};
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// How long one page may take to settle.
const PAGE_DEADLINE: Duration = Duration::from_secs(30);
/// Documents left out that are named; the rest is counted.
const NAMED: usize = 10;

/// Visits at most `most` documents of `set` twice; exit code 1 unless all of those are shown, and
/// the same twice.
pub(super) async fn run(set: ReplaySet, level: MatchLevel, most: usize, json: bool) -> Outcome {
    let mut pages = set.html_documents().or_input("look for documents")?;
    if pages.is_empty() {
        return Err(Failure::Negative(
            "failed to find a page to check: no HTML document was recorded with status 200 and a body"
                .to_owned(),
        ));
    }
    let left_out = pages.split_off(most.min(pages.len()));
    let cancel = interrupt::token();
    let bar = progress::bar(pages.len() as u64, "checking");
    let on = |page: &Page, done| {
        bar.set_position(done as u64);
        progress::say(&bar, page.url.clone());
    };
    let options = ReplayOptions { level, ..ReplayOptions::default() };
    let checked = fidelity::check(set, options, &pages, PAGE_DEADLINE, &cancel, &on).await;
    bar.finish_and_clear();
    let mut checked = checked.or_environment("check the pages")?;
    checked.left_out = left_out.into_iter().map(|page| page.url).collect();
    if json {
        out::json(&checked);
    } else {
        print(&checked);
    }
    if checked.interrupted {
        let (done, all) = (checked.pages.len(), pages.len());
        return Err(Failure::Interrupted(format!("interrupted after {done} of {all} pages")));
    }
    if !checked.holds() {
        return Err(Failure::Negative(format!(
            "not every page is shown whole and the same twice: {}",
            summary(&checked)
        )));
    }
    Ok(())
}

fn print(checked: &Fidelity) {
    checked.pages.iter().for_each(print_page);
    if !checked.left_out.is_empty() {
        println!("left out, beyond --pages {}:", checked.pages.len());
        checked.left_out.iter().take(NAMED).for_each(|url| println!("      {url}"));
        let more = checked.left_out.len().saturating_sub(NAMED);
        if more > 0 {
            println!("      and {more} more");
        }
    }
    println!("{}", summary(checked));
}

fn print_page(page: &PageFidelity) {
    let verdict = match page.verdict {
        Verdict::Shown => "shown",
        Verdict::ShownWithHoles => "shown with holes",
        Verdict::NotShown => "NOT SHOWN",
        Verdict::Different => "DIFFERENT",
    };
    println!("{verdict}  {}  ({} answered)", short_url(&page.url), page.answered);
    page.why.iter().for_each(|why| println!("      {}", short_url(why)));
    page.holes.iter().for_each(|hole| println!("      missed {}", short_url(hole)));
    page.order.iter().for_each(|order| println!("{order}"));
    page.beside
        .iter()
        .for_each(|miss| println!("      missed {} (leaves no hole)", short_url(miss)));
}

fn summary(checked: &Fidelity) -> String {
    let count = |verdict| checked.count(verdict);
    format!(
        "{}: {} shown, {} shown with holes, {} not shown, {} different; {} left out",
        counted(checked.pages.len(), "page"),
        count(Verdict::Shown),
        count(Verdict::ShownWithHoles),
        count(Verdict::NotShown),
        count(Verdict::Different),
        checked.left_out.len(),
    )
}
