//! Which agent, what its paper sets, and how its model is asked: one YAML file, or a preset.

use camino::{Utf8Path, Utf8PathBuf};
use models::{Pace, Price, Sampling};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::template::TemplateError;
use super::{closed_book, form, generic, react, retrieval, see_act, webarena};

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

/// A whole agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Which agent, and its own settings.
    #[serde(with = "serde_yaml::with::singleton_map")]
    pub agent: AgentSettings,
    /// How its model is asked.
    #[serde(default)]
    pub model: ModelSettings,
    /// A folder with templates that stand in the place of the built-in ones of the same name; beside the file where it is relative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<Utf8PathBuf>,
}

/// The kinds of agents that ask a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentSettings {
    /// WebArena's, which acts at once or reasons first.
    #[serde(rename = "webarena")]
    WebArena(webarena::Settings),
    /// WebCanvas's, with memory and reward.
    React(react::Settings),
    /// SeeAct's and SeePlanAct's, in two stages.
    SeeAct(see_act::Settings),
    /// WorkArena's, which is told of mistakes in its replies.
    Generic(generic::Settings),
    /// TurkingBench's, field by field.
    Form(form::Settings),
    /// AssistantBench's, without the web.
    ClosedBook(closed_book::Settings),
    /// AssistantBench's, with a search engine alone.
    Retrieval(retrieval::Settings),
}

impl AgentSettings {
    /// The names of the prompts that it fills in.
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
}

/// How a model is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Its name at its server; `--model` goes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// From 0, the likeliest words, to 2; left to the server when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Words are chosen among the likeliest that together have this share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// How many tokens a reply may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// How many tokens of words a prompt may have; the page is cut where it has more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_prompt_tokens: Option<usize>,
    /// What else its server is told, key by key.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// What its tokens cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Where its server is; `OPENAI_BASE_URL` or OpenAI's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The variable of the environment that has its key; `OPENAI_API_KEY` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// The header that has the key as it is, such as `api-key`; without it the key is a bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_header: Option<String>,
    /// What else stands in the head of each request; `$NAME` is a variable of the environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// How long its server may take for one reply, in seconds; as long as the agent may take when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_timeout: Option<NonZeroU32>,
    /// How often its server may be asked in a minute, by all workers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<NonZeroU32>,
    /// How many tokens its server may be given and may give in a minute, with all workers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<NonZeroU32>,
    /// How many requests its server may be busy with at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_at_once: Option<NonZeroU32>,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is none of settings.
    #[error("read the settings of an agent: {0}")]
    File(#[from] yaml::Error),
    /// A template is none.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl Settings {
    /// The preset of this name.
    pub fn preset(name: &str) -> Option<Settings> {
        let (_, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
        Some(serde_yaml::from_str(text).expect("each preset was read in a test"))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// With file, line and key where it is not understood.
    pub fn read(path: &Utf8Path) -> Result<Settings, SettingsError> {
        let mut settings: Settings = yaml::read(path)?;
        if let (Some(templates), Some(folder)) = (&mut settings.templates, path.parent()) {
            *templates = folder.join(&*templates);
        }
        Ok(settings)
    }
}

impl ModelSettings {
    /// How fast its server may be asked.
    pub fn pace(&self) -> Pace {
        Pace {
            per_minute: self.requests_per_minute,
            tokens_per_minute: self.tokens_per_minute,
            at_once: self.requests_at_once,
        }
    }

    /// These where they say something, and otherwise the others.
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

    /// Reads a file of these alone.
    ///
    /// # Errors
    /// With file, line and key where it is not understood.
    pub fn read(path: &Utf8Path) -> Result<ModelSettings, SettingsError> {
        Ok(yaml::read(path)?)
    }

    /// How its words are chosen.
    pub fn sampling(&self) -> Sampling {
        let ModelSettings { temperature, top_p, max_tokens, extra, .. } = self;
        Sampling { temperature: *temperature, top_p: *top_p, max_tokens: *max_tokens, extra: extra.clone() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_read_and_says_what_it_follows() {
        for (name, text) in PRESETS {
            let settings: Settings = serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"));
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
        assert_eq!(Settings::read(&path).unwrap().templates, Some(path.parent().unwrap().join("words")));
    }
}
