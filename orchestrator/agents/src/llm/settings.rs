//! Agent settings: the agent, the values of its paper, and its model. They are a preset or a YAML
//! file.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use camino::{Utf8Path, Utf8PathBuf};
use llm_client::{Pace, Price, Sampling};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::template::TemplateError;
use super::{closed_book, form, generic, react, retrieval, see_act, webarena};
use crate::ActionFormat;

/// The presets: name and text.
pub const PRESETS: &[(&str, &str)] = &[
    ("direct", include_str!("presets/direct.yaml")),
    ("direct-no-hint", include_str!("presets/direct-no-hint.yaml")),
    ("cot", include_str!("presets/cot.yaml")),
    ("cot-no-hint", include_str!("presets/cot-no-hint.yaml")),
    ("cot-vision", include_str!("presets/cot-vision.yaml")),
    ("react", include_str!("presets/react.yaml")),
    ("react-reward", include_str!("presets/react-reward.yaml")),
    ("react-golden", include_str!("presets/react-golden.yaml")),
    ("see-act", include_str!("presets/see-act.yaml")),
    ("see-act-text", include_str!("presets/see-act-text.yaml")),
    ("see-plan-act", include_str!("presets/see-plan-act.yaml")),
    ("see-plan-act-text", include_str!("presets/see-plan-act-text.yaml")),
    ("generic", include_str!("presets/generic.yaml")),
    ("generic-vision", include_str!("presets/generic-vision.yaml")),
    ("form", include_str!("presets/form.yaml")),
    ("form-zero", include_str!("presets/form-zero.yaml")),
    ("form-full", include_str!("presets/form-full.yaml")),
    ("closed-book", include_str!("presets/closed-book.yaml")),
    ("closed-book-1", include_str!("presets/closed-book-1.yaml")),
    ("retrieval", include_str!("presets/retrieval.yaml")),
    ("retrieval-1", include_str!("presets/retrieval-1.yaml")),
];

/// The settings of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The kind of agent, with its own settings.
    #[serde(with = "serde_yaml::with::singleton_map")]
    pub agent: AgentSettings,
    /// The model and how to call it.
    #[serde(default)]
    pub model: ModelSettings,
    /// A folder with templates that replace the built-in ones of the same name. A relative path
    /// starts at the settings file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<Utf8PathBuf>,
}

/// The kinds of agents that use a language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentSettings {
    /// WebArena's agent, which acts directly or reasons first.
    #[serde(rename = "webarena")]
    WebArena(webarena::Settings),
    /// WebCanvas's agent, with memory and reward.
    React(react::Settings),
    /// SeeAct and SeePlanAct, in two stages.
    SeeAct(see_act::Settings),
    /// WorkArena's agent, which gets errors about its replies.
    Generic(generic::Settings),
    /// TurkingBench's agent, field by field.
    Form(form::Settings),
    /// AssistantBench's closed-book agent.
    ClosedBook(closed_book::Settings),
    /// AssistantBench's retrieval agent, with a search engine only.
    Retrieval(retrieval::Settings),
}

impl AgentSettings {
    /// The names of its prompt templates.
    pub fn templates(&self) -> &'static [&'static str] {
        match self {
            AgentSettings::WebArena(settings) if settings.reasoning => &["webarena-cot"],
            AgentSettings::WebArena(_) => &["webarena-direct"],
            AgentSettings::React(_) => &["react", "react-reward"],
            AgentSettings::SeeAct(settings) if settings.plan => {
                &["see-plan-act-look", "see-plan-act-choose", "see-plan-act-answer"]
            }
            AgentSettings::SeeAct(_) => &["see-act-look", "see-act-choose"],
            AgentSettings::Generic(_) => &["generic"],
            AgentSettings::Form(_) => &["form"],
            AgentSettings::ClosedBook(_) => &["closed-book"],
            AgentSettings::Retrieval(_) => &["retrieval"],
        }
    }

    /// The format of its actions, as the agent itself reads them.
    pub(crate) fn action_format(&self) -> ActionFormat {
        match self {
            AgentSettings::WebArena(_) => webarena::FORMAT,
            AgentSettings::React(_) => react::FORMAT,
            AgentSettings::Form(_) => form::FORMAT,
            AgentSettings::Generic(settings) => settings.action_format(),
            AgentSettings::SeeAct(_)
            | AgentSettings::ClosedBook(_)
            | AgentSettings::Retrieval(_) => ActionFormat::UNWRITTEN,
        }
    }

    /// Whether it shows screenshots to its model.
    pub fn looks_at_screenshots(&self) -> bool {
        match self {
            AgentSettings::WebArena(settings) => settings.vision,
            AgentSettings::React(settings) => settings.vision,
            AgentSettings::SeeAct(settings) => settings.vision,
            AgentSettings::Generic(settings) => settings.screenshot,
            AgentSettings::Form(settings) => settings.vision,
            AgentSettings::ClosedBook(_) | AgentSettings::Retrieval(_) => false,
        }
    }
}

