//! The trait [`Rule`], which every benchmark implements. Its calls come in this order:
//!
//! ```text
//! start -> collect(Start) -> (observe, collect(Settled)) for each action
//!       -> collect(End) -> questions -> score
//! ```
//!
//! A rule keeps nothing of an episode itself: that is its [`State`](Rule::State). What all rules
//! look at of an agent's conduct is [`AgentRecord`].

use std::future::Future;

use camino::Utf8Path;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::evidence::{Evidence, PageEvidence, ProbeQuestion, ProgramCheck};
use crate::judge::{Judgement, Question};
use crate::mode::ScoringMode;
use crate::{Score, ScoreError, Step};

/// A published rule, or one of ours, as a task has it.
pub trait Rule: Sync {
    /// The state that the rule keeps of an episode. On disk its fields stand beside those of
    /// [`AgentRecord`].
    type State: Clone + Default + Send + Serialize + DeserializeOwned;

    /// The evidence that it reads once the agent has ended.
    const SOURCE: EvidenceKind;

    /// The state of an episode that has not begun.
    fn start(&self) -> Self::State {
        Self::State::default()
    }

    /// Returns everything that must be there before an episode can begin. Consent, digests and
    /// packs go by it, and an episode gives no evidence of a program or a probe that is not among
    /// it.
    fn requirements(&self) -> Vec<Requirement<'_>> {
        Vec::new()
    }

    /// Resolves what is relative against the folder of the suite.
    fn resolve(&mut self, _folder: &Utf8Path) {}

    /// Returns the names of claims that the open page makes about itself or its address, which a
    /// script can change, and which the rule believes. Results warn under these names. Empty if no
    /// page can forge the score. It has no default, because a rule that forgot it would be trusted
    /// in silence.
    fn forgeable(&self) -> Vec<&'static str>;

    /// Its key nodes as JSON, for agents that are told them; none where there are no key nodes.
    fn node_texts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns which parts of an episode must be kept for it.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Takes one step into account.
    fn observe(&self, _state: &mut Self::State, _step: &Step<'_>) {}

    /// Reads what the score depends on, as far as it is there at this moment. Says whether the
    /// episode is over by it.
    fn collect<E: Evidence>(
        &self,
        _state: &mut Self::State,
        _moment: Moment,
        _conduct: &AgentRecord,
        _evidence: &mut E,
    ) -> impl Future<Output = Result<bool, E::Error>> + Send {
        std::future::ready(Ok(false))
    }

    /// Takes pages as somebody else has read them, in the place of the end's
    /// [`collect`](Self::collect).
    fn accept_pages(&self, _state: &mut Self::State, _pages: &PageEvidence) {}

    /// Whether all evidence is there that the score needs, except a judge's.
    fn is_complete(&self, state: &Self::State) -> bool;

    /// Returns the questions that a judge must answer before there is a score.
    fn questions(&self, _state: &Self::State, _conduct: &AgentRecord) -> Vec<Question> {
        Vec::new()
    }

    /// How far each key node has been reached; none where there are no key nodes.
    fn key_nodes(&self, _state: &Self::State) -> Vec<f64> {
        Vec::new()
    }

    /// The score as it stands.
    ///
    /// # Errors
    /// If the published code raises an exception or gives no finite number (the benchmark then has
    /// no score), or if a judge has not decided yet.
    fn score(&self, state: &Self::State, conduct: &AgentRecord) -> Result<Score, ScoreError>;
}

/// A requirement of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Requirement<'a> {
    /// A program, and the files of the suite that its command names.
    Program(&'a ProgramCheck),
    /// A probe of a site.
    Probe(ProbeQuestion<'a>),
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
    pub fn probe(self) -> Option<ProbeQuestion<'a>> {
        match self {
            Requirement::Program(_) => None,
            Requirement::Probe(probe) => Some(probe),
        }
    }
}

/// When evidence is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The start page has come to rest, and nothing has been done.
    Start,
    /// The page has come to rest: at the beginning, and after each action.
    Settled,
    /// The agent has ended.
    End,
}

/// The evidence that a rule reads once the agent has ended. The parts of `all` are read in this
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvidenceKind {
    /// Nothing more: the answer and the steps suffice.
    Steps,
    /// The traffic of the network.
    Traffic,
    /// Pages, and the servers behind them.
    Pages,
    /// The fields of a form.
    Form,
    /// A probe of a site.
    Site,
    Program,
    /// The tables of a ServiceNow instance.
    ServiceNow,
}

/// The parts of an episode that must be kept for its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    /// Steps in which an element is acted on carry the page's HTML.
    pub html: bool,
    /// All that passes over the network, until the agent has ended.
    pub traffic: bool,
}

impl Needs {
    /// Returns the parts that either of the two needs.
    #[must_use]
    pub fn or(self, other: Needs) -> Needs {
        Needs { html: self.html || other.html, traffic: self.traffic || other.traffic }
    }
}

/// The agent's conduct, as far as all rules look at it, and the rulings on it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Whether published bugs are reproduced.
    #[serde(default, rename = "rules")]
    pub mode: ScoringMode,
    /// The last answer given.
    #[serde(default)]
    pub answer: Option<String>,
    /// The agent has said that the goal cannot be reached.
    #[serde(default)]
    pub infeasible: bool,
    /// The rulings of a judge.
    #[serde(default)]
    pub judgements: Vec<Judgement>,
}

impl AgentRecord {
    /// The answer in WebArena's words: who says that it cannot be done says `stop [N/A]` there.
    pub(crate) fn stop_answer(&self) -> &str {
        self.answer.as_deref().or(self.infeasible.then_some("N/A")).unwrap_or_default()
    }
}

/// The state of a rule that looks at nothing but [`AgentRecord`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NoState {}
