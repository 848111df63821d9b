//! What decides the score of a task, as its file says it.

use camino::Utf8Path;
use python_compat::soup::SelectorError;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::assessment::{Part, Tracked};
use crate::assistantbench::GoldAnswer;
use crate::mind2web_live::{self, KeyNode, KeyNodes};
use crate::plain::{
    AnswerRule, Infeasible, PageCheck, Pattern, ProgramCheck, StateCheck, Texts, UrlCheck,
};
use crate::{
    Assessment, Needs, turkingbench, visualwebarena, warcbench, webarena, webarena_verified,
    workarena,
};

/// What decides the score of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scorer {
    /// AssistantBench: the final answer against a gold text, number, object or list.
    #[serde(rename = "assistantbench")]
    AssistantBench {
        /// As in the benchmark's `answer`: a list is one item a line, an object is JSON.
        gold: String,
    },
    /// Mind2Web-Live: key nodes to be reached in any order.
    #[serde(rename = "mind2web_live")]
    Mind2WebLive {
        /// What must have been reached; at least one.
        #[serde(deserialize_with = "mind2web_live::read_nodes")]
        nodes: Vec<KeyNode>,
    },
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
    Equals(Texts),
    /// Our own: the answer has this text in it, or each of these.
    Contains(Texts),
    /// Our own: the answer matches this regular expression somewhere.
    Matches(Pattern),
    /// Our own: the address of the page that the episode ends on.
    Url(UrlCheck),
    /// Our own: a program decides, such as a benchmark's own verifier.
    Program(ProgramCheck),
    /// Our own: what a site's state is in the end.
    State(StateCheck),
    /// Our own: what the page says of itself.
    Page(PageCheck),
    /// Our own: the goal cannot be reached, and the agent says so.
    Infeasible {},
    /// Our own: all of these, at least one. The score is the product of theirs.
    All(#[serde(deserialize_with = "read_parts")] Vec<Scorer>),
}

/// What a scorer cannot do without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Requirement<'a> {
    /// A program, and the files of the suite that its command names.
    Program(&'a ProgramCheck),
    /// A probe of a site.
    Probe(&'a StateCheck),
}

impl<'a> Requirement<'a> {
    /// The program, where it is one.
    pub fn program(self) -> Option<&'a ProgramCheck> {
        match self {
            Requirement::Program(program) => Some(program),
            Requirement::Probe(_) => None,
        }
    }

    /// The probe, where it is one.
    pub fn probe(self) -> Option<&'a StateCheck> {
        match self {
            Requirement::Program(_) => None,
            Requirement::Probe(probe) => Some(probe),
        }
    }
}

impl Scorer {
    /// Begins to score an episode, by the published rules with their bugs.
    pub fn start(&self) -> Assessment {
        Assessment::new(match self {
            Scorer::AssistantBench { gold } => {
                Part::AssistantBench(Tracked::new(GoldAnswer(gold.clone())))
            }
            Scorer::Mind2WebLive { nodes } => {
                Part::Mind2WebLive(Tracked::new(KeyNodes(nodes.clone())))
            }
            Scorer::WebArena(evaluation) => Part::WebArena(Tracked::new(evaluation.clone())),
            Scorer::WebArenaVerified(task) => Part::WebArenaVerified(Tracked::new(task.clone())),
            Scorer::VisualWebArena(evaluation) => {
                Part::VisualWebArena(Tracked::new(evaluation.clone()))
            }
            Scorer::WorkArena(config) => Part::WorkArena(Tracked::new(config.clone())),
            Scorer::TurkingBench(form) => Part::TurkingBench(Tracked::new(form.clone())),
            Scorer::WarcBench(check) => Part::WarcBench(Tracked::new(check.clone())),
            Scorer::Equals(texts) => Part::Answer(Tracked::new(AnswerRule::Equals(texts.clone()))),
            Scorer::Contains(texts) => {
                Part::Answer(Tracked::new(AnswerRule::Contains(texts.clone())))
            }
            Scorer::Matches(pattern) => {
                Part::Answer(Tracked::new(AnswerRule::Matches(pattern.clone())))
            }
            Scorer::Url(check) => Part::Url(Tracked::new(check.clone())),
            Scorer::Program(check) => Part::Program(Tracked::new(check.clone())),
            Scorer::State(check) => Part::State(Tracked::new(check.clone())),
            Scorer::Page(check) => Part::Page(Tracked::new(check.clone())),
            Scorer::Infeasible {} => Part::Infeasible(Tracked::new(Infeasible)),
            Scorer::All(parts) => Part::All(parts.iter().map(Scorer::start).collect()),
        })
    }

    /// Takes up an [`Assessment`] as it was written.
    ///
    /// # Errors
    /// When it was not written so.
    pub fn restore(&self, saved: &Value) -> Result<Assessment, serde_json::Error> {
        self.start().restore(saved)
    }

    /// What has to be kept of an episode.
    pub fn needs(&self) -> Needs {
        self.start().needs()
    }

    /// What has to be there before an episode can begin.
    pub fn requirements(&self) -> Vec<Requirement<'_>> {
        match self {
            Scorer::Program(check) => vec![Requirement::Program(check)],
            Scorer::State(check) => vec![Requirement::Probe(check)],
            Scorer::All(parts) => parts.iter().flat_map(Scorer::requirements).collect(),
            Scorer::AssistantBench { .. }
            | Scorer::Mind2WebLive { .. }
            | Scorer::WebArena(_)
            | Scorer::WebArenaVerified(_)
            | Scorer::VisualWebArena(_)
            | Scorer::WorkArena(_)
            | Scorer::TurkingBench(_)
            | Scorer::WarcBench(_)
            | Scorer::Equals(_)
            | Scorer::Contains(_)
            | Scorer::Matches(_)
            | Scorer::Url(_)
            | Scorer::Page(_)
            | Scorer::Infeasible {} => Vec::new(),
        }
    }

    /// Why one of its selectors can never be followed here, if there is such a one.
    pub fn unsupported_selector(&self) -> Option<SelectorError> {
        match self {
            Scorer::Mind2WebLive { nodes } => nodes.iter().find_map(KeyNode::unsupported_selector),
            Scorer::All(parts) => parts.iter().find_map(Scorer::unsupported_selector),
            _ => None,
        }
    }

    /// Resolves what is relative against the folder of the suite.
    pub fn resolve(&mut self, folder: &Utf8Path) {
        match self {
            Scorer::Program(check) => check.resolve(folder),
            Scorer::All(parts) => parts.iter_mut().for_each(|part| part.resolve(folder)),
            Scorer::AssistantBench { .. }
            | Scorer::Mind2WebLive { .. }
            | Scorer::WebArena(_)
            | Scorer::WebArenaVerified(_)
            | Scorer::VisualWebArena(_)
            | Scorer::WorkArena(_)
            | Scorer::TurkingBench(_)
            | Scorer::WarcBench(_)
            | Scorer::Equals(_)
            | Scorer::Contains(_)
            | Scorer::Matches(_)
            | Scorer::Url(_)
            | Scorer::State(_)
            | Scorer::Page(_)
            | Scorer::Infeasible {} => {}
        }
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
