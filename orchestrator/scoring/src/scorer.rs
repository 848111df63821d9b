//! The scorer of a task, as its file names it, and the table of all rules.

use camino::Utf8Path;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::assessment::Tracked;
use crate::evidence::ProgramCheck;
use crate::plain::{PageCheck, StateCheck, UrlCheck};
use crate::rule::{Requirement, Rule as _};
use crate::scorer_table::scorers;
use crate::{
    Assessment, Needs, assistantbench, mind2web_live, plain, turkingbench, visualwebarena,
    warcbench, webarena, webarena_verified, workarena,
};

// One entry a rule: what the schema of task files says of it, its key there, its type. For the
// schema, a benchmark's own JSON is any object; what is wrong with it, its type says on reading.
scorers! { $
    /// AssistantBench: the final answer against a gold text, number, object or list.
    #[serde(rename = "assistantbench")]
    AssistantBench(assistantbench::GoldAnswer),
    /// Mind2Web-Live: key nodes to be reached in any order.
    #[serde(rename = "mind2web_live")]
    Mind2WebLive(mind2web_live::KeyNodes),
    /// WebArena: a task's `eval`.
    #[serde(rename = "webarena")]
    WebArena(#[schemars(with = "Map<String, Value>")] webarena::Evaluation),
    /// WebArena-Verified: a task of its dataset, by what the agent answers and what passed over the
    /// network.
    #[serde(rename = "webarena_verified")]
    WebArenaVerified(#[schemars(with = "Map<String, Value>")] webarena_verified::VerifiedTask),
    /// VisualWebArena: a task's `eval`.
    #[serde(rename = "visualwebarena")]
    VisualWebArena(#[schemars(with = "Map<String, Value>")] visualwebarena::Evaluation),
    /// WorkArena: a task of its first level.
    #[serde(rename = "workarena")]
    WorkArena(#[schemars(with = "Map<String, Value>")] workarena::Config),
    /// TurkingBench: what the fields of a form hold in the end.
    #[serde(rename = "turkingbench")]
    TurkingBench(#[schemars(with = "Map<String, Value>")] turkingbench::Form),
    /// WARC-Bench: one of its four evaluators.
    #[serde(rename = "warcbench")]
    WarcBench(warcbench::Check),
    /// Our own: the answer is this text, or one of these.
    Equals(#[schemars(with = "plain::Texts")] plain::Equals),
    /// Our own: the answer has this text in it, or each of these.
    Contains(#[schemars(with = "plain::Texts")] plain::Contains),
    /// Our own: the answer matches this regular expression somewhere.
    Matches(#[schemars(with = "plain::Pattern")] plain::Matches),
    /// Our own: the address of the page that the episode ends on.
    Url(UrlCheck),
    /// Our own: a program decides, such as a benchmark's own verifier.
    Program(ProgramCheck),
    /// Our own: what a site's state is in the end.
    State(StateCheck),
    /// Our own: what the page says of itself.
    Page(PageCheck),
    /// Our own: the goal cannot be reached, and the agent says so.
    Infeasible(plain::Infeasible),
}

impl Scorer {
    /// Begins to score an episode, by the published rules with their bugs.
    pub fn start(&self) -> Assessment {
        Assessment::new(self.part())
    }

    /// Takes up an [`Assessment`] as it was written.
    ///
    /// # Errors
    /// When it was not written so.
    pub fn restore(&self, saved: &Value) -> Result<Assessment, serde_json::Error> {
        self.start().restore(saved)
    }

    /// Returns which parts of an episode must be kept.
    pub fn needs(&self) -> Needs {
        self.start().needs()
    }

    /// Returns everything that must be there before an episode can begin.
    pub fn requirements(&self) -> Vec<Requirement<'_>> {
        with_rule!(Scorer, self, rule => rule.requirements(), parts => {
            parts.iter().flat_map(Scorer::requirements).collect()
        })
    }

    /// Resolves what is relative against the folder of the suite.
    pub fn resolve(&mut self, folder: &Utf8Path) {
        with_rule!(Scorer, self, rule => rule.resolve(folder), parts => {
            parts.iter_mut().for_each(|part| part.resolve(folder));
        });
    }

    /// Returns the claims of the open page that it believes, and that a script can change.
    pub fn forgeable(&self) -> Vec<&'static str> {
        with_rule!(Scorer, self, rule => rule.forgeable(), parts => {
            parts.iter().flat_map(Scorer::forgeable).collect()
        })
    }

    /// Its key nodes as JSON, for agents that are told them. Empty if the scorer has none, or is
    /// `all`.
    pub fn node_texts(&self) -> Vec<String> {
        with_rule!(Scorer, self, rule => rule.node_texts(), _ => Vec::new())
    }
}

fn read_parts<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Scorer>, D::Error> {
    let parts = Vec::<Scorer>::deserialize(input)?;
    if parts.is_empty() {
        Err(serde::de::Error::custom("`all` needs at least one scorer"))
    } else {
        Ok(parts)
    }
}
