//! The text of an agent specification, as it is parsed and written.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use camino::Utf8Path;
use llm_client::Model;

use super::{AgentSpec, LlmAgent};
use crate::llm::{PRESETS, Settings, SettingsError, Templates};
use crate::program::AddressError;

/// Separates the agents of an ensemble.
pub(super) const THEN: &str = "->";

/// The text does not name an agent.
#[derive(Debug, thiserror::Error)]
pub enum UnknownAgent {
    /// No agent has this name.
    #[error(
        "find an agent called {0:?}{meant}; there are `oracle`, `negative`, `noop`, `random`, {presets}, a file of settings such as `mine.yaml`, `program:COMMAND`, `http://HOST:PORT/PATH`, and `A->B` for one after the other",
        meant = suggestions::did_you_mean(.0, names()),
        presets = PRESETS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    Name(
        /// The text.
        String,
    ),
    /// The address is invalid.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The settings file is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// The names of the built-in agents.
fn names() -> impl Iterator<Item = &'static str> {
    ["oracle", "negative", "noop", "random"]
        .into_iter()
        .chain(PRESETS.iter().map(|(name, _)| *name))
}

impl FromStr for AgentSpec {
    type Err = UnknownAgent;

    /// Reads the settings file if the text names one.
    fn from_str(text: &str) -> Result<AgentSpec, UnknownAgent> {
        let unknown = || UnknownAgent::Name(text.to_owned());
        // A command may contain `->` or begin like an address, so it comes first.
        if let Some(command) = text.strip_prefix("program:").map(str::trim) {
            return if command.is_empty() {
                Err(unknown())
            } else {
                Ok(AgentSpec::Program { command: command.to_owned() })
            };
        }
        if let Some((first, rest)) = text.split_once(THEN) {
            let mut specs = vec![first.trim().parse()?];
            match rest.trim().parse()? {
                AgentSpec::Fallback(others) => specs.extend(others),
                other => specs.push(other),
            }
            return Ok(AgentSpec::Fallback(specs));
        }
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(AgentSpec::Server(text.parse()?));
        }
        match text {
            "oracle" => return Ok(AgentSpec::Oracle),
            "negative" => return Ok(AgentSpec::Negative),
            "mistaken" => {
                tracing::warn!("the agent `mistaken` is now called `negative`");
                return Ok(AgentSpec::Negative);
            }
            "noop" => return Ok(AgentSpec::Noop),
            "random" => return Ok(AgentSpec::Random),
            _ => {}
        }
        let settings = if text.ends_with(".yaml") || text.ends_with(".yml") {
            Settings::read(Utf8Path::new(text))?
        } else {
            Settings::preset(text).ok_or_else(unknown)?
        };
        let templates =
            Templates::load(settings.templates.as_deref()).map_err(SettingsError::from)?;
        let (name, templates, model) = (text.to_owned(), Arc::new(templates), Model::default());
        Ok(AgentSpec::Model(Box::new(LlmAgent { name, settings, templates, model })))
    }
}

/// Whether this agent acts at random, so that its repeats differ by design.
pub fn is_random(name: &str) -> bool {
    if name.starts_with("program:") {
        return false;
    }
    name.split(THEN).any(|one| one.trim() == "random")
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentSpec::Oracle => f.write_str("oracle"),
            AgentSpec::Negative => f.write_str("negative"),
            AgentSpec::Noop => f.write_str("noop"),
            AgentSpec::Random => f.write_str("random"),
            AgentSpec::Program { command } => write!(f, "program:{command}"),
            AgentSpec::Server(address) => write!(f, "{address}"),
            AgentSpec::Model(asking) => f.write_str(&asking.name),
            AgentSpec::Fallback(specs) => {
                for (place, spec) in specs.iter().enumerate() {
                    write!(f, "{}{spec}", if place == 0 { "" } else { THEN })?;
                }
                Ok(())
            }
            AgentSpec::Recorded(replies) => f.write_str(replies.agent()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        let names = ["oracle", "negative", "noop", "random", "cot", "see-plan-act->closed-book-1"];
        for name in names.into_iter().chain([
            "program:python3 'my agent.py' --fast",
            "cot->noop->program:a -> b",
            "http://127.0.0.1:9000/agent",
            "cot->http://localhost:9000->noop",
        ]) {
            assert_eq!(name.parse::<AgentSpec>().unwrap().to_string(), name);
        }
        assert_eq!("mistaken".parse::<AgentSpec>().unwrap().to_string(), "negative");
        for bad in ["", "Oracle", "program:", "program: ", "python3 x.py", "cot->", "->cot"] {
            assert!(matches!(bad.parse::<AgentSpec>(), Err(UnknownAgent::Name(_))), "{bad}");
        }
        for bad in ["http://", "https://127.0.0.1/", "cot->https://127.0.0.1/"] {
            assert!(matches!(bad.parse::<AgentSpec>(), Err(UnknownAgent::Address(_))), "{bad}");
        }
        assert!(matches!("nowhere.yaml".parse::<AgentSpec>(), Err(UnknownAgent::Settings(_))));
    }
}
