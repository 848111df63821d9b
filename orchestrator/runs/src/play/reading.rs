//! Pages and servers as scorers read them, once an episode has ended.

use browser::Action;
use scoring::{Fetch, Fetched, Pages};
use serde_json::Value;

use crate::play::environment::{Environment, EnvironmentError, NotActed};

/// The environment that the agent has left.
pub(crate) struct Reading<'a, E>(pub(crate) &'a mut E);

impl<E: Environment> Reading<'_, E> {
    /// Acts and lets the page come to rest. What a page does not allow is no error.
    async fn act(&mut self, action: Action) -> Result<(), EnvironmentError> {
        match self.0.act(&action).await {
            Ok(_) => {}
            Err(NotActed::Told(why)) => {
                tracing::debug!(%action, why, "a page that the score depends on does not open");
            }
            Err(NotActed::Broken(error)) => return Err(error),
        }
        self.0.settle().await.map(drop)
    }
}

impl<E: Environment> Pages for Reading<'_, E> {
    type Error = EnvironmentError;

    async fn open(&mut self, url: &str) -> Result<(), EnvironmentError> {
        self.act(Action::Goto { url: url.to_owned() }).await
    }

    async fn open_beside(&mut self, url: &str) -> Result<(), EnvironmentError> {
        self.act(Action::NewTab).await?;
        self.open(url).await
    }

    async fn close_beside(&mut self) -> Result<(), EnvironmentError> {
        self.act(Action::CloseTab).await
    }

    async fn evaluate(&mut self, expression: &str) -> Result<Result<Value, String>, EnvironmentError> {
        self.0.evaluate(expression).await
    }

    async fn fetch(&mut self, request: &Fetch) -> Result<Result<Fetched, String>, EnvironmentError> {
        self.0.fetch(request).await
    }
}
