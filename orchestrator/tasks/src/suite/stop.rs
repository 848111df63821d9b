//! The rules by which an agent that gets nowhere is stopped.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules of `early_stop` in `run.py` of WebArena and VisualWebArena; none of them applies
/// unless it is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRules {
    /// After so many equal actions one after the other; of an action that types, after so many in
    /// the whole episode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<NonZeroU32>,
    /// After so many replies one after the other that hold no action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<NonZeroU32>,
}

impl StopRules {
    pub(super) fn is_never(&self) -> bool {
        *self == StopRules::default()
    }
}
