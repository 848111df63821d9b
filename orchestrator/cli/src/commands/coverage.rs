//! `sandbox snapshot coverage`: what the snapshots of a suite have of what its tasks need.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use play::suites::snapshots_of;
use recorder::coverage::{self, Coverage as Report, LackingState, LinkCoverage, SeedCoverage};
use results::gaps::{EpisodeGaps, Gaps, MissedRequest};
use results::{counted, short_url};
use serde::Serialize;
use snapshots::index::ReplaySet;
use tasks::Suite;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::units;
use crate::packed_run::OpenRun;
use crate::terminal::out;

/// How many lines each list has at most.
const MOST: usize = 20;

/// Print how much of what a suite needs its snapshots have: the pages that its tasks name, and the
/// links around them
///
/// With --run also what the episodes of a run missed, and how near the recorded requests are.
/// Nothing is played, and nothing is fetched. Exit code 1 if less is recorded than --at-least.
#[derive(clap::Args)]
pub(crate) struct Coverage {
    /// Folder with a suite.yaml
    suite: Utf8PathBuf,
    /// Look at this snapshot in place of those of the suite; can be repeated
    #[arg(long = "snapshot", value_name = "FILE")]
    snapshots: Vec<Utf8PathBuf>,
    /// Look only at this task; can be repeated
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,
    /// Also print what the episodes of this run missed: folder of a run, or file of `sandbox pack`
    #[arg(long, value_name = "RUN")]
    run: Option<Utf8PathBuf>,
    /// Smallest share of the named pages that is good enough, from 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = units::share)]
    at_least: f64,
    #[command(flatten)]
    data: DataFolder,
}

/// What `--json` prints.
#[derive(Serialize)]
struct CoverageReport<'a> {
    #[serde(flatten)]
    recorded: &'a Report,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a Gaps>,
}

impl Coverage {
    /// Prints the report; an answer of no below the wanted share.
    pub(crate) async fn run(&self, json: bool) -> Outcome {
        let suite = Suite::load(&self.suite).or_input("load the suite")?;
        let tasks = suite.named(&self.tasks).or_input("find the task")?;
        let own =
            if self.snapshots.is_empty() { snapshots_of(&suite, &tasks)? } else { Vec::new() };
        let files = if self.snapshots.is_empty() { &own } else { &self.snapshots };
        let cache = self.data.indexes()?;
        let set =
            ReplaySet::open(files, Some(&cache), &mut |_, _| {}).or_input("open the snapshots")?;
        let report = coverage::coverage(&suite, &tasks, &set).or_input("look at the snapshots")?;
        let gaps = match &self.run {
            Some(run) => Some(self.gaps(run, &suite).await?),
            None => None,
        };
        if json {
            out::json(&CoverageReport { recorded: &report, run: gaps.as_ref() });
        } else {
            print(&report);
            gaps.iter().for_each(|gaps| print_gaps(gaps, &self.suite));
        }
        if report.seeds < self.at_least {
            return Err(Failure::Negative(format!(
                "{} of the pages that tasks name are recorded, less than {}",
                percent(report.seeds),
                percent(self.at_least)
            )));
        }
        Ok(())
    }

    /// What the episodes of a run of this suite missed.
    async fn gaps(&self, run: &Utf8Path, suite: &Suite) -> Result<Gaps, Failure> {
        let open = OpenRun::open(run).await?;
        let gaps = Gaps::read(open.path(), &self.tasks).or_input("read the run")?;
        if gaps.suite != suite.name {
            return Err(Failure::Input(format!(
                "failed to look at {run}: it is a run of the suite {}, not of {}",
                gaps.suite, suite.name
            )));
        }
        // Where a packed run was unpacked helps nobody.
        Ok(Gaps { run: run.to_owned(), ..gaps })
    }
}

