//! Follows the parts of a run until each has ended, and submits again those that died.

mod event;
mod new_episodes;
mod tracks;
mod unfit_nodes;

use std::collections::BTreeMap;

pub use event::{Event, Interrupts, JobsLeft, Listener};
use play::parts;
use results::{Outcome, counted};
use tokio::task::JoinHandle;
use tokio::time::{self, Duration, Instant};

use self::new_episodes::{cost, new_episodes};
use self::tracks::{End, Track, no_node, overview, tracks};
use crate::decide::{Decision, TRIES, decide};
use crate::folder::ClusterFolder;
use crate::plan::Plan;
use crate::slurm::{self, Job, JobState};
use crate::status::{PartState, PartStatus, StatusFiles};
use crate::submit::{Submitter, cancel_all, log};
use crate::{Error, submissions};

/// The interval at which the files of the parts are read.
const LOOK: Duration = Duration::from_secs(1);
/// The interval at which Slurm is asked for its jobs.
const ASK: Duration = Duration::from_secs(5);
/// The delay before a part is submitted again, for each try.
const DELAY: Duration = Duration::from_secs(5);
/// The time limit for a second interrupt.
const SECOND_INTERRUPT: Duration = Duration::from_secs(5);
/// The time limit for a part to end after it was cancelled.
const ENDS_WITHIN: Duration = Duration::from_secs(60);
/// The number of tries of a later submission that Slurm refuses, for instance by a limit of the
/// user's.
const REFUSALS: u32 = 5;
/// The delay before the next of these tries, for each refusal.
const AFTER_REFUSAL: Duration = Duration::from_secs(30);
/// A call of `squeue` under way.
type Question = JoinHandle<Result<Vec<Job>, Error>>;

/// Jobs by the numbers of their submission and their part.
type Jobs = BTreeMap<(u32, u32), Job>;

/// The result of following.
pub(crate) enum Followed {
    /// No part plays any more.
    Ended {
        /// The reasons of parts that were given up.
        failed: Vec<String>,
        /// Whether every part has played its episodes.
        is_whole: bool,
    },
    /// The user interrupted it.
    Left {
        /// The number of episodes that were reported.
        episodes: usize,
        /// The state of the jobs.
        jobs: JobsLeft,
    },
}

/// Follows a plan.
pub(crate) struct Follower<'a> {
    submitter: &'a Submitter<'a>,
    plan: &'a Plan,
    folder: &'a ClusterFolder,
    tell: &'a Listener,
    tracks: BTreeMap<u32, Track>,
    /// The jobs that Slurm listed last, and when it was asked for them. None if it does not answer.
    jobs: Option<(Instant, Jobs)>,
    question: Option<(Instant, Question)>,
    asked_at: Option<Instant>,
    is_away: bool,
    /// The nodes that are left out, with the reason and the last submission before that was known.
    unfit: BTreeMap<String, (String, u32)>,
    strikes: BTreeMap<String, u32>,
    /// The number of refusals by Slurm since it last took a submission.
    refusals: u32,
    /// Whether it was reported that no node is fit now.
    told_no_node: bool,
    errors: usize,
    cost: f64,
    /// The time at which jobs were cancelled because of `--max-errors` or `--max-cost`.
    stopping: Option<Instant>,
}

