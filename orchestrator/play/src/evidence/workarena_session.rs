//! A task of WorkArena on a ServiceNow instance that is not ours and is not put back.
//!
//! ```text
//! empty -- setup --> open -- validate, whenever the page is at rest --> open -- teardown --> empty
//! ```
//!
//! The steps are those of BrowserGym's tasks. The rule of the task validates
//! ([`scoring::workarena::Config`]), on what [`WorkArenaSession::instance`] gives it. Whoever plays
//! an episode holds the session outside of what can be given up, so that it is torn down however
//! the episode ends.

use std::sync::Arc;

use scoring::evidence::Session;
use scoring::workarena::{Config, Failure};
use scoring::{Pages as _, Scorer};
use sha2::{Digest as _, Sha256};
use tasks::Task;
use tokio::sync::Mutex;

use crate::environment::{Environment, EnvironmentError};
use crate::evidence::EpisodeEvidence;
use crate::evidence::servicenow::ServiceNow;

/// The session of one episode; empty if its task is none of WorkArena's.
#[derive(Clone, Default)]
pub struct WorkArenaSession(Arc<Mutex<Option<OpenSession>>>);

struct OpenSession {
    config: Config,
    session: Session<ServiceNow>,
}

impl WorkArenaSession {
    /// Sets a task of WorkArena up on its instance, and opens its start page.
    pub(crate) async fn setup<E: Environment>(
        &self,
        environment: &mut E,
        task: &Task,
    ) -> Result<(), EnvironmentError> {
        let Scorer::WorkArena(config) = &task.scorer else { return Ok(()) };
        let site = task.sites.first().map(String::as_str).unwrap_or_default();
        let mut tables = ServiceNow::new(environment.api_client(site)?);
        let address = tables.address().to_owned();
        let visit = config.set_up(&mut tables, &address, seed(task)).await.map_err(failure)?;
        let (login, start) = (visit.login_url(), visit.start_url());
        let session = Session { visit, tables };
        *self.0.lock().await = Some(OpenSession { config: config.clone(), session });
        let mut pages = EpisodeEvidence {
            environment: &mut *environment,
            session: self,
            traffic: None,
            last_message: None,
            requirements: &[],
        };
        pages.open(&login).await?;
        config.check_login(&mut pages).await.map_err(failure)?;
        pages.open(&start).await?;
        config.check(&mut pages).await.map_err(failure)?;
        config.tend(&mut pages).await.map_err(failure)?;
        // What was tended to may draw something.
        if let Some(why) = environment.settle().await? {
            tracing::warn!(
                task = task.id,
                why,
                "the page did not come to rest once its task was set up"
            );
        }
        Ok(())
    }

    /// Returns the instance with everything that was made there for the task; none if no task is
    /// set up.
    pub(crate) async fn instance(&self) -> Option<Session<ServiceNow>> {
        self.0.lock().await.as_ref().map(|open| open.session.clone())
    }

    /// Removes everything that was made on the instance. A failure is logged and changes no result.
    pub async fn teardown(&self) {
        let Some(OpenSession { config, session }) = self.0.lock().await.take() else { return };
        let Session { mut visit, mut tables } = session;
        if let Err(error) = config.tear_down(&mut visit, &mut tables).await {
            let user = &visit.user.name;
            tracing::warn!(%error, user, "what an episode made on an instance is still there, its user above all");
        }
    }
}

fn failure(failure: Failure<EnvironmentError>) -> EnvironmentError {
    match failure {
        Failure::Foreign(error) => error,
        other => EnvironmentError::while_doing("set the task up")(other.to_string()),
    }
}

/// Returns a seed for the name of the task's user, so that the name follows from the task.
fn seed(task: &Task) -> u64 {
    Sha256::digest(&task.id).iter().take(8).fold(0, |seed, byte| seed << 8 | u64::from(*byte))
}
