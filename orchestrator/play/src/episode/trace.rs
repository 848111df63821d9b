//! The trace of an episode: its steps, requests and messages, and the assessment that scores it.
//!
//! All of its parts live here and not in the future that plays the episode, so that a time-out
//! loses nothing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use actions::Action;
use agents::{Call, Role, Utterance};
use browser::{ActionTarget, Observation};
use gateway::Answer;
use jiff::Timestamp;
use llm_client::Model;
use results::Error;
use results::analysis::order;
use results::fingerprint;
use results::{
    ActedOn, EpisodeFolder, EpisodeId, EpisodeRecord, MissRecord, ModelUsage, Outcome, Phase,
    Request, Step, StepCall, StepMessage, Stopwatch, millis,
};
use scoring::mode::ScoringMode;
use scoring::{Assessment, Moment, Needs};
use tasks::{GoalText, Task};

use crate::environment::{Environment, EnvironmentError};
use crate::episode::blame::{self, Suspect};
use crate::episode::deadline::{self, NotScored};
use crate::episode::log;
use crate::episode::scored::score_episode;
use crate::evidence::EpisodeEvidence;
use crate::evidence::workarena_session::WorkArenaSession;

/// Everything that has happened so far.
pub(crate) struct Trace {
    task: Task,
    began: Instant,
    watch: Stopwatch,
    /// Whether pictures show the whole page, and not only its visible part.
    pub(crate) whole_page: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) requests: Vec<Request>,
    /// The messages that pages wrote to the console.
    pub(crate) console: Vec<StepMessage>,
    /// The events in the pages, if they are kept: a line an event, with its step.
    pub(crate) order: Vec<String>,
    /// The calls of models.
    pub(crate) calls: Vec<StepCall>,
    pub(crate) assessment: Assessment,
    needs: Needs,
    /// How long the scorer may take.
    pub(crate) scoring_within: Duration,
    /// The reason why there will be no score.
    not_scored: Option<NotScored>,
    /// The traffic until the agent ended, as HAR, if the scorer needs it.
    traffic: Option<Vec<u8>>,
    /// WorkArena's instance, where the task is one of its.
    pub(crate) session: WorkArenaSession,
    /// The goal that the page gave.
    goal: Option<String>,
    /// Whether an agent was asked for a reply. From then on it may be the cause of a failure.
    pub(crate) agent_was_heard: bool,
    /// The reasons why pages crashed.
    pub(crate) crashes: Vec<String>,
    /// Whether the page has reported the end of the episode.
    pub(crate) over: bool,
    answer: Option<String>,
    pub(crate) chat: Vec<Utterance>,
    /// The last message of the agent that was no answer.
    pub(crate) last_message: Option<String>,
}

impl Trace {
    pub(crate) fn new(task: &Task, mode: ScoringMode) -> Trace {
        Trace {
            task: task.clone(),
            began: Instant::now(),
            watch: Stopwatch::start(),
            whole_page: false,
            steps: Vec::new(),
            requests: Vec::new(),
            console: Vec::new(),
            order: Vec::new(),
            calls: Vec::new(),
            assessment: task.scorer.start().by(mode),
            needs: task.scorer.needs(),
            // The longest, until the episode sets its own.
            scoring_within: deadline::of_episode(Duration::MAX),
            not_scored: None,
            traffic: None,
            session: WorkArenaSession::default(),
            goal: None,
            agent_was_heard: false,
            crashes: Vec::new(),
            over: false,
            answer: None,
            chat: Vec::new(),
            last_message: None,
        }
    }

    pub(crate) fn task_id(&self) -> &str {
        &self.task.id
    }

    pub(crate) fn add_message(&mut self, role: Role, text: &str) {
        self.chat.push(Utterance { role, text: text.to_owned() });
    }

    /// Enters a phase, and records the duration of the last one in the current step.
    pub(crate) fn enter_step_phase(&mut self, phase: Phase) {
        let (ended, took) = self.watch.turn(phase);
        match ended {
            Phase::Agent => self.current().agent_ms = Some(took),
            Phase::Acting => self.current().acting_ms = Some(took),
            _ => {}
        }
    }

    /// Enters a phase that is no part of a step.
    pub(crate) fn enter_phase(&mut self, phase: Phase) {
        self.watch.turn(phase);
    }

    /// Begins a step with an observation. Returns its number. The scorer sees the page at once,
    /// whether or not the action succeeds.
    pub(crate) async fn begin_step(&mut self, observation: &Observation) -> u32 {
        let number = self.last_number() + 1;
        self.steps.push(Step {
            step: number,
            at_ms: millis(self.began.elapsed()),
            elapsed_ms: Some(observation.elapsed_ms),
            url: observation.url.clone(),
            title: observation.title.clone(),
            observation: observation.axtree.clone(),
            dialogs: observation.dialogs.clone(),
            notices: observation.notices.clone(),
            // They lie on the picture of what is in view.
            boxes: if self.whole_page { BTreeMap::new() } else { observation.boxes.clone() },
            ..Step::default()
        });
        self.score(None, None, None).await;
        number
    }

