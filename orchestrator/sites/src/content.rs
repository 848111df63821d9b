//! The state of one instance, independent of its driver: restore it, compare it with the golden
//! state, and query it.

use std::sync::Arc;

use camino::Utf8Path;
use embedded_sites::EmbeddedInstance;
use serde_json::{Map, Value};

use crate::Error;
use crate::state::{self, Golden, Live};

/// The place of an instance's state. Clones are handles on the same state.
#[derive(Clone)]
pub(crate) enum Content {
    /// A folder on this machine.
    Folder {
        /// The golden state when the instance was created.
        golden: Arc<Golden>,
        /// The live folder.
        live: Live,
    },
    /// The database of a built-in application.
    Embedded(EmbeddedInstance),
    /// The driver has no access to the state.
    Elsewhere,
}

impl Content {
    /// Whether the state can be restored while the application runs.
    pub(crate) fn restores(&self) -> bool {
        !matches!(self, Content::Elsewhere)
    }

    /// Restores the golden state.
    pub(crate) async fn restore(&self) -> Result<(), Error> {
        match self.clone() {
            Content::Folder { golden, live } => blocking(move || Ok(golden.restore(&live)?)).await,
            Content::Embedded(instance) => blocking(move || Ok(instance.reset()?)).await,
            Content::Elsewhere => Ok(()),
        }
    }

    /// Returns the first difference from the golden state.
    pub(crate) async fn difference(&self) -> Result<Option<String>, Error> {
        match self.clone() {
            Content::Folder { golden, live } => {
                let compare = move || match golden.digest_of(&live) {
                    Ok(now) => Ok(golden
                        .digest()
                        .difference(&now)
                        .map(|difference| difference.to_string())),
                    Err(error) => Ok(Some(error.into_drift()?)),
                };
                blocking(compare).await
            }
            Content::Embedded(instance) => {
                let compare = move || {
                    let changed = instance.digest()? != instance.pristine();
                    Ok(changed.then(|| "the database has changed".to_owned()))
                };
                blocking(compare).await
            }
            Content::Elsewhere => Ok(None),
        }
    }

    /// Returns a digest of the state, if the state is accessible.
    pub(crate) async fn digest(&self) -> Result<Option<String>, Error> {
        match self.clone() {
            Content::Folder { golden, live } => {
                blocking(move || Ok(Some(golden.digest_of(&live)?.to_string()))).await
            }
            Content::Embedded(instance) => {
                blocking(move || Ok(Some(instance.digest()?.to_string()))).await
            }
            Content::Elsewhere => Ok(None),
        }
    }

    /// Returns the rows of a query, which cannot modify anything.
    pub(crate) async fn query(
        &self,
        database: Option<&Utf8Path>,
        query: &str,
        parameters: &Map<String, Value>,
    ) -> Result<Vec<Value>, Error> {
        let (query, parameters) = (query.to_owned(), parameters.clone());
        match self.clone() {
            Content::Folder { live, .. } => {
                let database = state::relative(database.unwrap_or(Utf8Path::new("")))?;
                blocking(move || Ok(live.query(&database, &query, &parameters)?)).await
            }
            Content::Embedded(instance) => {
                let ask = move || {
                    let parameters: Vec<(&str, Value)> = parameters
                        .iter()
                        .map(|(name, value)| (name.as_str(), value.clone()))
                        .collect();
                    Ok(instance
                        .query(&query, &parameters)?
                        .into_iter()
                        .map(Value::Object)
                        .collect())
                };
                blocking(ask).await
            }
            Content::Elsewhere => Ok(Vec::new()),
        }
    }
}

/// Runs blocking disk work on a thread for blocking tasks.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down: nobody reads this result.
            Err(_) => Err(Error::Stopped("the state".to_owned())),
        },
    }
}

/// Removes a folder if it exists.
pub(crate) async fn remove_folder(folder: &Utf8Path) -> Result<(), Error> {
    let folder = folder.to_owned();
    blocking(move || Ok(state::remove_folder(&folder)?)).await
}
