//! One episode: observe, ask the agent, act, let the page settle, until there is an end.

use std::time::{Duration, Instant};

use agents::{Agent, Goal, GoalImage, Reply, Role, Speech, Utterance, View};
use browser::{Acted, Action, Observation};
use gateway::{Answer, Levels};
use jiff::Timestamp;
use models::Model;
use tasks::scoring::rules::Rules;
use tasks::{Fetch, GoalText, ScoreState, Task, Verdict};

use crate::environment::{Environment, EnvironmentError, NotActed};
use crate::reading::Reading;
use crate::results::{
    ActedOn, EpisodeFolder, EpisodeId, EpisodeRecord, FORMAT, MissRecord, Outcome, Request, Step,
};
use crate::scored::{Scored, scored};
use crate::stay::Guest;
use crate::stuck::Replies;
use crate::{Error, fingerprint};

/// What an episode is given besides the environment and the agent.
pub(crate) struct Attempt<'a> {
    pub(crate) id: &'a EpisodeId,
    pub(crate) task: &'a Task,
    pub(crate) folder: &'a EpisodeFolder,
    /// How the agent writes its actions.
    pub(crate) speech: Speech,
    /// For the whole episode.
    pub(crate) within: Duration,
    /// Who stays on an instance meanwhile; the caller sees them off.
    pub(crate) guest: Guest,
    /// Whether what pages keep in the browser is a result.
    pub(crate) keep_storage: bool,
    /// Whether what passes over the network is a result.
    pub(crate) keep_network: bool,
    /// Whether published bugs are reproduced.
    pub(crate) rules: Rules,
    /// Who rules on what the scorer leaves open.
    pub(crate) judge: &'a Model,
    /// Called before the agent is asked for its n-th action.
    pub(crate) on_step: &'a (dyn Fn(u32) + Send + Sync),
}

/// An episode that has ended.
pub(crate) struct Played {
    pub(crate) record: EpisodeRecord,
    pub(crate) steps: Vec<Step>,
    pub(crate) requests: Vec<Request>,
    /// The environment is in no state to be used again.
    pub(crate) spent: bool,
}

