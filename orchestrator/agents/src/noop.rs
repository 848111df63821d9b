//! An agent that does nothing. Its score is what a task gives away.

use crate::{Agent, Goal, NextReply, Reply, View};

/// Stops at the first observation, without an answer.
#[derive(Debug, Default)]
pub struct Noop;

impl Agent for Noop {
    fn is_built_in(&self) -> bool {
        true
    }

    fn next<'a>(&'a mut self, _goal: &'a Goal, _view: View<'a>) -> NextReply<'a> {
        Box::pin(std::future::ready(Ok(Reply::Stop { reason: None })))
    }
}