/// Prints what a run missed, the most frequent first, and what would mend it.
fn print_gaps(gaps: &Gaps, suite: &Utf8Path) {
    println!("\nagent {} in {}", gaps.agent, gaps.run);
    for episode in gaps.missing.iter().take(MOST) {
        let score =
            episode.score.map_or("unjudged".to_owned(), |score| format!("score {score:.2}"));
        let EpisodeGaps { task, repeat, misses, requests, .. } = episode;
        println!("{task} ({repeat}): {misses} of {requests} requests missed, {score}");
    }
    if gaps.missing.len() > MOST {
        println!("and {}", counted(gaps.missing.len() - MOST, "more episode"));
    }
    gaps.missed.iter().take(MOST).for_each(print_missed);
    if gaps.missed.len() > MOST {
        println!("and {}", counted(gaps.missed.len() - MOST, "more URL"));
    }
    if gaps.misses > 0 {
        println!(
            "to record what is missing\n  {}",
            out::command_line([
                "sandbox",
                "record",
                "--suite",
                suite.as_str(),
                "--agent",
                &gaps.agent
            ])
        );
    }
    let episodes = counted(gaps.episodes, "episode");
    println!("misses           {} of {} requests", gaps.misses, gaps.requests);
    println!("                 in {} of {episodes}", gaps.missing.len());
    if gaps.other_state > 0 {
        println!("other states     {} answered from another state of a site", gaps.other_state);
    }
    if let Some(score) = gaps.score {
        let bounds = gaps.bounds.as_ref().map_or(String::new(), |bounds| {
            format!(
                "; {:.2} to {:.2} if episodes with misses had failed or passed",
                bounds.low, bounds.high
            )
        });
        println!("score            {score:.2}{bounds}");
    }
}

fn print_missed(missed: &MissedRequest) {
    println!("{}x {} {}", missed.count, missed.method, short_url(&missed.url));
    if let Some(near) = &missed.nearest {
        println!("  recorded: {} {}", near.method, short_url(&near.url));
        println!("  differs:  {}", near.differs);
    }
}

/// Prints the tasks that lack something, the most lacking first, then what would mend them, and the
/// whole.
fn print(report: &Report) {
    let mut lacking: Vec<_> = report.tasks.iter().filter(|task| task.share() < Some(1.0)).collect();
    lacking.sort_by(|a, b| a.share().partial_cmp(&b.share()).unwrap_or(std::cmp::Ordering::Equal));
    for task in lacking.iter().take(MOST) {
        match task.share() {
            None => println!("{}: it names no page", task.id),
            Some(share) => println!("{}: {} of its pages", task.id, percent(share)),
        }
        for SeedCoverage { seed, .. } in task.seeds.iter().filter(|seed| !seed.recorded) {
            println!("  not recorded: {}", seed.url);
        }
    }
    if lacking.len() > MOST {
        println!("and {}", counted(lacking.len() - MOST, "more task"));
    }
    let missing: Vec<&str> = lacking
        .iter()
        .flat_map(|task| &task.seeds)
        .filter(|seed| !seed.recorded)
        .map(|seed| seed.seed.url.as_str())
        .collect();
    if let Some(first) = missing.first() {
        let more = if missing.len() > 1 { " ..." } else { "" };
        println!(
            "to record what is missing\n  {}{more}\nand add gaps.wacz to the suite's `snapshots`",
            out::command_line(["sandbox", "record", "-o", "gaps.wacz", first])
        );
    }
    let named: Vec<_> = report.tasks.iter().filter(|task| !task.seeds.is_empty()).collect();
    let whole = named.iter().filter(|task| task.share() == Some(1.0)).count();
    let states = print_states(report);
    println!("tasks            {whole} of {} have all pages that they name", named.len());
    println!("pages            {} of those that tasks name", percent(report.seeds));
    println!("one step around  {}", links(report.one_step));
    println!("two steps        {}", links(report.two_steps));
    if states.recorded > 0 {
        println!(
            "states           {} of {} of sites that were written to are recorded whole",
            states.recorded - states.lacking,
            states.recorded
        );
    }
}

/// How many states of sites are recorded, and how many of them in part.
#[derive(Default)]
struct StateCounts {
    recorded: usize,
    lacking: usize,
}

/// Prints for each task the states of its sites that are recorded in part, and counts all states.
fn print_states(report: &Report) -> StateCounts {
    let mut seen = BTreeSet::new();
    let mut counts = StateCounts::default();
    for task in &report.tasks {
        for site in &task.states {
            if !site.lacking.is_empty() {
                let (lacking, states) = (site.lacking.len(), counted(site.states, "state"));
                println!("{}: {} has {states}, {lacking} of them in part", task.id, site.site);
            }
            for LackingState { after, captured, of } in site.lacking.iter().take(MOST) {
                let after = after
                    .as_deref()
                    .map_or("before all writes".to_owned(), |write| format!("after {write}"));
                println!("  {after}: {captured} of {of} pages and data");
            }
            if seen.insert(&site.site) {
                counts.recorded += site.states;
                counts.lacking += site.lacking.len();
            }
        }
    }
    counts
}

fn links(ring: LinkCoverage) -> String {
    match ring.share() {
        None => "no links".to_owned(),
        Some(share) => format!("{} of {}", percent(share), counted(ring.links, "link")),
    }
}

fn percent(share: f64) -> String {
    // Not 100 where something is missing.
    format!("{:.1} %", (share * 1000.0).floor() / 10.0)
}