/// What ends an episode other than the agent or its allowance.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("{0}")]
    Agent(#[from] agents::Error),
    #[error("{0}")]
    Environment(#[from] EnvironmentError),
    #[error("{0}")]
    Results(#[from] Error),
}

/// What has happened so far. It outlives the future that adds to it, so that a time-out loses nothing.
pub(crate) struct Trace {
    began: Instant,
    pub(crate) steps: Vec<Step>,
    pub(crate) requests: Vec<Request>,
    pub(crate) score: ScoreState,
    /// Who stays on an instance meanwhile.
    pub(crate) guest: Guest,
    /// What the page gave as the goal.
    goal: Option<String>,
    /// The page has said that the episode is over.
    pub(crate) over: bool,
    answer: Option<String>,
    chat: Vec<Utterance>,
    /// What the agent said last that was no answer.
    said: Option<String>,
}

/// What came of a reply.
enum Done {
    /// What the agent has to be told.
    Told(Option<String>),
    Ended(Outcome),
}

/// Plays an episode to its end and scores it. An error is one of keeping results; all others are outcomes.
pub(crate) async fn play<E: Environment>(
    environment: &mut E,
    agent: &mut dyn Agent,
    attempt: &Attempt<'_>,
) -> Result<Played, Error> {
    let started = Timestamp::now();
    let mut trace = Trace { guest: attempt.guest.clone(), ..Trace::new(attempt.task, attempt.rules) };
    let keep_network = attempt.keep_network || attempt.task.scorer.wants_network();
    environment.keep_network(keep_network);
    let whole = async {
        let outcome = drive(environment, agent, attempt, &mut trace).await?;
        // What scorers open afterwards is not the agent's.
        if keep_network {
            let har = attempt.folder.write_network(&environment.network())?;
            attempt.task.scorer.see_network(&mut trace.score, &har);
        }
        trace.look(environment, attempt.task).await?;
        trace.take_requests(environment);
        if attempt.keep_storage {
            attempt.folder.write_storage(&environment.storage_state().await?)?;
        }
        Ok(outcome)
    };
    let driven = tokio::time::timeout(attempt.within, whole).await;
    let (outcome, spent) = match driven {
        Ok(Ok(outcome)) => (outcome, false),
        Ok(Err(Broken::Results(error))) => return Err(error),
        Ok(Err(Broken::Agent(error))) => (failed(&error), false),
        Ok(Err(Broken::Environment(error))) => (failed(&error), true),
        Err(_) => (Outcome::TimedOut, true),
    };
    trace.take_requests(environment);
    agent.end(outcome.kind()).await;
    let record = trace.conclude(attempt.id, attempt.task, outcome, started, attempt.judge).await?;
    attempt.folder.write_score_state(&trace.score)?;
    Ok(Played { record, steps: trace.steps, requests: trace.requests, spent })
}

/// The record of an episode for which no environment could be had.
pub(crate) async fn never_began(
    id: &EpisodeId,
    task: &Task,
    error: &EnvironmentError,
) -> Result<Played, Error> {
    let mut trace = Trace::new(task, Rules::default());
    let record = trace.conclude(id, task, failed(error), Timestamp::now(), &Model::default()).await?;
    Ok(Played { record, steps: Vec::new(), requests: Vec::new(), spent: true })
}

fn failed(error: &dyn std::error::Error) -> Outcome {
    Outcome::Error { message: format!("failed to {error}") }
}

async fn drive<E: Environment>(
    environment: &mut E,
    agent: &mut dyn Agent,
    attempt: &Attempt<'_>,
    trace: &mut Trace,
) -> Result<Outcome, Broken> {
    environment.begin(attempt.task).await?;
    let words = trace.prepare(environment, attempt.task).await?;
    let goal = Goal::of(attempt.task, words, images(environment, attempt).await?);
    trace.spoken(Role::User, &goal.text);
    let look = agent.begin(&goal).await?;
    trace.take_requests(environment);
    let mut last_error: Option<String> = None;
    let mut replies = Replies::default();
    loop {
        let mut observation = environment.observe(&look).await?;
        let png = environment.screenshot(&look.screenshot).await?;
        let number = trace.saw(attempt.task, &observation);
        trace.current().downloads = attempt.folder.keep_downloads(&mut observation.downloads)?;
        let screenshot = attempt.folder.write_screenshot(number, &png)?;
        let path = attempt.folder.path().join(&screenshot);
        trace.current().screenshot = Some(screenshot);
        if trace.over {
            return Ok(Outcome::Done);
        }
        if number > attempt.task.max_steps {
            return Ok(Outcome::MaxSteps);
        }
        if replies.are_stuck(attempt.task.stop) {
            return Ok(Outcome::Stuck);
        }
        (attempt.on_step)(number);
        for said in attempt.task.user.iter().filter(|said| said.step.get() == number) {
            trace.spoken(Role::User, &said.says);
        }
        let view = View {
            step: number,
            observation: &observation,
            chat: &trace.chat,
            last_action_error: last_error.as_deref(),
            screenshot: Some(path.as_std_path()),
        };
        let (text, reason) = match agent.next(&goal, view).await? {
            Reply::Stop { reason } => {
                trace.current().reason = reason;
                return Ok(trace.stopped(attempt.task));
            }
            Reply::Act { action, reason } => (action, reason),
        };
        let actions = attempt.speech.read(&text);
        replies.add(actions.as_deref().ok());
        let step = trace.current();
        step.action = Some(text);
        step.reason = reason;
        last_error = match actions {
            Ok(actions) => match carry_out(environment, attempt.task, &actions, trace).await? {
                Done::Told(error) => error,
                Done::Ended(outcome) => return Ok(outcome),
            },
            Err(error) => Some(format!("failed to {error}")),
        };
        trace.current().error = last_error.clone();
    }
}

/// Gets the pictures that belong to the goal, as files that the agent is given.
async fn images<E: Environment>(
    environment: &mut E,
    attempt: &Attempt<'_>,
) -> Result<Vec<GoalImage>, Broken> {
    let mut images = Vec::new();
    for (place, url) in attempt.task.images.iter().enumerate() {
        let lacking = |why: String| {
            let doing = EnvironmentError::while_doing("get a picture that belongs to the goal");
            Broken::Environment(doing(format!("{url}: {why}")))
        };
        let answer = environment.fetch(&Fetch::get(url)).await?.map_err(lacking)?;
        if answer.status != 200 {
            return Err(lacking(format!("the answer has status {}", answer.status)));
        }
        let path = attempt.folder.write_goal_image(place + 1, url, &answer.body)?;
        images.push(GoalImage { url: url.clone(), path: path.into() });
    }
    Ok(images)
}

/// Carries out one action after the other, up to the first that fails or ends the episode.
async fn carry_out<E: Environment>(
    environment: &mut E,
    task: &Task,
    actions: &[Action],
    trace: &mut Trace,
) -> Result<Done, Broken> {
    for (before, action) in actions.iter().enumerate() {
        match action {
            Action::Answer { text } => return Ok(Done::Ended(trace.answered(task, text.clone()))),
            Action::Infeasible { .. } => {
                trace.gave_up(task);
                return Ok(Done::Ended(Outcome::Infeasible));
            }
            Action::Stop => return Ok(Done::Ended(trace.stopped(task))),
            Action::Say { text } => {
                trace.spoken(Role::Assistant, text);
                trace.said = Some(text.clone());
            }
            _ => {}
        }
        if let Some(message) = perform(environment, task, action, trace).await? {
            let message = match actions.len() {
                1 => message,
                all => format!("action {} of {all}, `{action}`, and those after it: {message}", before + 1),
            };
            return Ok(Done::Told(Some(message)));
        }
        if trace.over {
            break;
        }
    }
    Ok(Done::Told(None))
}

/// Acts and lets the page settle; gives what the agent has to be told.
async fn perform<E: Environment>(
    environment: &mut E,
    task: &Task,
    action: &Action,
    trace: &mut Trace,
) -> Result<Option<String>, Broken> {
    let told = match environment.act(action).await {
        Ok(acted) => {
            trace.acted(task, acted);
            None
        }
        Err(NotActed::Told(message)) => Some(message),
        Err(NotActed::Broken(error)) => return Err(error.into()),
    };
    let unsettled = environment.settle().await?;
    let step = trace.current();
    step.unsettled = step.unsettled.take().or(unsettled);
    trace.hear(environment, task).await?;
    trace.take_requests(environment);
    Ok(told)
}

impl Trace {
    pub(crate) fn new(task: &Task, rules: Rules) -> Trace {
        Trace {
            began: Instant::now(),
            steps: Vec::new(),
            requests: Vec::new(),
            score: task.scorer.start().by(rules),
            guest: Guest::default(),
            goal: None,
            over: false,
            answer: None,
            chat: Vec::new(),
            said: None,
        }
    }

    fn spoken(&mut self, role: Role, text: &str) {
        self.chat.push(Utterance { role, text: text.to_owned() });
    }

    /// Begins a step with what is seen; gives its number. The scorer sees the page at once, whatever becomes of the action.
    pub(crate) fn saw(&mut self, task: &Task, observation: &Observation) -> u32 {
        let number = self.last_number() + 1;
        self.steps.push(Step {
            step: number,
            at_ms: millis(self.began.elapsed()),
            url: observation.url.clone(),
            title: observation.title.clone(),
            observation: observation.axtree.clone(),
            dialogs: observation.dialogs.clone(),
            ..Step::default()
        });
        self.score(task, None, None, None);
        number
    }

    /// Begins a step with nothing seen but an address. The scorer sees that at once.
    pub(crate) fn came_to(&mut self, task: &Task, url: String) {
        let step = self.last_number() + 1;
        self.steps.push(Step { step, at_ms: millis(self.began.elapsed()), url, ..Step::default() });
        self.score(task, None, None, None);
    }

    /// Notes the element that the action was about, and shows it to the scorer on the page where it was.
    fn acted(&mut self, task: &Task, acted: Option<Acted>) {
        let (element, html) = acted
            .map(|Acted { selector, value, page_html, .. }| (ActedOn { selector, value }, page_html))
            .unzip();
        self.score(task, element.as_ref(), html.filter(|_| task.scorer.wants_html()).as_deref(), None);
        self.current().element = element;
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

    pub(crate) fn take_requests<E: Environment>(&mut self, environment: &mut E) {
        let step = self.last_number();
        self.requests.extend(environment.requests().into_iter().map(|entry| Request { step, entry }));
    }

    fn score(&mut self, task: &Task, element: Option<&ActedOn>, html: Option<&str>, answer: Option<&str>) {
        let url = self.steps.last().map_or("", |step| step.url.as_str());
        let selector = element.map(|element| element.selector.as_str());
        let value = element.map(|element| element.value.as_str());
        let step = tasks::Step { url, selector, value, html, answer, infeasible: false };
        task.scorer.observe(&mut self.score, &step);
    }

    /// Lets the page begin the task; gives the goal.
    pub(crate) async fn prepare<E: Environment>(
        &mut self,
        environment: &mut E,
        task: &Task,
    ) -> Result<String, EnvironmentError> {
        const BEGIN: &str = "begin the task in its page";
        const GOAL: &str = "read the goal from the page";
        self.guest.arrive(environment, task).await?;
        if let Some(script) = &task.begin {
            // What a script ends with may be something that cannot be told, such as the window; nobody wants to know.
            let begun = environment.evaluate(&format!("{script}\n;undefined")).await?;
            begun.map_err(EnvironmentError::while_doing(BEGIN))?;
            if let Some(why) = environment.settle().await? {
                tracing::warn!(task = task.id, why, "the page did not come to rest once its task had begun");
            }
        }
        self.hear(environment, task).await?;
        let expression = match &task.goal {
            GoalText::Words(words) => return Ok(words.clone()),
            GoalText::Page(expression) => expression,
        };
        let said = environment.evaluate(expression).await?.map_err(EnvironmentError::while_doing(GOAL))?;
        match said.as_str() {
            Some(words) if !words.trim().is_empty() => {
                self.goal = Some(words.to_owned());
                Ok(words.to_owned())
            }
            _ => Err(EnvironmentError::while_doing(GOAL)(format!("`{expression}` gives no text"))),
        }
    }

    /// Asks the page for what it has to say of itself, now that it has come to rest.
    pub(crate) async fn hear<E: Environment>(
        &mut self,
        environment: &mut E,
        task: &Task,
    ) -> Result<(), EnvironmentError> {
        let mut verdicts = Vec::new();
        for check in task.scorer.page_checks() {
            let reward = environment.evaluate(&check.reward).await?;
            let done = match &check.done {
                Some(expression) => Some(environment.evaluate(expression).await?),
                None => None,
            };
            verdicts.push(Verdict { reward, done });
        }
        self.over |= task.scorer.hear(&mut self.score, &mut verdicts.into_iter());
        self.judge(environment).await
    }

    /// Looks at what is so on the instance, where the episode is on one.
    async fn judge<E: Environment>(&mut self, environment: &mut E) -> Result<(), EnvironmentError> {
        let said = self.answer.as_deref().or(self.said.as_deref());
        if let Some(verdict) = self.guest.verdict(environment, said).await? {
            self.over |= verdict.done;
            self.score.instance = Some(verdict);
        }
        Ok(())
    }

    /// Asks the sites what the score depends on, and reads it from pages.
    pub(crate) async fn look<E: Environment>(
        &mut self,
        environment: &mut E,
        task: &Task,
    ) -> Result<(), EnvironmentError> {
        let mut found = Vec::new();
        for evaluation in task.scorer.evaluations() {
            found.push(evaluation.read(&mut Reading(environment)).await?);
        }
        task.scorer.read(&mut self.score, &mut found.into_iter());
        let mut held = Vec::new();
        for form in task.scorer.forms() {
            held.push(form.read(&mut Reading(environment)).await?);
        }
        task.scorer.fill(&mut self.score, &mut held.into_iter());
        let mut answers = Vec::new();
        for question in task.scorer.questions() {
            answers.push(environment.probe(question).await?);
        }
        task.scorer.tell(&mut self.score, &mut answers.into_iter());
        if self.over { Ok(()) } else { self.judge(environment).await }
    }

    pub(crate) fn answered(&mut self, task: &Task, text: String) -> Outcome {
        self.score(task, None, None, Some(&text));
        self.answer = Some(text);
        Outcome::Answered
    }

    /// The agent ends the episode. What it said last has to do for an answer.
    fn stopped(&mut self, task: &Task) -> Outcome {
        match self.said.take() {
            Some(text) => self.answered(task, text),
            None => Outcome::Stopped,
        }
    }

    /// The agent says that the goal cannot be reached.
    pub(crate) fn gave_up(&mut self, task: &Task) {
        task.scorer.observe(&mut self.score, &tasks::Step { infeasible: true, ..tasks::Step::default() });
    }

    /// Scores what has happened and writes it down.
    pub(crate) async fn conclude(
        &mut self,
        id: &EpisodeId,
        task: &Task,
        outcome: Outcome,
        started: Timestamp,
        judge: &Model,
    ) -> Result<EpisodeRecord, Error> {
        let wall_ms = millis(self.began.elapsed());
        let goal = self.goal.clone().unwrap_or_else(|| task.goal.to_string());
        let Scored { outcome, score, detail, unjudged } =
            scored(&task.scorer, &mut self.score, &goal, outcome, judge).await;
        let mut record = EpisodeRecord {
            format: FORMAT,
            task: id.task.clone(),
            repeat: id.repeat,
            goal: self.goal.clone(),
            outcome,
            answer: self.answer.clone(),
            score,
            success: detail.as_ref().is_some_and(|score| score.success),
            detail,
            unjudged,
            judgements: self.score.judgements.clone(),
            steps: self.steps.iter().filter(|step| step.action.is_some()).count() as u32,
            requests: Levels::default(),
            misses: Vec::new(),
            refused_hosts: Default::default(),
            started,
            wall_ms,
            fingerprint: String::new(),
        };
        for request in &self.requests {
            count(&mut record, request);
        }
        record.fingerprint = fingerprint::of_episode(&record, &self.steps, &self.requests)?;
        Ok(record)
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

/// Host and port of an absolute URL, or the text itself: a CONNECT names them alone.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority.rsplit_once('@').map_or(authority, |(_, host)| host)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