/// The model and how to call it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// The model's name at its server. `--model` overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// From 0 (most likely tokens) to 2. If absent, the server chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Samples from the most likely tokens that together have this probability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Maximum number of tokens of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Maximum number of text tokens of a prompt. The page is cut to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_prompt_tokens: Option<usize>,
    /// Other request parameters, by key.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// The price of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The server's base URL. Defaults to `OPENAI_BASE_URL`, or OpenAI's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that has the key. Defaults to `OPENAI_API_KEY`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// A header that carries the key, such as `api-key`. If absent, the key is a bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_header: Option<String>,
    /// Additional request headers. `$NAME` stands for an environment variable.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Time limit for one reply in seconds. Defaults to the agent's own time limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_timeout: Option<NonZeroU32>,
    /// Maximum number of requests for each minute, over all workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<NonZeroU32>,
    /// Maximum number of tokens, sent and received, for each minute, over all workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Maximum number of concurrent requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_at_once: Option<NonZeroU32>,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not a settings file.
    #[error("read the settings of an agent: {0}")]
    File(#[from] yaml::Error),
    /// A template is invalid.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl Settings {
    /// The preset with this name.
    pub fn preset(name: &str) -> Option<Settings> {
        let (_, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
        Some(serde_yaml::from_str(text).expect("each preset was read in a test"))
    }

    /// Reads a settings file.
    ///
    /// # Errors
    /// When the file is invalid. The error names file, line and key.
    pub fn read(path: &Utf8Path) -> Result<Settings, SettingsError> {
        let mut settings: Settings = yaml::read(path)?;
        if let (Some(templates), Some(folder)) = (&mut settings.templates, path.parent()) {
            *templates = folder.join(&*templates);
        }
        Ok(settings)
    }
}

impl ModelSettings {
    /// The rate limits.
    pub fn pace(&self) -> Pace {
        Pace {
            per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            at_once: self.requests_at_once,
        }
    }

    /// These settings, with those of `others` where these are absent.
    #[must_use]
    pub fn or(self, others: &ModelSettings) -> ModelSettings {
        let others = others.clone();
        let sampling = self.sampling().or(others.sampling());
        let mut headers = others.headers;
        headers.extend(self.headers);
        ModelSettings {
            name: self.name.or(others.name),
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            max_tokens: sampling.max_tokens,
            extra: sampling.extra,
            max_prompt_tokens: self.max_prompt_tokens.or(others.max_prompt_tokens),
            price: self.price.or(others.price),
            base_url: self.base_url.or(others.base_url),
            key_variable: self.key_variable.or(others.key_variable),
            key_header: self.key_header.or(others.key_header),
            headers,
            request_timeout: self.request_timeout.or(others.request_timeout),
            requests_per_minute: self.requests_per_minute.or(others.requests_per_minute),
            tokens_per_minute: self.tokens_per_minute.or(others.tokens_per_minute),
            requests_at_once: self.requests_at_once.or(others.requests_at_once),
        }
    }

    /// Reads a file with only model settings.
    ///
    /// # Errors
    /// When the file is invalid. The error names file, line and key.
    pub fn read(path: &Utf8Path) -> Result<ModelSettings, SettingsError> {
        Ok(yaml::read(path)?)
    }

    /// The sampling settings.
    pub fn sampling(&self) -> Sampling {
        let ModelSettings { temperature, top_p, max_tokens, extra, .. } = self;
        Sampling {
            temperature: *temperature,
            top_p: *top_p,
            max_tokens: *max_tokens,
            extra: extra.clone(),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_read_and_says_what_it_follows() {
        for (name, text) in PRESETS {
            let settings: Settings =
                serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(Settings::preset(name), Some(settings));
            assert!(text.starts_with("# "), "{name}");
        }
        assert_eq!(Settings::preset("nobody"), None);
    }

    #[test]
    fn a_key_that_nobody_knows_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().join("mine.yaml")).unwrap();
        std::fs::write(&path, "agent:\n  webarena: {reasoning: true, hints: 3}\n").unwrap();
        let error = Settings::read(&path).unwrap_err().to_string();
        assert!(error.contains("mine.yaml") && error.contains("hints"), "{error}");
        std::fs::write(&path, "agent:\n  webarena: {reasoning: true}\ntemplates: words\n").unwrap();
        assert_eq!(
            Settings::read(&path).unwrap().templates,
            Some(path.parent().unwrap().join("words"))
        );
    }
}
