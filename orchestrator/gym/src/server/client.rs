//! The agent of a gym's episode: the external client that steps it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actions::Dialect;
use agents::{ActionFormat, Agent, BeginOptions, Error, Goal, NextReply, Reply, View};
use browser::ObservationOptions;
use parking_lot::Mutex;
use results::EpisodeRecord;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::observation::{ObservationSettings, observation_options};

/// The answer to a client's `reset` or `step`.
pub(super) enum StepOutcome {
    /// The current page, and the score so far if known.
    Seen(Arc<Value>, Option<f64>),
    /// The episode has ended.
    EpisodeEnd(Box<EpisodeEnd>),
    /// The episode could not begin, or has no result.
    Failed(String),
}

/// An episode that has ended.
pub(super) struct EpisodeEnd {
    /// The last observation, from before the last action. `None` if there was none.
    pub(super) observation: Option<Value>,
    /// The result of the episode.
    pub(super) record: EpisodeRecord,
}

/// A client's request, with the channel for its answer.
pub(super) struct StepRequest {
    pub(super) reply: Reply,
    pub(super) answer: oneshot::Sender<StepOutcome>,
}

/// The client, from the view of the episode.
pub(super) struct Client {
    steps: mpsc::Receiver<StepRequest>,
    /// The channel on which the client waits.
    waiting: Option<oneshot::Sender<StepOutcome>>,
    observing: ObservationSettings,
    options: ObservationOptions,
    /// Time limit for the client's next action.
    idle: Duration,
    last: Option<Arc<Value>>,
    last_action: String,
    /// Set by the episode before each observation.
    score: Arc<Mutex<Option<f64>>>,
}

impl Client {
    /// A client that waits for its first observation on `waiting` and sends actions through
    /// `steps`.
    pub(super) fn new(
        steps: mpsc::Receiver<StepRequest>,
        waiting: oneshot::Sender<StepOutcome>,
        observing: ObservationSettings,
        idle: Duration,
    ) -> Client {
        let options = observation_options(observing.extra.clone());
        Client {
            steps,
            waiting: Some(waiting),
            observing,
            options,
            idle,
            last: None,
            last_action: String::new(),
            score: Arc::default(),
        }
    }

    /// The cell for the score so far, which the episode updates.
    pub(super) fn score_so_far(&self) -> Arc<Mutex<Option<f64>>> {
        self.score.clone()
    }

    async fn ask(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        let seen = Arc::new(
            self.observing
                .written(goal, view, &self.last_action)
                .map_err(unreadable(view.screenshot))?,
        );
        self.last = Some(seen.clone());
        let score = *self.score.lock();
        let heard = self
            .waiting
            .take()
            .is_some_and(|waiting| waiting.send(StepOutcome::Seen(seen, score)).is_ok());
        if !heard {
            return Err(Error::ClientLeft);
        }
        match timeout(self.idle, self.steps.recv()).await {
            Ok(Some(StepRequest { reply, answer })) => {
                self.waiting = Some(answer);
                if let Reply::Act { text, .. } = &reply {
                    self.last_action.clone_from(text);
                }
                Ok(reply)
            }
            Ok(None) => Err(Error::ClientLeft),
            Err(_) => Err(Error::ClientSilent { after: self.idle }),
        }
    }

    /// Sends the end of the episode to the client if it still waits.
    pub(super) fn hear(mut self, ended: Result<EpisodeRecord, String>) {
        let turn = match ended {
            Ok(record) => {
                let observation = self.last.take().map(|last| {
                    let mut last = Arc::unwrap_or_clone(last);
                    last["last_action"] = json!(self.last_action);
                    last["last_action_error"] = json!("");
                    last
                });
                StepOutcome::EpisodeEnd(Box::new(EpisodeEnd { observation, record }))
            }
            Err(message) => StepOutcome::Failed(message),
        };
        if let Some(waiting) = self.waiting.take() {
            // The client may have disconnected, which does not matter any more.
            let _ = waiting.send(turn);
        }
    }
}

fn unreadable(path: Option<&Path>) -> impl FnOnce(std::io::Error) -> Error {
    move |source| {
        let path = path.map(|path| path.display().to_string()).unwrap_or_default();
        Error::Picture { path, source }
    }
}

impl Agent for Client {
    fn begin<'a>(&'a mut self, _: &'a Goal) -> BeginOptions<'a> {
        Box::pin(std::future::ready(Ok(self.options.clone())))
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.ask(goal, view))
    }
}

/// The format of clients' actions. BrowserGym's own environments accept several at a time.
pub(super) const SPEECH: ActionFormat =
    ActionFormat { dialect: Dialect::BrowserGym, multiaction: true };

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use browser::Observation;

    use super::*;

    #[tokio::test]
    async fn who_breaks_off_while_it_waits_has_left_and_who_says_nothing_is_silent() {
        let goal = Goal {
            task: "t".to_owned(),
            text: "Find it.".to_owned(),
            images: Vec::new(),
            start_url: None,
            max_steps: 3,
        };
        let page = Observation::default();
        let view = View {
            step: 1,
            observation: &page,
            chat: &[],
            last_action_error: None,
            screenshot: None,
        };
        let client = |waiting| {
            let (way, steps) = mpsc::channel(1);
            let observing = ObservationSettings::new("2026-03-12T08:30:00Z".parse().unwrap(), None);
            (Client::new(steps, waiting, observing, Duration::from_millis(10)), way)
        };
        let (waiting, gone) = oneshot::channel();
        let (mut left, _way) = client(waiting);
        drop(gone);
        assert!(matches!(left.next(&goal, view).await, Err(Error::ClientLeft)));
        let (waiting, mut turn) = oneshot::channel();
        let (mut silent, _way) = client(waiting);
        assert!(matches!(silent.next(&goal, view).await, Err(Error::ClientSilent { .. })));
        assert!(
            matches!(turn.try_recv(), Ok(StepOutcome::Seen(..))),
            "it was shown the page first"
        );
    }
}