    /// Begins a step with nothing but an address, at this time since the episode began. The scorer
    /// sees it at once.
    pub(crate) async fn begin_step_at(&mut self, url: String, elapsed: Duration) {
        self.steps.push(Step {
            step: self.last_number() + 1,
            at_ms: millis(self.began.elapsed()),
            elapsed_ms: Some(millis(elapsed)),
            url,
            ..Step::default()
        });
        self.score(None, None, None).await;
    }

    /// Notes the target of the action, and shows it to the scorer on the page where it was.
    pub(crate) async fn note_element(&mut self, acted: Option<ActionTarget>) {
        let shift =
            |acted: &ActionTarget| if self.whole_page { acted.scroll_offset } else { [0.0, 0.0] };
        let acted_on = |acted: ActionTarget| {
            let [right, down] = shift(&acted);
            let bbox = acted.bbox.map(|[x, y, width, height]| [x + right, y + down, width, height]);
            (ActedOn { selector: acted.selector, value: acted.value, bbox }, acted.page_html)
        };
        let (element, html) = acted.map(acted_on).unzip();
        self.score(element.as_ref(), html.filter(|_| self.needs.html).as_deref(), None).await;
        let step = self.current();
        step.element = element.or(step.element.take());
    }

    /// Notes the coordinates of an action. On a picture of the whole page their place is unknown.
    pub(crate) fn note_points(&mut self, action: &Action) {
        if !self.whole_page {
            self.current().points.extend(action.points().iter().map(|point| [point.x, point.y]));
        }
    }

    fn last_number(&self) -> u32 {
        self.steps.last().map_or(0, |step| step.step)
    }

    pub(crate) fn current(&mut self) -> &mut Step {
        if self.steps.is_empty() {
            self.steps.push(Step { step: 1, ..Step::default() });
        }
        let last = self.steps.len() - 1;
        &mut self.steps[last]
    }

    pub(crate) fn add_calls(&mut self, calls: Vec<Call>) {
        let step = self.last_number();
        self.calls.extend(calls.into_iter().map(|call| StepCall { step, call }));
    }

    pub(crate) fn take_requests<E: Environment>(&mut self, environment: &mut E) {
        let step = self.last_number();
        self.requests
            .extend(environment.requests().into_iter().map(|entry| Request { step, entry }));
        self.console
            .extend(environment.console().into_iter().map(|message| StepMessage { step, message }));
    }

    /// Adds the events in the pages during this step, if they are kept.
    pub(crate) async fn take_order<E: Environment>(
        &mut self,
        environment: &mut E,
    ) -> Result<(), EnvironmentError> {
        let step = self.last_number();
        let events = environment.order().await?;
        let room = order::MOST.saturating_sub(self.order.len());
        self.order.extend(events.iter().take(room).map(|event| order::at_step(step, event)));
        Ok(())
    }

    /// Writes the traffic, if it is kept. Pages that scorers open afterwards are not the agent's.
    pub(crate) fn take_network<E: Environment>(
        &mut self,
        environment: &mut E,
        folder: &EpisodeFolder,
    ) -> Result<(), Error> {
        if let Some(exchanges) = environment.network() {
            let har = folder.write_network(&exchanges)?;
            self.traffic = Some(har).filter(|_| self.needs.traffic);
        }
        Ok(())
    }

    /// Shows the scorer the effect of an action on the page of this step.
    async fn score(&mut self, element: Option<&ActedOn>, html: Option<&str>, answer: Option<&str>) {
        let url = self.steps.last().map_or("", |step| step.url.as_str());
        let step = SeenStep {
            url: url.to_owned(),
            element: element.cloned(),
            html: html.map(str::to_owned),
            answer: answer.map(str::to_owned),
            infeasible: false,
        };
        self.observe(Some(step)).await;
    }

    /// Shows the scorer a step, if there is one, and notes the score so far, if it is known.
    async fn observe(&mut self, step: Option<SeenStep>) {
        if self.not_scored.is_some() {
            return;
        }
        // A copy goes to the scorer's thread, which may never come back.
        let mut assessment = self.assessment.clone();
        let work = move || {
            if let Some(step) = step {
                assessment.observe(&step.for_rules());
            }
            let (score, nodes) = (assessment.so_far(), assessment.key_nodes());
            (assessment, score, nodes)
        };
        match deadline::within(self.scoring_within, work).await {
            Ok((assessment, score, nodes)) => {
                self.assessment = assessment;
                if let Some(step) = self.steps.last_mut() {
                    (step.score, step.nodes) = (score, nodes);
                }
            }
            Err(why) => self.not_scored = Some(why),
        }
    }

