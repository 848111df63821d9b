//! `sandbox replay`: a proxy that answers from snapshots, for any client.

mod check;

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{
    Answer, DatePolicy, Gateway, Ledger, MatchLevel, Replay as Snapshots, ReplayOptions, Routes,
    Target,
};
use play::browser_state;
use results::short_url;
use snapshots::index::ReplaySet;
use snapshots::is_address;
use snapshots::matching::Key;
use snapshots::ops::{self, ImportOptions, InputReport};

use crate::commands::fill::Fill;
use crate::failure::{Failure, OrFail, Outcome};
use crate::finish;
use crate::options::DataFolder;
use crate::options::gateway_options::{self, Deadline, Listening};
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;
use crate::window::{self, WindowStart};

/// Serve snapshots through a proxy to any client, offline
///
/// Prints the proxy's address when it is ready. Unrecorded requests are misses; --fill fetches and
/// records them. Ctrl-C stops the proxy, which prints how it answered the requests.
#[derive(clap::Args)]
pub(crate) struct Replay {
    /// Snapshots: WACZ, WARC, ARC or HAR files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<Utf8PathBuf>,
    #[command(flatten)]
    listening: Listening,
    /// How requests are matched to recorded ones. `exact`: the same request. `normalised`: the same
    /// but for query order, cache-busters, the scheme, and parts that change on their own. `fuzzy`
    /// or `fuzzy:LIKENESS`: the most similar request of the same host and path, labelled as a guess
    #[arg(long = "match", value_name = "LEVEL", default_value = "normalised")]
    level: MatchLevel,
    /// Add a Sandbox-Answer header with its level to every answer
    #[arg(long)]
    announce: bool,
    /// Keep the recorded dates instead of moving them to now
    #[arg(long)]
    recorded_dates: bool,
    /// Turn offline search off: search engines are answered from the recording only, and not from
    /// an index of the recorded pages
    #[arg(long, conflicts_with_all = ["fill", "check"])]
    no_search: bool,
    /// Check the snapshots instead of serving them: visit each document twice in Chromium, offline.
    /// Exit code 1 unless every document is shown whole, and the same twice
    #[arg(long, conflicts_with_all = ["listen", "fill"])]
    check: bool,
    /// Largest number of documents that --check visits: first those of the page list, then all
    /// other recorded ones
    #[arg(long, value_name = "N", default_value_t = 100, requires = "check")]
    pages: usize,
    /// Open a Chromium window on the snapshots; the replay ends when it is closed
    #[arg(long, conflicts_with_all = ["check", "fill"])]
    open: bool,
    /// With --check, print one JSON document. Otherwise print the ledger at the end, one JSON line
    /// a request
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    fill: Fill,
    #[command(flatten)]
    deadline: Deadline,
}

impl Replay {
    /// Serves until interrupted, or checks.
    pub(crate) async fn run(mut self) -> Outcome {
        self.fill.check()?;
        let set = open(&self.files, &self.data)?;
        if self.check {
            return check::run(set, self.level, self.pages, self.json).await;
        }
        let cancel = interrupt::token();
        let mut config = gateway_options::config(&self.data)?;
        self.listening.apply(&mut config, &self.data)?;
        self.deadline.apply(&mut config);
        let ca = Arc::clone(&config.ca);
        let opening = self.open.then(|| opening(&set));
        let mut snapshots = Snapshots::new(set, self.options());
        let mut fill = std::mem::take(&mut self.fill);
        if let Some(output) = fill.output.take() {
            let studio = fill.open(&output, snapshots, config).await?;
            gateway_options::announce(studio.gateway(), &ca);
            eprintln!("what is missing is fetched and recorded into {output}; Ctrl-C finishes it");
            cancel.cancelled().await;
            let ledger = studio.gateway().ledger();
            let finished =
                finish::finish(studio, &output, &[], finish::EmptyRecording::Snapshot).await;
            self.report(&ledger, true)?;
            eprintln!("{}", finish::summary(&finished?));
            return Ok(());
        }
        if !self.no_search {
            snapshots = snapshots.with_search(Some(&self.data.indexes()?));
        }
        config.routes = Routes::all(Target::Replay(Arc::new(snapshots)));
        let gateway = Gateway::start(config).await.or_environment("start the gateway")?;
        gateway_options::announce(&gateway, &ca);
        let shown = match &opening {
            Some(opening) => window::show(&gateway, &ca, opening, &cancel).await,
            None => {
                cancel.cancelled().await;
                Ok(())
            }
        };
        let ledger = gateway.ledger();
        gateway.shutdown().await;
        self.report(&ledger, false)?;
        shown
    }

