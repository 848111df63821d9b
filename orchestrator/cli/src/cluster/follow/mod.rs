//! Follows the parts of a run until each has ended, and submits again those that died.

mod unfit_nodes;

use std::collections::BTreeMap;

use cluster::decide::{Decision, TRIES, decide};
use cluster::folder::ClusterFolder;
use cluster::plan::Plan;
use cluster::slurm::{self, Job, JobState};
use cluster::status::{PartState, PartStatus, StatusFiles};
use cluster::submissions;
use results::counted;
use results::{Outcome as EpisodeOutcome, RunFolder};
use runs::{Event, parts};
use tokio::task::JoinHandle;
use tokio::time::{self, Duration, Instant};

use crate::cluster::lines::Lines;
use crate::cluster::new_episodes::{cost, new_episodes};
use crate::cluster::submit::{Submitter, cancel_all, log};
use crate::cluster::tracks::{End, Track, no_node, overview, tracks};
use crate::commands::run::Run;
use crate::failure::{Failure, Outcome};
use crate::terminal::board::Board;
use crate::terminal::interrupt::Signals;

/// How often the files of the parts are read.
const LOOK: Duration = Duration::from_secs(1);
/// How often Slurm is asked for its jobs.
const ASK: Duration = Duration::from_secs(5);
/// How long a part waits before it is submitted again, for each try.
const DELAY: Duration = Duration::from_secs(5);
/// How long a second interrupt is waited for.
const SECOND_INTERRUPT: Duration = Duration::from_secs(5);
/// How long a part may take to end once it was told to.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// A later submission that Slurm refuses, by a limit of the user's for instance, is tried so often.
const REFUSALS: u32 = 5;
/// How long it waits before that, for each refusal.
const AFTER_REFUSAL: Duration = Duration::from_secs(30);
/// A question to Slurm for its jobs, under way.
type Question = JoinHandle<Result<Vec<Job>, cluster::Error>>;

/// Jobs by the numbers of their submission and their part.
type Jobs = BTreeMap<(u32, u32), Job>;

/// How following ended.
pub(super) enum Followed {
    /// No part plays any more.
    Ended {
        /// What became of parts that were given up.
        failed: Vec<String>,
        /// Whether every part has played its episodes.
        is_whole: bool,
    },
    /// Somebody interrupted it; what to say.
    Left(String),
}

/// Follows a plan.
pub(super) struct Follower<'a> {
    run: &'a Run,
    submitter: &'a Submitter,
    plan: &'a Plan,
    folder: &'a ClusterFolder,
    whole: &'a RunFolder,
    board: &'a Board,
    tracks: BTreeMap<u32, Track>,
    /// The jobs that Slurm listed last, and when it was asked for them. None if it does not answer.
    jobs: Option<(Instant, Jobs)>,
    question: Option<(Instant, Question)>,
    asked_at: Option<Instant>,
    is_away: bool,
    /// Nodes that are left out: why, and the last submission that did not know that yet.
    unfit: BTreeMap<String, (String, u32)>,
    strikes: BTreeMap<String, u32>,
    /// How often Slurm has refused a submission since it last took one.
    refusals: u32,
    /// Whether it was told that no node is fit now.
    told_no_node: bool,
    lines: Lines,
    errors: u64,
    cost: f64,
    /// Since when the jobs are cancelled because of `--max-errors` or `--max-cost`.
    stopping: Option<Instant>,
}