    /// Sets the task up in its page, and collects the first evidence. Returns the goal.
    pub(crate) async fn begin_task<E: Environment>(
        &mut self,
        environment: &mut E,
    ) -> Result<String, EnvironmentError> {
        const BEGIN: &str = "begin the task in its page";
        const GOAL: &str = "read the goal from the page";
        self.session.setup(environment, &self.task).await?;
        if let Some(script) = &self.task.setup_script {
            // What a script ends with may be something that cannot be told, such as the window;
            // nobody wants to know.
            let begun = environment.evaluate(&format!("{script}\n;undefined")).await?;
            begun.map_err(EnvironmentError::while_doing(BEGIN))?;
            if let Some(why) = environment.settle().await? {
                tracing::warn!(
                    task = self.task.id,
                    why,
                    "the page did not come to rest once its task had begun"
                );
            }
        }
        self.collect(Moment::Start, environment).await?;
        self.collect(Moment::Settled, environment).await?;
        let expression = match &self.task.goal {
            GoalText::Words(words) => return Ok(words.clone()),
            GoalText::Page(expression) => expression,
        };
        let said =
            environment.evaluate(expression).await?.map_err(EnvironmentError::while_doing(GOAL))?;
        match said.as_str() {
            Some(words) if !words.trim().is_empty() => {
                self.goal = Some(words.to_owned());
                Ok(words.to_owned())
            }
            _ => Err(EnvironmentError::while_doing(GOAL)(format!("`{expression}` gives no text"))),
        }
    }

    /// Collects the evidence of this moment for the score, as far as it is available.
    pub(crate) async fn collect<E: Environment>(
        &mut self,
        moment: Moment,
        environment: &mut E,
    ) -> Result<(), EnvironmentError> {
        let mut evidence = EpisodeEvidence {
            environment,
            session: &self.session,
            traffic: self.traffic.as_deref(),
            last_message: self.last_message.as_deref(),
            requirements: &self.task.scorer.requirements(),
        };
        self.over |= self.assessment.collect(moment, &mut evidence).await?;
        if moment == Moment::Settled {
            self.observe(None).await;
        }
        Ok(())
    }

    pub(crate) async fn answer_with(&mut self, text: String) -> Outcome {
        self.answer = Some(text.clone());
        self.score(None, None, Some(&text)).await;
        Outcome::Answered
    }

    /// Ends the episode because the agent has stopped. Its last message has to do for an answer.
    pub(crate) async fn stopped(&mut self) -> Outcome {
        match self.last_message.take() {
            Some(text) => self.answer_with(text).await,
            None => Outcome::Stopped,
        }
    }

    /// Notes the agent's report that the goal cannot be reached.
    pub(crate) async fn infeasible(&mut self) {
        self.observe(Some(SeenStep { infeasible: true, ..SeenStep::default() })).await;
    }

    /// Scores the episode and writes the result.
    pub(crate) async fn conclude(
        &mut self,
        id: &EpisodeId,
        outcome: Outcome,
        started: Timestamp,
        judge: &Model,
        suspect: Suspect,
    ) -> Result<EpisodeRecord, Error> {
        let wall_ms = millis(self.began.elapsed());
        let goal = self.goal.clone().unwrap_or_else(|| self.task.goal.to_string());
        // A failure that has ended the episode comes before one of its scoring.
        let outcome = match (&self.not_scored, outcome.failure()) {
            (Some(why), None) => blame::of_no_score(why, suspect),
            _ => outcome,
        };
        let within = self.scoring_within;
        let scored =
            score_episode(&mut self.assessment, &goal, outcome.clone(), judge, suspect, within)
                .await;
        let mut record = EpisodeRecord {
            goal: self.goal.clone(),
            answer: self.answer.clone(),
            judgements: self.assessment.conduct().judgements.clone(),
            steps: self.steps.iter().filter(|step| step.action.is_some()).count() as u32,
            models: ModelUsage::of(self.calls.iter().map(|line| &line.call)),
            crashes: self.crashes.clone(),
            wall_ms,
            times: Some(self.watch.times()),
            ..EpisodeRecord::new(id, outcome, started)
        };
        scored.write_to(&mut record);
        for request in &self.requests {
            count(&mut record, request);
        }
        // Last, because it covers the rest of the record.
        record.fingerprint = fingerprint::of_episode(&record, &self.steps, &self.requests)?;
        log::ended(&record);
        Ok(record)
    }
}

/// A step, owned, for the scorer's thread.
#[derive(Debug, Default)]
struct SeenStep {
    url: String,
    element: Option<ActedOn>,
    html: Option<String>,
    answer: Option<String>,
    infeasible: bool,
}

impl SeenStep {
    fn for_rules(&self) -> scoring::Step<'_> {
        scoring::Step {
            url: &self.url,
            selector: self.element.as_ref().map(|element| element.selector.as_str()),
            value: self.element.as_ref().map(|element| element.value.as_str()),
            html: self.html.as_deref(),
            answer: self.answer.as_deref(),
            infeasible: self.infeasible,
        }
    }
}

fn count(record: &mut EpisodeRecord, Request { step, entry }: &Request) {
    record.requests.count(&entry.answer);
    match &entry.answer {
        Answer::Miss { near } => record.misses.push(MissRecord {
            step: *step,
            method: entry.method.clone(),
            url: entry.url.clone(),
            near: near.clone(),
        }),
        Answer::Refused { .. } => {
            record.refused_hosts.insert(host(&entry.url).to_owned());
        }
        _ => {}
    }
}

/// Returns host and port of an absolute URL, or the text itself: a CONNECT names them alone.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}
