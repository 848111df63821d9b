//! The agent of a gym's episode: whoever steps it from outside.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agents::{ActionFormat, Agent, Error, FirstLook, Goal, NextReply, Reply, View};
use browser::{Dialect, Look};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::observation::{ObservationSettings, asked_for};
use crate::results::EpisodeRecord;

/// What a client is told in return for an action, or for beginning.
pub(super) enum StepOutcome {
    /// The page as it is now, and the score so far, where that is known.
    Seen(Arc<Value>, Option<f64>),
    /// The episode has ended.
    EpisodeEnd(Box<EpisodeEnd>),
    /// There was no episode, or there is no result of it.
    Failed(String),
}

/// An episode that has ended.
pub(super) struct EpisodeEnd {
    /// What was seen last, the page as it was before the last action; nothing where nothing was seen.
    pub(super) observation: Option<Value>,
    /// How it ended.
    pub(super) record: EpisodeRecord,
}

/// What a client wants, and where it waits for what comes of it.
pub(super) struct StepRequest {
    pub(super) reply: Reply,
    pub(super) answer: oneshot::Sender<StepOutcome>,
}

/// A client, as the episode knows it.
pub(super) struct Client {
    asked: mpsc::Receiver<StepRequest>,
    /// Where it waits now.
    waiting: Option<oneshot::Sender<StepOutcome>>,
    observing: ObservationSettings,
    look: Look,
    /// How long it may be silent.
    idle: Duration,
    last: Option<Arc<Value>>,
    last_action: String,
    /// Told by the episode before each look.
    score: Arc<Mutex<Option<f64>>>,
}

impl Client {
    /// A client that waits for its first observation at `waiting`, and sends its actions through `asked`.
    pub(super) fn new(
        asked: mpsc::Receiver<StepRequest>,
        waiting: oneshot::Sender<StepOutcome>,
        observing: ObservationSettings,
        idle: Duration,
    ) -> Client {
        let look = asked_for(observing.asked.clone());
        Client {
            asked,
            waiting: Some(waiting),
            observing,
            look,
            idle,
            last: None,
            last_action: String::new(),
            score: Arc::default(),
        }
    }

    /// Where the episode puts the score so far.
    pub(super) fn score_so_far(&self) -> Arc<Mutex<Option<f64>>> {
        self.score.clone()
    }

    async fn ask(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        let seen = Arc::new(
            self.observing.written(goal, view, &self.last_action).map_err(unreadable(view.screenshot))?,
        );
        self.last = Some(seen.clone());
        let score = *self.score.lock();
        let heard = self.waiting.take().is_some_and(|waiting| waiting.send(StepOutcome::Seen(seen, score)).is_ok());
        if !heard {
            return Err(Error::ClientLeft);
        }
        match timeout(self.idle, self.asked.recv()).await {
            Ok(Some(StepRequest { reply, answer })) => {
                self.waiting = Some(answer);
                if let Reply::Act { action, .. } = &reply {
                    self.last_action.clone_from(action);
                }
                Ok(reply)
            }
            Ok(None) => Err(Error::ClientLeft),
            Err(_) => Err(Error::ClientSilent { after: self.idle }),
        }
    }

    /// Tells the client, if it still waits, how the episode has ended.
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
            // It may have gone, which changes nothing any more.
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
    fn begin<'a>(&'a mut self, _: &'a Goal) -> FirstLook<'a> {
        Box::pin(std::future::ready(Ok(self.look.clone())))
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.ask(goal, view))
    }

    /// BrowserGym's own environments take several actions at a time.
    fn speech(&self) -> ActionFormat {
        SPEECH
    }
}

/// How clients write their actions.
pub(super) const SPEECH: ActionFormat = ActionFormat { dialect: Dialect::BrowserGym, multiaction: true };

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use browser::Observation;

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
        let view = View { step: 1, observation: &page, chat: &[], last_action_error: None, screenshot: None };
        let client = |waiting| {
            let (way, asked) = mpsc::channel(1);
            let observing = ObservationSettings::new("2026-03-12T08:30:00Z".parse().unwrap(), None);
            (Client::new(asked, waiting, observing, Duration::from_millis(10)), way)
        };
        let (waiting, gone) = oneshot::channel();
        let (mut left, _way) = client(waiting);
        drop(gone);
        assert!(matches!(left.next(&goal, view).await, Err(Error::ClientLeft)));
        let (waiting, mut turn) = oneshot::channel();
        let (mut silent, _way) = client(waiting);
        assert!(matches!(silent.next(&goal, view).await, Err(Error::ClientSilent { .. })));
        assert!(matches!(turn.try_recv(), Ok(StepOutcome::Seen(..))), "it was shown the page first");
    }
}
