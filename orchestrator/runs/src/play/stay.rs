//! An episode's stay on an instance that is not ours and is not put back: whoever comes in leaves it as it was.
//!
//! ```text
//! nobody -- arrive --> staying -- verdict, after every action --> staying -- leave --> nobody
//! ```
//!
//! [`Guest`] is held by whoever plays the episode, outside of what can be given up, so that it leaves however the episode
//! ends.

use std::sync::Arc;

use scoring::Pages;
use scoring::workarena::{Config, Failure, Verdict, Visit};
use sha2::{Digest as _, Sha256};
use tasks::Task;
use tokio::sync::Mutex;

use crate::play::environment::{Environment, EnvironmentError};
use crate::play::reading::Reading;
use crate::play::servicenow::ServiceNow;

/// A place for one stay.
#[derive(Clone, Default)]
pub(crate) struct Guest(Arc<Mutex<Option<Stay>>>);

struct Stay {
    config: Config,
    visit: Visit,
    instance: ServiceNow,
}

const ARRIVE: &str = "set the task up";
const JUDGE: &str = "look at what was done";

impl Guest {
    /// Sets a task up and opens its start page, where it is one that is done on an instance.
    pub(crate) async fn arrive<E: Environment>(
        &self,
        environment: &mut E,
        task: &Task,
    ) -> Result<(), EnvironmentError> {
        let Some(config) = task.scorer.workarena() else { return Ok(()) };
        let site = task.sites.first().map(String::as_str).unwrap_or_default();
        let mut instance = environment.instance(site)?;
        let address = instance.address().to_owned();
        let visit = config.set_up(&mut instance, &address, seed(task)).await.map_err(plain(ARRIVE))?;
        let (login, start) = (visit.login_url(), visit.start_url());
        *self.0.lock().await = Some(Stay { config: config.clone(), visit, instance });
        let mut pages = Reading(&mut *environment);
        pages.open(&login).await?;
        config.check_login(&mut pages).await.map_err(plain(ARRIVE))?;
        pages.open(&start).await?;
        config.check(&mut pages).await.map_err(plain(ARRIVE))?;
        config.tend(&mut pages).await.map_err(plain(ARRIVE))?;
        // What was tended to may draw something.
        if let Some(why) = environment.settle().await? {
            tracing::warn!(task = task.id, why, "the page did not come to rest once its task was set up");
        }
        Ok(())
    }

    /// What is so now; nothing where nobody stays. `said` is what the agent said last.
    pub(crate) async fn verdict<E: Environment>(
        &self,
        environment: &mut E,
        said: Option<&str>,
    ) -> Result<Option<Verdict>, EnvironmentError> {
        let mut place = self.0.lock().await;
        let Some(Stay { config, visit, instance }) = &mut *place else { return Ok(None) };
        let mut pages = Reading(environment);
        config.tend(&mut pages).await.map_err(plain(JUDGE))?;
        config.validate(visit, instance, &mut pages, said).await.map(Some).map_err(plain(JUDGE))
    }

    /// Removes what was made on the instance. What cannot be removed is told and changes no result.
    pub(crate) async fn leave(&self) {
        let Some(Stay { config, mut visit, mut instance }) = self.0.lock().await.take() else { return };
        if let Err(error) = config.tear_down(&mut visit, &mut instance).await {
            let user = &visit.user.name;
            tracing::warn!(%error, user, "what an episode made on an instance is still there, its user above all");
        }
    }
}

fn plain(doing: &'static str) -> impl FnOnce(Failure<EnvironmentError>) -> EnvironmentError {
    move |failure| match failure {
        Failure::Foreign(error) => error,
        other => EnvironmentError::while_doing(doing)(other.to_string()),
    }
}

/// What a task's user is called follows from the task.
fn seed(task: &Task) -> u64 {
    Sha256::digest(&task.id).iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