impl<'a> Follower<'a> {
    pub(super) fn new(
        run: &'a Run,
        submitter: &'a Submitter,
        plan: &'a Plan,
        folder: &'a ClusterFolder,
        whole: &'a RunFolder,
        board: &'a Board,
    ) -> Result<Follower<'a>, Failure> {
        let submissions = submissions::read(folder)?;
        let cost = whole.episodes()?.iter().map(cost).sum();
        let mut follower = Follower {
            run,
            submitter,
            plan,
            folder,
            whole,
            board,
            tracks: tracks(plan, &submissions, Instant::now()),
            jobs: None,
            question: None,
            asked_at: None,
            is_away: false,
            unfit: BTreeMap::new(),
            strikes: BTreeMap::new(),
            refusals: 0,
            told_no_node: false,
            lines: Lines::default(),
            errors: 0,
            cost,
            stopping: None,
        };
        // Whoever followed before knew these.
        let files = StatusFiles::list(folder);
        for submission in &submissions {
            for part in &submission.parts {
                for (_, status) in PartStatus::read_all(folder, &files, *part, submission.number) {
                    if let PartStatus { node, state: PartState::Unfit { problems }, .. } = status {
                        follower.unfit.insert(node, (problems.join("; "), submission.number));
                    }
                }
            }
        }
        Ok(follower)
    }

    /// Follows until no part plays any more, or somebody interrupts.
    pub(super) async fn follow(&mut self, come_back: &str) -> Result<Followed, Failure> {
        let mut signals = Signals::listen();
        self.begin()?;
        let mut ticks = time::interval(LOOK);
        loop {
            tokio::select! {
                biased;
                () = signals.next() => return self.leave(&mut signals, come_back).await,
                _ = ticks.tick() => {}
            }
            let now = Instant::now();
            self.ask(now).await;
            self.look(now);
            self.decide(now).await?;
            self.submit_again(now).await?;
            self.stop_where_asked().await;
            self.show();
            if self.tracks.values().all(|track| track.end.is_some()) {
                return Ok(self.ended());
            }
        }
    }

    /// Tells how many episodes there are, in all and already.
    fn begin(&self) -> Outcome {
        let (rest, done) = parts::remaining(self.whole, false)?;
        (self.board.progress())(Event::Planned { episodes: rest.len() + done, done });
        Ok(())
    }

    /// Asks Slurm for its jobs now and then, without waiting: it may take long to answer.
    async fn ask(&mut self, now: Instant) {
        if let Some((at, question)) = self.question.take_if(|(_, question)| question.is_finished())
        {
            match question.await {
                Ok(Ok(jobs)) => {
                    self.is_away = false;
                    self.take(jobs, at);
                }
                Ok(Err(error)) => {
                    if !self.is_away {
                        self.board.warn(&format!(
                            "failed to {}; the parts go on, and it is asked again",
                            error_text::with_causes(&error)
                        ));
                    }
                    (self.jobs, self.is_away) = (None, true);
                }
                Err(_) => self.jobs = None,
            }
        }
        if self.question.is_none() && self.asked_at.is_none_or(|at| now.duration_since(at) >= ASK) {
            let open =
                self.tracks.values().filter(|track| track.end.is_none() && track.submission > 0);
            let mut numbers: Vec<u32> = open.map(|track| track.submission).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let names: Vec<String> =
                numbers.into_iter().map(|number| self.plan.job_name(number)).collect();
            self.asked_at = Some(now);
            if !names.is_empty() {
                self.question = Some((now, tokio::spawn(async move { slurm::jobs(&names).await })));
            }
        }
    }

    /// Takes a list of jobs that was asked for at this time.
    fn take(&mut self, jobs: Vec<Job>, at: Instant) {
        let number = |job: &Job| self.plan.submission(&job.name);
        let numbered = jobs.into_iter().filter_map(|job| Some((number(&job)?, job)));
        let (named, rests): (Vec<_>, Vec<_>) = numbered.partition(|(_, job)| job.part.is_some());
        let rests: BTreeMap<u32, Job> = rests.into_iter().collect();
        let mut jobs: Jobs = named
            .into_iter()
            .filter_map(|(number, job)| Some(((number, job.part?), job)))
            .collect();
        for (part, track) in &mut self.tracks {
            // A part that is not listed by itself is among the rest of its array, if there is one.
            let key = (track.submission, *part);
            if let (None, Some(rest)) = (jobs.get(&key), rests.get(&track.submission)) {
                jobs.insert(key, rest.clone());
            }
            track.list(jobs.get(&key), at);
        }
        let reason = jobs.values().filter(|job| job.state == JobState::Waiting).find_map(no_node);
        let none_runs = !jobs.values().any(|job| job.state == JobState::Running);
        if let Some(reason) = reason.filter(|_| none_runs && !self.told_no_node) {
            let left_out = self.left_out();
            self.board.warn(&format!(
                "the parts wait, because no node is fit for them now: {reason}{left_out}"
            ));
            self.told_no_node = true;
        }
        self.jobs = Some((at, jobs));
    }

    /// Reads what the parts say, and tells what they have played.
    fn look(&mut self, now: Instant) {
        let progress = self.board.progress();
        let (files, answers) = (StatusFiles::list(self.folder), self.jobs.is_some());
        for (part, track) in
            self.tracks.iter_mut().filter(|(_, track)| track.may_have_news(answers))
        {
            track.hear(self.folder, &files, *part, now);
            if track.status.is_none() {
                continue;
            }
            let line = self.lines.of(*part);
            for (name, record) in
                new_episodes(&self.folder.part(&self.plan.token, *part), &track.told_episodes)
            {
                self.errors += u64::from(matches!(record.outcome, EpisodeOutcome::Error { .. }));
                self.cost += cost(&record);
                progress(Event::Ended { worker: line, episode: &record.id(), record: &record });
                track.told_episodes.insert(name);
            }
        }
    }

    async fn decide(&mut self, now: Instant) -> Outcome {
        let open: Vec<u32> = self
            .tracks
            .iter()
            .filter(|(_, track)| track.end.is_none())
            .map(|(part, _)| *part)
            .collect();
        for part in open {
            let track = &self.tracks[&part];
            if track.again_at.is_some() {
                continue;
            }
            let listed = self.jobs.as_ref().map(|(at, _)| *at);
            let (decision, is_inherited) =
                (decide(&track.view(self.job(part), listed, now)), track.is_inherited);
            match decision {
                // Whoever resumes a run wants what ended before to be tried again.
                Decision::Cancelled | Decision::GiveUp { .. } if is_inherited => {
                    if let Some(track) = self.tracks.get_mut(&part) {
                        track.again_at = Some(now);
                    }
                }
                Decision::Wait => {}
                Decision::Done => self.end(part, End::Done),
                Decision::Cancelled => self.end(part, End::Cancelled),
                Decision::GiveUp { why } => self.end(part, End::GivenUp(why)),
                _ if self.stopping.is_some() => self.end(part, End::Cancelled),
                Decision::LeaveOut { node, problem } => {
                    self.leave_out(part, node, problem, now).await
                }
                Decision::Again { why } => self.again(part, why, now).await,
                Decision::CancelAndAgain { why } => {
                    self.cancel(part).await;
                    self.again(part, why, now).await;
                }
            }
        }
        let late = self.stopping.is_some_and(|since| now.duration_since(since) >= ENDS_WITHIN);
        for track in self.tracks.values_mut().filter(|track| late && track.end.is_none()) {
            track.end = Some(End::Cancelled);
        }
        Ok(())
    }

    fn end(&mut self, part: u32, end: End) {
        if let Some(track) = self.tracks.get_mut(&part) {
            track.end = Some(end);
        }
    }

    /// The job of a part in its last submission, if Slurm lists it.
    fn job(&self, part: u32) -> Option<&Job> {
        let (_, jobs) = self.jobs.as_ref()?;
        jobs.get(&(self.tracks[&part].submission, part))
    }

    async fn cancel(&self, part: u32) {
        let Some(job) = self.job(part) else { return };
        if let Err(error) = slurm::cancel(&[format!("{}_{part}", job.array)]).await {
            tracing::info!(%error, part, "cancelling a part");
        }
    }

    /// Submits a part again, unless it was tried often enough.
    async fn again(&mut self, part: u32, why: String, now: Instant) {
        self.strike(part, &why).await;
        let Some(track) = self.tracks.get_mut(&part).filter(|track| track.end.is_none()) else {
            return;
        };
        track.tries =
            if track.told_episodes.len() > track.episodes_before { 1 } else { track.tries + 1 };
        if track.tries > TRIES {
            track.end = Some(End::GivenUp(why));
            return;
        }
        track.again_at = Some(now + DELAY * (track.tries - 1));
        self.board.warn(&format!("part {part} is submitted again: {why}"));
    }

    /// Submits the parts whose time has come, as one array.
    async fn submit_again(&mut self, now: Instant) -> Outcome {
        let due = |track: &Track| track.end.is_none() && track.again_at.is_some_and(|at| at <= now);
        let parts: Vec<u32> =
            self.tracks.iter().filter(|(_, track)| due(track)).map(|(part, _)| *part).collect();
        let is_first = self.tracks.values().all(|track| track.submission == 0);
        if parts.is_empty() || (self.is_away && !is_first) {
            return Ok(());
        }
        let submitted =
            self.submitter.submit(self.run, self.plan, self.folder, &parts, &self.excluded()).await;
        match submitted {
            Ok(number) => {
                let now = Instant::now();
                self.refusals = 0;
                parts.iter().for_each(|part| {
                    if let Some(track) = self.tracks.get_mut(part) {
                        track.note_submission(number, now);
                    }
                });
                // Soon, to show where the parts are.
                self.asked_at = self.asked_at.map(|_| now - ASK + LOOK);
                Ok(())
            }
            Err(failure) if is_first => Err(failure),
            Err(failure) => {
                let why = format!("{failure}{}", self.left_out());
                self.refusals += 1;
                if self.refusals <= REFUSALS {
                    let delay = AFTER_REFUSAL * self.refusals;
                    let seconds = delay.as_secs();
                    self.board
                        .warn(&format!("{why}; {} wait {seconds} s", counted(parts.len(), "part")));
                    let again = Instant::now() + delay;
                    let of_these = self.tracks.iter_mut().filter(|(part, _)| parts.contains(part));
                    of_these.for_each(|(_, track)| track.again_at = Some(again));
                    return Ok(());
                }
                parts.iter().for_each(|part| self.end(*part, End::GivenUp(why.clone())));
                Ok(())
            }
        }
    }

    /// Ends the run where it has cost or failed as much as it may.
    async fn stop_where_asked(&mut self) {
        let most = if self.run.fail_fast { Some(1) } else { self.run.max_errors };
        let is_over = most.is_some_and(|most| self.errors >= most)
            || self.run.max_cost.is_some_and(|most| self.cost >= most);
        if is_over && self.stopping.is_none() {
            self.stopping = Some(Instant::now());
            self.cancel_all().await;
        }
    }

    /// Cancels all jobs that may be there, and says whether Slurm has taken that.
    async fn cancel_all(&self) -> bool {
        let cancelled = cancel_all(self.plan, self.folder).await;
        if let Err(why) = &cancelled {
            self.board.warn(why);
        }
        cancelled.is_ok()
    }

    /// Shows what each part is at.
    fn show(&mut self) {
        let doing: BTreeMap<u32, String> =
            self.tracks.iter().filter_map(|(part, track)| Some((*part, track.doing()?))).collect();
        self.lines.show(self.board, &doing);
        self.board.parts(&overview(&self.tracks, |part| self.job(part)));
    }

    /// Leaves the jobs alone, or cancels them if it is said twice.
    async fn leave(&self, signals: &mut Signals, come_back: &str) -> Result<Followed, Failure> {
        self.board.clear();
        crate::terminal::out::warn(&format!(
            "interrupted; the jobs go on (interrupt again within {} s to cancel them)",
            SECOND_INTERRUPT.as_secs()
        ));
        let told: usize = self.tracks.values().map(|track| track.told_episodes.len()).sum();
        if time::timeout(SECOND_INTERRUPT, signals.next()).await.is_err() {
            return Ok(Followed::Left(format!(
                "interrupted after {}; the jobs go on; come back with `{come_back}`",
                counted(told, "episode")
            )));
        }
        let jobs = if self.cancel_all().await { "are cancelled" } else { "may go on" };
        Ok(Followed::Left(format!(
            "interrupted after {}; the jobs {jobs}; continue with `{come_back}`",
            counted(told, "episode")
        )))
    }

    fn ended(&self) -> Followed {
        let place = |part: &u32, track: &Track| {
            let node = track
                .status
                .as_ref()
                .map(|status| format!(" on {}", status.node))
                .unwrap_or_default();
            format!("part {part}{node}")
        };
        let of = |(part, track): (&u32, &Track)| {
            let log = log(self.folder, *part, track.submission);
            match track.end.as_ref()? {
                End::GivenUp(why) => {
                    Some(format!("{}: {why}; its log is {log}", place(part, track)))
                }
                End::Cancelled if self.stopping.is_none() => {
                    Some(format!("{}: its job was cancelled; its log is {log}", place(part, track)))
                }
                End::Cancelled | End::Done => None,
            }
        };
        let is_whole = self.tracks.values().all(|track| track.end == Some(End::Done));
        Followed::Ended { failed: self.tracks.iter().filter_map(of).collect(), is_whole }
    }
}
