//! The server of a model: by the settings of an agent and the variables of the environment.

use std::time::Duration;

use http_client::Route;
use llm_client::{Client, Settings};

use super::settings::ModelSettings;

/// The address of OpenAI's own API.
const OPENAI: &str = "https://api.openai.com/v1";

/// Why a model's server cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The settings name a variable that is not set.
    #[error(
        "reach the model: its settings name the variable {name}, which is not set; set it, or add --offline to use \
         the cassette alone"
    )]
    NoVariable {
        /// The variable.
        name: String,
    },
    /// Nothing says where the server is.
    #[error(
        "reach a model: neither OPENAI_API_KEY nor OPENAI_BASE_URL is set; set the key for OpenAI's server, or the \
         URL of your own, or add --offline to use the cassette alone"
    )]
    NoServer,
    /// The settings are none of a server.
    #[error("reach the model: {source}")]
    Settings {
        /// What is wrong with them.
        source: llm_client::Error,
    },
}

impl ModelSettings {
    /// A client of the model's server that waits so long for a reply. `variable` gives the value of
    /// a variable of the environment that is set and not empty.
    ///
    /// # Errors
    /// When the settings name what is not set, or no server.
    pub fn client(
        &self,
        within: Duration,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Client, ServerError> {
        let missing = |name: &str| ServerError::NoVariable { name: name.to_owned() };
        let key = match (&self.key_variable, &self.base_url) {
            (Some(name), _) => Some(variable(name).ok_or_else(|| missing(name))?),
            // OpenAI's key is for OpenAI's server, or the one that stands in its place for
            // everybody.
            (None, Some(_)) => None,
            (None, None) => variable("OPENAI_API_KEY"),
        };
        let base_url = self.base_url.clone().or_else(|| variable("OPENAI_BASE_URL"));
        if base_url.is_none() && key.is_none() {
            return Err(ServerError::NoServer);
        }
        let mut headers = Vec::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let value = match value.strip_prefix('$') {
                Some(of) => variable(of).ok_or_else(|| missing(of))?,
                None => value.clone(),
            };
            headers.push((name.clone(), value));
        }
        let base_url = base_url.unwrap_or_else(|| OPENAI.to_owned());
        let own = self
            .request_timeout
            .map_or(within, |seconds| Duration::from_secs(seconds.get().into()));
        let settings = Settings {
            key,
            key_header: self.key_header.clone(),
            headers,
            within: own.min(within),
            pace: self.pace(),
            route: Route::from_environment(&base_url),
            ..Settings::to(base_url)
        };
        Client::new(&settings).map_err(|source| ServerError::Settings { source })
    }
}
