//! Vectors of WebArena's and VisualWebArena's scorers. Inputs of types that the scorers do not take
//! are part of them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::mode::ScoringMode;
use crate::{ScoreError, visualwebarena, webarena};

const ATTRIBUTE_ERROR: ScoreError = ScoreError::Raised("AttributeError");
const TYPE_ERROR: ScoreError = ScoreError::Raised("TypeError");

#[derive(Deserialize)]
pub(super) struct AnswerInputs {
    reference_answers: Value,
    prediction: Value,
}

#[derive(Deserialize)]
pub(super) struct UrlInputs {
    reference_url: Value,
    #[serde(default, deserialize_with = "read_note")]
    url_note: Option<Value>,
    url: String,
}

#[derive(Deserialize)]
pub(super) struct ContentInputs {
    required_contents: Value,
    content: Value,
}

/// Files of pictures in Base64.
#[derive(Deserialize)]
pub(super) struct PictureInputs {
    #[serde(deserialize_with = "read_base64")]
    one: Vec<u8>,
    #[serde(deserialize_with = "read_base64")]
    other: Vec<u8>,
}

fn read_base64<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u8>, D::Error> {
    STANDARD.decode(String::deserialize(input)?).map_err(serde::de::Error::custom)
}

/// A note of `null` is a note.
fn read_note<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(input).map(Some)
}

impl AnswerInputs {
    pub(super) fn webarena(self) -> Result<f64, ScoreError> {
        let (references, answer) = self.read()?;
        webarena::StringMatch(references)
            .score(&answer, "", ScoringMode::Faithful)?
            .score(&[], ScoringMode::Faithful)
    }

    pub(super) fn visualwebarena(self) -> Result<f64, ScoreError> {
        let (references, answer) = self.read()?;
        visualwebarena::StringMatch(references)
            .score(&answer, "")?
            .score(&[], ScoringMode::Faithful)
    }

    /// The answer is cleaned before the references are gone through.
    fn read(self) -> Result<(Map<String, Value>, String), ScoreError> {
        match (self.prediction, self.reference_answers) {
            (Value::String(answer), Value::Object(references)) => Ok((references, answer)),
            (Value::String(_), _) => Err(ATTRIBUTE_ERROR),
            _ => Err(ScoreError::Raised("BeartypeCallHintParamViolation")),
        }
    }
}

impl UrlInputs {
    pub(super) fn webarena(self) -> Result<f64, ScoreError> {
        let (rule, url) = self.read()?;
        rule.score(&url, ScoringMode::Faithful)
    }

    pub(super) fn visualwebarena(self) -> Result<f64, ScoreError> {
        let (rule, url) = self.read()?;
        visualwebarena::UrlMatch(rule).score(&url)
    }

    fn read(self) -> Result<(webarena::UrlMatch, String), ScoreError> {
        let Value::String(reference_url) = self.reference_url else { return Err(ATTRIBUTE_ERROR) };
        let url_note = self.url_note.map(|note| match note {
            Value::String(note) => note,
            // No text that is a rule.
            other => other.to_string(),
        });
        Ok((webarena::UrlMatch { reference_url, url_note }, self.url))
    }
}

impl PictureInputs {
    pub(super) fn visualwebarena(&self) -> Result<f64, ScoreError> {
        visualwebarena::image_ssim(&self.one, &self.other)
    }
}

impl ContentInputs {
    pub(super) fn webarena(self) -> Result<f64, ScoreError> {
        let Value::String(content) = self.content else { return Err(TYPE_ERROR) };
        match self.required_contents {
            Value::Object(contents) => webarena::RequiredContents(contents).score(&content),
            // `in` looks for the key there, too; then the key is used, or the keys are asked for.
            Value::String(text)
                if !["exact_match", "must_include"].iter().any(|key| text.contains(key)) =>
            {
                Err(ATTRIBUTE_ERROR)
            }
            Value::Array(list)
                if !list.iter().any(|item| item == "exact_match" || item == "must_include") =>
            {
                Err(ATTRIBUTE_ERROR)
            }
            _ => Err(TYPE_ERROR),
        }
    }
}