impl<'a> Follower<'a> {
    pub(crate) fn new(
        submitter: &'a Submitter<'a>,
        plan: &'a Plan,
        tell: &'a Listener,
    ) -> Result<Follower<'a>, Error> {
        let folder = &submitter.folder;
        let submissions = submissions::read(folder)?;
        let cost = submitter.whole.episodes()?.iter().map(cost).sum();
        let mut follower = Follower {
            submitter,
            plan,
            folder,
            tell,
            tracks: tracks(plan, &submissions, Instant::now()),
            jobs: None,
            question: None,
            asked_at: None,
            is_away: false,
            unfit: BTreeMap::new(),
            strikes: BTreeMap::new(),
            refusals: 0,
            told_no_node: false,
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

    /// Follows until no part plays any more, or the user interrupts.
    pub(crate) async fn follow(&mut self, mut interrupts: Interrupts) -> Result<Followed, Error> {
        self.begin()?;
        let mut ticks = time::interval(LOOK);
        loop {
            tokio::select! {
                // The interrupt comes first, because ticks may always be ready.
                biased;
                _ = interrupts.recv() => return Ok(self.leave(&mut interrupts).await),
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

    /// Reports how many episodes there are, in all and already.
    fn begin(&self) -> Result<(), Error> {
        let (rest, done) = parts::remaining(&self.submitter.whole, false)?;
        (self.tell)(Event::Planned { episodes: rest.len() + done, done });
        Ok(())
    }

    /// Asks Slurm for its jobs at intervals, in a task of its own because Slurm may take long to
    /// answer.
    async fn ask(&mut self, now: Instant) {
        if let Some((at, question)) = self.question.take_if(|(_, question)| question.is_finished())
        {
            match question.await {
                Ok(Ok(jobs)) => {
                    self.is_away = false;
                    self.take(jobs, at);
                }
                Ok(Err(error)) => {
                    // Once, and not at each question until it answers again.
                    if !self.is_away {
                        self.warn(&format!(
                            "failed to {}; the parts go on, and it is asked again",
                            error_text::with_causes(&error)
                        ));
                    }
                    // An old list would make living parts look lost. Without one, `decide` waits.
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

    /// Stores a list of jobs that was asked for at this time.
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
            self.warn(&format!(
                "the parts wait, because no node is fit for them now: {reason}{left_out}"
            ));
            self.told_no_node = true;
        }
        self.jobs = Some((at, jobs));
    }

    /// Reads the status files of the parts, and reports new episodes.
    fn look(&mut self, now: Instant) {
        let (files, answers) = (StatusFiles::list(self.folder), self.jobs.is_some());
        for (part, track) in
            self.tracks.iter_mut().filter(|(_, track)| track.may_have_news(answers))
        {
            track.hear(self.folder, &files, *part, now);
            if track.status.is_none() {
                continue;
            }
            for (name, record) in
                new_episodes(&self.folder.part(&self.plan.token, *part), &track.told_episodes)
            {
                self.errors += usize::from(matches!(record.outcome, Outcome::Error { .. }));
                self.cost += cost(&record);
                (self.tell)(Event::Ended { part: *part, record: &record });
                track.told_episodes.insert(name);
            }
        }
    }

    async fn decide(&mut self, now: Instant) -> Result<(), Error> {
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

    /// Returns the job of a part in its last submission, if Slurm lists it.
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

    /// Plans to submit a part again, unless it was tried often enough.
    async fn again(&mut self, part: u32, why: String, now: Instant) {
        self.strike(part, &why).await;
        let Some(track) = self.tracks.get_mut(&part).filter(|track| track.end.is_none()) else {
            return;
        };
        // A part that has played something since is not stuck, so its tries count from the start.
        track.tries =
            if track.told_episodes.len() > track.episodes_before { 1 } else { track.tries + 1 };
        if track.tries > TRIES {
            track.end = Some(End::GivenUp(why));
            return;
        }
        track.again_at = Some(now + DELAY * (track.tries - 1));
        self.warn(&format!("part {part} is submitted again: {why}"));
    }

    /// Submits the parts whose delay is over, as one array.
    async fn submit_again(&mut self, now: Instant) -> Result<(), Error> {
        let due = |track: &Track| track.end.is_none() && track.again_at.is_some_and(|at| at <= now);
        let parts: Vec<u32> =
            self.tracks.iter().filter(|(_, track)| due(track)).map(|(part, _)| *part).collect();
        let is_first = self.tracks.values().all(|track| track.submission == 0);
        if parts.is_empty() || (self.is_away && !is_first) {
            return Ok(());
        }
        let submitted = self.submitter.submit(self.plan, &parts, &self.excluded()).await;
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
            Err(error) if is_first => Err(error),
            Err(error) => {
                let why = format!("{}{}", error.sentence(), self.left_out());
                self.refusals += 1;
                if self.refusals <= REFUSALS {
                    let delay = AFTER_REFUSAL * self.refusals;
                    let seconds = delay.as_secs();
                    self.warn(&format!("{why}; {} wait {seconds} s", counted(parts.len(), "part")));
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

    /// Ends the run at its limit of cost or errors.
    async fn stop_where_asked(&mut self) {
        let options = self.submitter.options;
        let is_over = options.max_errors.is_some_and(|most| self.errors >= most)
            || options.max_cost.is_some_and(|most| self.cost >= most);
        if is_over && self.stopping.is_none() {
            self.stopping = Some(Instant::now());
            self.cancel_all().await;
        }
    }

    /// Cancels all jobs that may exist. Returns whether Slurm has accepted that.
    async fn cancel_all(&self) -> bool {
        let cancelled = cancel_all(self.plan, self.folder).await;
        if let Err(why) = &cancelled {
            self.warn(why);
        }
        cancelled.is_ok()
    }

    /// Reports the activity of each part.
    fn show(&mut self) {
        let doing: BTreeMap<u32, String> =
            self.tracks.iter().filter_map(|(part, track)| Some((*part, track.doing()?))).collect();
        (self.tell)(Event::Doing(&doing));
        (self.tell)(Event::Overview(&overview(&self.tracks, |part| self.job(part))));
    }

    fn warn(&self, text: &str) {
        (self.tell)(Event::Warning(text));
    }

    /// Leaves the jobs alone, or cancels them at a second interrupt.
    async fn leave(&self, interrupts: &mut Interrupts) -> Followed {
        (self.tell)(Event::Interrupted { again_within: SECOND_INTERRUPT });
        let episodes = self.tracks.values().map(|track| track.told_episodes.len()).sum();
        let jobs = match time::timeout(SECOND_INTERRUPT, interrupts.recv()).await {
            Err(_) => JobsLeft::GoOn,
            Ok(_) if self.cancel_all().await => JobsLeft::Cancelled,
            Ok(_) => JobsLeft::MayGoOn,
        };
        Followed::Left { episodes, jobs }
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
