//! A scorer at work on one episode: its rules with their states.

use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde::ser::{self, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::evidence::PageEvidence;
use crate::judge::{Judge, Judgement, Question, ask};
use crate::scorer::{Part, with_rule};
use crate::{
    AgentRecord, Evidence, EvidenceKind, Moment, Needs, Rule, Score, ScoreError, ScoringMode, Step,
};

/// The scoring of one episode, from its first step to its score.
///
/// It is written as one JSON object, which [`Scorer::restore`](crate::Scorer::restore) reads: what
/// an episode was worth can be told again without it.
#[derive(Debug, Clone)]
pub struct Assessment {
    conduct: AgentRecord,
    part: Part,
}

/// A rule and what it remembers of an episode.
#[derive(Debug, Clone)]
pub(crate) struct Tracked<R: Rule> {
    rule: R,
    state: R::State,
}

impl<R: Rule> Tracked<R> {
    pub(crate) fn new(rule: R) -> Tracked<R> {
        Tracked { state: rule.start(), rule }
    }

    fn source(&self) -> EvidenceKind {
        R::SOURCE
    }
}

impl Assessment {
    pub(crate) fn new(part: Part) -> Assessment {
        Assessment { conduct: AgentRecord::default(), part }
    }

    /// The same, in this mode.
    #[must_use]
    pub fn by(mut self, mode: ScoringMode) -> Assessment {
        self.conduct.mode = mode;
        if let Part::All(parts) = self.part {
            self.part = Part::All(parts.into_iter().map(|part| part.by(mode)).collect());
        }
        self
    }

    /// Returns the agent's conduct, as far as all rules look at it.
    pub fn conduct(&self) -> &AgentRecord {
        &self.conduct
    }

    /// Returns which parts of an episode must be kept for the score.
    pub fn needs(&self) -> Needs {
        with_rule!(Part, &self.part, one => one.rule.needs(), parts => {
            parts.iter().fold(Needs::default(), |needs, part| needs.or(part.needs()))
        })
    }

    /// Takes one step into account. Scores never fall; of several answers the last counts.
    pub fn observe(&mut self, step: &Step<'_>) {
        if let Some(answer) = step.answer {
            self.conduct.answer = Some(answer.to_owned());
        }
        self.conduct.infeasible |= step.infeasible;
        with_rule!(Part, &mut self.part, one => one.rule.observe(&mut one.state, step), parts => {
            parts.iter_mut().for_each(|part| part.observe(step));
        });
    }

    /// Reads what the score depends on, as far as it is there at this moment. Says whether the
    /// episode is over by it.
    ///
    /// # Errors
    /// When the world gives no evidence any more.
    pub async fn collect<E: Evidence>(
        &mut self,
        moment: Moment,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        let mut over = false;
        for Assessment { conduct, part } in self.in_order(moment) {
            over |= with_rule!(Part, part, one => {
                one.rule.collect(&mut one.state, moment, conduct, evidence).await?
            }, _ => false);
        }
        Ok(over)
    }

    /// Its rules; at the end by what they read.
    fn in_order(&mut self, moment: Moment) -> Vec<&mut Assessment> {
        let mut leaves = Vec::new();
        self.add_leaves(&mut leaves);
        if moment == Moment::End {
            leaves.sort_by_key(
                |leaf| with_rule!(Part, &leaf.part, one => one.source(), _ => EvidenceKind::Steps),
            );
        }
        leaves
    }

    fn add_leaves<'a>(&'a mut self, leaves: &mut Vec<&'a mut Assessment>) {
        if matches!(self.part, Part::All(_)) {
            let Part::All(parts) = &mut self.part else { return };
            parts.iter_mut().for_each(|part| part.add_leaves(leaves));
        } else {
            leaves.push(self);
        }
    }

    /// Takes pages as somebody else has read them.
    pub fn accept_pages(&mut self, pages: &PageEvidence) {
        with_rule!(Part, &mut self.part, one => {
            one.rule.accept_pages(&mut one.state, pages);
        }, parts => {
            parts.iter_mut().for_each(|part| part.accept_pages(pages));
        });
    }

    /// Returns the questions that a judge must answer before there is a score, once all evidence is
    /// collected. Empty where no answer would change the score.
    pub fn questions(&self) -> Vec<Question> {
        if self.score() != Err(ScoreError::NeedsJudge) {
            return Vec::new();
        }
        with_rule!(Part, &self.part, one => {
            one.rule.questions(&one.state, &self.conduct)
        }, parts => {
            parts.iter().flat_map(Assessment::questions).collect()
        })
    }

    /// Takes what a judge has ruled.
    pub fn accept(&mut self, judgement: &Judgement) {
        if !self.conduct.judgements.contains(judgement) {
            self.conduct.judgements.push(judgement.clone());
        }
        if let Part::All(parts) = &mut self.part {
            parts.iter_mut().for_each(|part| part.accept(judgement));
        }
    }

    /// Has a judge rule on all that the score waits for, in an episode with this goal.
    ///
    /// # Errors
    /// When the judge does not reply; what it ruled before counts.
    pub async fn consult<J: Judge + Sync>(
        &mut self,
        judge: &J,
        goal: &str,
    ) -> Result<(), J::Error> {
        for question in self.questions() {
            let judgement = ask(judge, goal, &question).await?;
            self.accept(&judgement);
        }
        Ok(())
    }

    /// Returns the score before the episode has ended. None where it depends on evidence of the
    /// end, or on a judge.
    pub fn so_far(&self) -> Option<f64> {
        self.is_complete().then(|| self.score().ok()).flatten().map(|score| score.value)
    }

    fn is_complete(&self) -> bool {
        with_rule!(Part, &self.part, one => one.rule.is_complete(&one.state), parts => {
            parts.iter().all(Assessment::is_complete)
        })
    }

    /// How far each key node has been reached, those of all parts in their order; none where there
    /// are no key nodes.
    pub fn key_nodes(&self) -> Vec<f64> {
        with_rule!(Part, &self.part, one => one.rule.key_nodes(&one.state), parts => {
            parts.iter().flat_map(Assessment::key_nodes).collect()
        })
    }

    /// The score as it stands.
    ///
    /// # Errors
    /// Where the published code raises an exception or gives no finite number; the benchmark then
    /// has no score. And where a judge has to decide who has not.
    pub fn score(&self) -> Result<Score, ScoreError> {
        with_rule!(Part, &self.part, one => {
            one.rule.score(&one.state, &self.conduct)
        }, parts => product(parts))
    }

    /// Takes up what was written of an episode.
    pub(crate) fn restore(mut self, saved: &Value) -> Result<Assessment, serde_json::Error> {
        self.conduct = AgentRecord::deserialize(saved)?;
        with_rule!(Part, &mut self.part, one => one.state = read(saved)?, parts => {
            let states = saved.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            // What was not written by these parts says at least what the agent did.
            let states = states.iter().chain(std::iter::repeat(saved));
            let restored = parts.drain(..).zip(states).map(|(part, state)| part.restore(state));
            *parts = restored.collect::<Result<_, _>>()?;
        });
        Ok(self)
    }

    /// As it is written: what all rules look at, and beside it what this one remembers.
    fn to_map(&self) -> Result<Map<String, Value>, serde_json::Error> {
        let AgentRecord { mode, answer, infeasible, judgements } = &self.conduct;
        let mut map = Map::new();
        if !mode.is_faithful() {
            map.insert("rules".to_owned(), serde_json::to_value(mode)?);
        }
        // Earlier versions read none without it.
        map.insert("nodes".to_owned(), Value::Array(Vec::new()));
        map.insert("answer".to_owned(), serde_json::to_value(answer)?);
        map.insert("infeasible".to_owned(), Value::Bool(*infeasible));
        if !judgements.is_empty() {
            map.insert("judgements".to_owned(), serde_json::to_value(judgements)?);
        }
        match with_rule!(Part, &self.part, one => serde_json::to_value(&one.state)?, parts => {
            let parts = parts.iter().map(|part| part.to_map().map(Value::Object));
            let parts = Value::Array(parts.collect::<Result<_, _>>()?);
            Value::Object(Map::from_iter([("parts".to_owned(), parts)]))
        }) {
            Value::Object(fields) => map.extend(fields),
            other => return Err(ser::Error::custom(format!("the state {other} has no fields"))),
        }
        Ok(map)
    }
}

impl Serialize for Assessment {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        self.to_map().map_err(ser::Error::custom)?.serialize(output)
    }
}

fn read<T: DeserializeOwned>(saved: &Value) -> Result<T, serde_json::Error> {
    T::deserialize(saved)
}

/// The score of several parts: the product of theirs.
fn product(parts: &[Assessment]) -> Result<Score, ScoreError> {
    let mut all = Score::of(true, Vec::new());
    let mut unjudged = false;
    for part in parts {
        let score = match part.score() {
            Err(ScoreError::NeedsJudge) => {
                unjudged = true;
                continue;
            }
            score => score?,
        };
        all.value *= score.value;
        all.success &= score.success;
        all.answered = all.answered.or(score.answered);
        all.wrong.extend(score.wrong);
    }
    // Whatever a judge says, nothing comes of a part that gave nothing.
    if unjudged && all.value > 0.0 { Err(ScoreError::NeedsJudge) } else { Ok(all) }
}
