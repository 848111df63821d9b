//! The editions of WebArena's evaluators: its own, and those of benchmarks that were made of it.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// The benchmark whose evaluators score a task in WebArena's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edition {
    /// `evaluation_harness/evaluators.py` of web-arena-x/webarena.
    #[default]
    WebArena,
    /// Those of WebArena-Lite, which ask a judge about contents of pages, too.
    Lite,
    /// `BrowserGym/evaluation_harness/evaluators.py` of WebChoreArena/WebChoreArena.
    WebChore,
}

impl Edition {
    /// Not written down, as it is the usual one.
    pub fn is_webarena(&self) -> bool {
        *self == Edition::WebArena
    }
}

/// A name, or the truth of `lite: true`.
pub(super) fn read_edition<'de, D: Deserializer<'de>>(input: D) -> Result<Edition, D::Error> {
    input.deserialize_any(Reader)
}

struct Reader;

impl Visitor<'_> for Reader {
    type Value = Edition;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("`webarena`, `lite` or `webchore`")
    }

    fn visit_bool<E: Error>(self, lite: bool) -> Result<Edition, E> {
        Ok(if lite { Edition::Lite } else { Edition::WebArena })
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Edition, E> {
        match name {
            "webarena" => Ok(Edition::WebArena),
            "lite" => Ok(Edition::Lite),
            "webchore" => Ok(Edition::WebChore),
            other => Err(E::custom(format!("`{other}` is not `webarena`, `lite` or `webchore`"))),
        }
    }
}
