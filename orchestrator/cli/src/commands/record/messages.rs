//! What a recording says while it goes on, and at its end.

use std::collections::BTreeSet;

use browser::AccessBarrier;
use camino::Utf8Path;
use gateway::WriteGuard;
use indicatif::ProgressBar;
use recorder::{CrawlSummary, Event, Skip};
use results::counted;

use crate::terminal::out;
use crate::terminal::progress;

/// Shows an event of a crawl. `task` is the number of tasks that are done and the id of the next
/// one; without a suite the id is empty.
pub(super) fn show(spinner: &ProgressBar, event: &Event<'_>, task: (usize, &str)) {
    match event {
        Event::Visiting { url, done, waiting } => {
            let of_task =
                if task.1.is_empty() { String::new() } else { format!(" for {}", task.1) };
            spinner.set_position(task.0 as u64);
            progress::say(
                spinner,
                format!("{}, {waiting} to go{of_task}: {url}", counted(done, "page")),
            );
        }
        Event::Visited { url, title } => tracing::info!(%url, %title, "recorded"),
        Event::Skipped { url, why: Skip::Robots } => {
            spinner.suspend(|| {
                out::warn(&format!("left out: {url}: robots.txt asks crawlers to stay away"))
            });
        }
        Event::Skipped { url, why: Skip::Wall(wall) } => {
            spinner.suspend(|| {
                out::warn(&format!("left out: {url}: it is behind {}", wall_name(*wall)))
            });
        }
        Event::Skipped { url, why: Skip::Failed(why) } => {
            spinner.suspend(|| out::warn(&format!("not loaded: {url}: {why}")));
        }
    }
}

/// Names the pages that only a person can get at, by host, and how a person records them.
pub(super) fn print_walls(summary: &CrawlSummary, output: &Utf8Path) {
    const MOST: usize = 5;
    let mut first = Vec::new();
    for (host, pages) in &summary.walls {
        let kinds: BTreeSet<&str> = pages.iter().map(|(wall, _)| wall_name(*wall)).collect();
        let kinds = kinds.into_iter().collect::<Vec<_>>().join(" and ");
        out::warn(&format!("{host}: {} behind {kinds}", counted(pages.len(), "page")));
        first.extend(pages.iter().take(MOST).map(|(_, url)| url.as_str()));
    }
    if !first.is_empty() {
        let by_hand = output.with_extension("by-hand.wacz");
        let command =
            [&["sandbox", "record", "--manual"], &first[..], &["-o", by_hand.as_str()]].concat();
        out::warn(&format!(
            "to record them by hand\n  {}\nand join both with `sandbox snapshot merge`; --manual hands them to you at the end",
            out::command_line(command)
        ));
    }
    for host in &summary.full_hosts {
        out::warn(&format!("{host}: it has more pages than --pages-per-host allows"));
    }
}

/// Says which requests were not sent.
pub(super) fn print_stopped(guard: &WriteGuard) {
    let stopped = guard.stopped();
    let Some(first) = stopped.keys().next() else { return };
    let hosts: Vec<&str> = stopped.keys().take(5).map(String::as_str).collect();
    let more = if stopped.len() > hosts.len() { ", ..." } else { "" };
    out::warn(&format!(
        "{} to {} might have changed something at third parties, and {} not sent: {}{more}; `{}` lets them pass",
        counted(stopped.values().sum::<u64>(), "request"),
        counted(stopped.len(), "host"),
        if stopped.values().sum::<u64>() == 1 { "was" } else { "were" },
        hosts.join(", "),
        out::command_line(["--allow-writes", first.as_str()]),
    ));
}

/// What stands in front of a page, with its article.
pub(crate) fn wall_name(wall: AccessBarrier) -> &'static str {
    match wall {
        AccessBarrier::Captcha => "a CAPTCHA",
        AccessBarrier::Login => "a log-in",
    }
}