    fn options(&self) -> ReplayOptions {
        ReplayOptions {
            level: self.level,
            dates: if self.recorded_dates {
                DatePolicy::Recorded
            } else {
                DatePolicy::ShiftedToNow
            },
            announce: self.announce,
            ..ReplayOptions::default()
        }
    }

    /// Says how requests were answered, and names what was missed.
    fn report(&self, ledger: &Ledger, filling: bool) -> Outcome {
        if self.json {
            let mut lines = Vec::new();
            ledger.write_jsonl(&mut lines).or_environment("write the ledger")?;
            out::json_text(&lines);
            return Ok(());
        }
        let counts = serde_json::to_value(ledger.levels()).expect("counts are plain data");
        let counts = counts.as_object().into_iter().flatten().filter(|(_, count)| *count != 0);
        let counts: Vec<String> = counts.map(|(level, count)| format!("{count} {level}")).collect();
        eprintln!(
            "answered: {}",
            if counts.is_empty() { "nothing".to_owned() } else { counts.join(", ") }
        );
        for entry in ledger.entries() {
            if let Answer::Miss { near } = &entry.answer {
                eprintln!("missed: {} {}", entry.method, short_url(&entry.url));
                near.iter().take(1).for_each(|near| {
                    eprintln!("  nearest: {} ({})", short_url(&near.url), near.differs)
                });
            }
        }
        if ledger.levels().miss > 0 && !filling {
            let files: Vec<&str> = self.files.iter().map(|file| file.as_str()).collect();
            eprintln!(
                "to record what was missed: sandbox replay {} --fill gaps.wacz",
                files.join(" ")
            );
        }
        Ok(())
    }
}

/// The first recorded page, and what pages had kept.
fn opening(set: &ReplaySet) -> WindowStart {
    WindowStart {
        url: set.pages().next().map(|page| page.url),
        browser_state: browser_state::recorded_state(set),
    }
}

/// Opens the snapshots, indexing those that were not opened before.
pub(crate) fn open(files: &[Utf8PathBuf], data: &DataFolder) -> Result<ReplaySet, Failure> {
    let cache = data.indexes()?;
    let files = files.iter().map(|file| archive_of(file, &cache)).collect::<Result<Vec<_>, _>>()?;
    let bar = progress::unknown("indexing");
    let set = ReplaySet::open(&files, Some(&cache), &mut |file: &Utf8Path, at| {
        progress::say(
            &bar,
            match at.archives {
                1 => format!("indexing {}", file.file_name().unwrap_or_default()),
                archives => format!("indexing {archives} snapshots, {} done", at.finished),
            },
        );
        progress::advance(&bar, at.bytes, at.total_bytes);
    });
    bar.finish_and_clear();
    let set = set.or_input("open the snapshots")?;
    let nothing = set.members().find(|(_, held)| held.captures == 0 && held.damaged > 0);
    if let Some((archive, held)) = nothing {
        let (path, damaged) = (archive.path(), held.damaged);
        return Err(Failure::Input(format!(
            "failed to open {path}: nothing in it can be replayed, {damaged} records are damaged; `sandbox \
             snapshot verify {path}` names them"
        )));
    }
    Ok(set)
}

/// A HAR is no archive that can be read from the middle, so it is replayed from a snapshot made of
/// it, kept with the indexes under a name that changes when the HAR does.
fn archive_of(file: &Utf8PathBuf, cache: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    if file.extension() != Some("har") || is_address(file) {
        return Ok(file.clone());
    }
    let reading = || format!("read {file}");
    let metadata = std::fs::metadata(file).or_input(reading())?;
    let changed = metadata.modified().or_input(reading())?;
    let path = file.canonicalize_utf8().or_input(reading())?;
    let key = Key::of(
        "HAR",
        &[path.as_str().as_bytes(), format!("{} {changed:?}", metadata.len()).as_bytes()],
    );
    let snapshot = cache.join(format!("{}-{key}.wacz", file.file_stem().unwrap_or_default()));
    if !snapshot.exists() {
        std::fs::create_dir_all(cache).or_environment(format!("make {cache}"))?;
        let made = ops::import(&[path], &snapshot, &ImportOptions::default(), &mut |_| {})
            .or_input(reading())?;
        made.inputs.iter().for_each(print_left_out);
    }
    Ok(snapshot)
}

/// Names what a HAR holds and cannot be replayed.
fn print_left_out(input: &InputReport) {
    let counts = serde_json::to_value(&input.skipped).expect("counts are plain data");
    let counts =
        counts.as_object().into_iter().flatten().map(|(why, count)| format!("{count} {why}"));
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        eprintln!(
            "{}: {} of {} entries left out: {}",
            input.path,
            input.read - input.kept,
            input.read,
            counts.join(", ")
        );
    }
    input.unusable.iter().for_each(|entry| eprintln!("  {entry}"));
}
