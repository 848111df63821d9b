//! An ensemble of agents: the next one takes over if one gives no answer. AssistantBench has such
//! ensembles, such as `see-plan-act->closed-book`.
//!
//! The first agent has the episode to itself. The next one takes over if the current agent stops
//! without an answer, declares the goal infeasible, or reaches its last action without an answer.
//! It continues on the current page with the remaining actions.

use actions::Action;
use observation::ObservationOptions;

use crate::agent::BeginOptions;
use crate::{Agent, Call, Error, Goal, NextReply, Reply, View};

/// Agents in order. There is at least one.
pub struct Fallback {
    agents: Vec<Box<dyn Agent>>,
    current: usize,
}

impl Fallback {
    /// An ensemble of these agents, in order.
    pub fn new(agents: Vec<Box<dyn Agent>>) -> Fallback {
        Fallback { agents, current: 0 }
    }

    async fn reply(&mut self, goal: &Goal, view: View<'_>) -> Result<Reply, Error> {
        loop {
            let is_last = self.current + 1 == self.agents.len();
            let agent = &mut self.agents[self.current];
            let reply = agent.next(goal, view).await?;
            let goes_on = matches!(reply, Reply::Act { .. }) && !gives_up(&reply);
            if is_last || answers(&reply) || (goes_on && view.step < goal.max_steps) {
                return Ok(reply);
            }
            self.current += 1;
        }
    }
}

/// Whether the reply ends the episode with an answer.
fn answers(reply: &Reply) -> bool {
    ends(reply, |action| matches!(action, Action::Answer { text } if !text.trim().is_empty()))
}

/// Whether the reply ends the episode in any way.
fn gives_up(reply: &Reply) -> bool {
    ends(reply, Action::is_final)
}

fn ends(reply: &Reply, wanted: impl Fn(&Action) -> bool) -> bool {
    match reply {
        Reply::Act { actions: Ok(actions), .. } => actions.iter().any(wanted),
        Reply::Act { .. } | Reply::Stop { .. } => false,
    }
}

impl Agent for Fallback {
    fn begin<'a>(&'a mut self, goal: &'a Goal) -> BeginOptions<'a> {
        Box::pin(async {
            let mut options: Option<ObservationOptions> = None;
            for agent in &mut self.agents {
                let wanted = agent.begin(goal).await?;
                options = Some(match options {
                    None => wanted,
                    Some(options) => options.and(wanted),
                });
            }
            Ok(options.unwrap_or_default())
        })
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        Box::pin(self.reply(goal, view))
    }

    fn is_built_in(&self) -> bool {
        self.agents.iter().all(|agent| agent.is_built_in())
    }

    fn take_calls(&mut self) -> Vec<Call> {
        self.agents.iter_mut().flat_map(|agent| agent.take_calls()).collect()
    }

    fn end<'a>(
        &'a mut self,
        outcome: &'a str,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            for agent in &mut self.agents {
                agent.end(outcome).await;
            }
        })
    }
}
