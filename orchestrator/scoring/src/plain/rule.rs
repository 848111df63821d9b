//! The plain rules as implementations of `Rule`: their states, their evidence and their scores.

use camino::Utf8Path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{PageCheck, Pattern, StateCheck, Texts, UrlCheck, Verdict, contains, equals, matches};
use crate::evidence::{Decision, Pages, ProgramCheck, Undecided};
use crate::{
    AgentRecord, Evidence, EvidenceKind, Moment, NoState, ROUNDING, Requirement, Rule, Score,
    ScoreError, Step,
};

/// The answer is one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Equals(pub Texts);

/// The answer has each of these in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Contains(pub Texts);

/// The answer matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Matches(pub Pattern);

/// A rule that looks at the answer alone: what is wrong with it, if something is.
macro_rules! answer_rule {
    ($rule:ty, $wrong:path) => {
        impl Rule for $rule {
            type State = NoState;
            const SOURCE: EvidenceKind = EvidenceKind::Steps;

            fn forgeable(&self) -> Vec<&'static str> {
                Vec::new()
            }

            fn is_complete(&self, _: &NoState) -> bool {
                true
            }

            fn score(&self, _: &NoState, conduct: &AgentRecord) -> Result<Score, ScoreError> {
                Ok(score_answer(conduct, |answer| $wrong(&self.0, answer)))
            }
        }
    };
}

answer_rule!(Equals, equals);
answer_rule!(Contains, contains);
answer_rule!(Matches, matches);

fn score_answer(conduct: &AgentRecord, wrong: impl Fn(&str) -> Option<String>) -> Score {
    let Some(answer) = &conduct.answer else {
        let wrong = vec!["there is no answer".to_owned()];
        return Score { answered: Some(false), ..Score::of(false, wrong) };
    };
    let wrong = wrong(answer);
    Score { answered: Some(true), ..Score::of(wrong.is_none(), wrong.into_iter().collect()) }
}

/// The goal cannot be reached, and the agent says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "struct variant Scorer::Infeasible")]
#[schemars(inline, description = "")]
pub struct Infeasible {}

impl Rule for Infeasible {
    type State = NoState;
    const SOURCE: EvidenceKind = EvidenceKind::Steps;

    fn forgeable(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn is_complete(&self, _: &NoState) -> bool {
        true
    }

    fn score(&self, _: &NoState, conduct: &AgentRecord) -> Result<Score, ScoreError> {
        Ok(Score::of(conduct.infeasible, Vec::new()))
    }
}

/// The state of a [`UrlCheck`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UrlState {
    /// The address of the last page that had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl Rule for UrlCheck {
    type State = UrlState;
    const SOURCE: EvidenceKind = EvidenceKind::Steps;

    /// A script can change the address.
    fn forgeable(&self) -> Vec<&'static str> {
        vec!["url"]
    }

    fn observe(&self, state: &mut UrlState, step: &Step<'_>) {
        if !step.url.is_empty() {
            state.url = Some(step.url.to_owned());
        }
    }

    fn is_complete(&self, _: &UrlState) -> bool {
        true
    }

    fn score(&self, state: &UrlState, _: &AgentRecord) -> Result<Score, ScoreError> {
        let wrong = self.judge(state.url.as_deref().unwrap_or_default());
        Ok(Score::of(wrong.is_none(), wrong.into_iter().collect()))
    }
}

/// The state of a [`ProgramCheck`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ProgramState {
    /// The program's decision, or why it made none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Result<Decision, String>>,
    /// It has not, because it broke down on what the agent left ([`Undecided::BrokeDown`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broke_down: bool,
}

impl Rule for ProgramCheck {
    type State = ProgramState;
    const SOURCE: EvidenceKind = EvidenceKind::Program;

    fn requirements(&self) -> Vec<Requirement<'_>> {
        vec![Requirement::Program(self)]
    }

    fn resolve(&mut self, folder: &Utf8Path) {
        self.run_in(folder);
    }

    fn forgeable(&self) -> Vec<&'static str> {
        Vec::new()
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut ProgramState,
        moment: Moment,
        conduct: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        if moment == Moment::End {
            let decided = evidence.decide(self, conduct.answer.as_deref()).await?;
            state.broke_down = matches!(decided, Err(Undecided::BrokeDown(_)));
            state.program = Some(decided.map_err(|why| why.to_string()));
        }
        Ok(false)
    }

    fn is_complete(&self, state: &ProgramState) -> bool {
        state.program.is_some()
    }

    fn score(&self, state: &ProgramState, _: &AgentRecord) -> Result<Score, ScoreError> {
        match &state.program {
            Some(Ok(Decision { score, reason })) => {
                let success = *score >= 1.0 - ROUNDING;
                let wrong = reason.iter().filter(|_| !success).cloned().collect();
                Ok(Score { value: *score, ..Score::of(success, wrong) })
            }
            Some(Err(why)) if state.broke_down => Err(ScoreError::ProgramBrokeDown(why.clone())),
            Some(Err(why)) => Err(ScoreError::Program(why.clone())),
            None => Ok(Score::broken_off()),
        }
    }
}

/// The state of a [`StateCheck`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SiteState {
    /// The value of the site's probe in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Value>,
}

impl Rule for StateCheck {
    type State = SiteState;
    const SOURCE: EvidenceKind = EvidenceKind::Site;

    fn requirements(&self) -> Vec<Requirement<'_>> {
        vec![Requirement::Probe(self.question())]
    }

    fn forgeable(&self) -> Vec<&'static str> {
        Vec::new()
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut SiteState,
        moment: Moment,
        _: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        if moment == Moment::End {
            state.found = Some(evidence.probe(self.question()).await?);
        }
        Ok(false)
    }

    fn is_complete(&self, state: &SiteState) -> bool {
        state.found.is_some()
    }

    fn score(&self, state: &SiteState, _: &AgentRecord) -> Result<Score, ScoreError> {
        let wrong = match &state.found {
            Some(found) => self.judge(found),
            None => Some(format!("{} of {} was not read", self.probe, self.site)),
        };
        Ok(Score::of(wrong.is_none(), wrong.into_iter().collect()))
    }
}

/// The state of a [`PageCheck`].
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PageState {
    /// The last values of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

impl Rule for PageCheck {
    type State = PageState;
    const SOURCE: EvidenceKind = EvidenceKind::Steps;

    fn forgeable(&self) -> Vec<&'static str> {
        vec!["page"]
    }

    async fn collect<E: Evidence>(
        &self,
        state: &mut PageState,
        moment: Moment,
        _: &AgentRecord,
        evidence: &mut E,
    ) -> Result<bool, E::Error> {
        if moment != Moment::Settled {
            return Ok(false);
        }
        let verdict = ask(self, evidence).await?;
        let done = verdict.is_done();
        state.verdict = Some(verdict);
        Ok(done)
    }

    fn is_complete(&self, state: &PageState) -> bool {
        state.verdict.is_some()
    }

    fn score(&self, state: &PageState, _: &AgentRecord) -> Result<Score, ScoreError> {
        let unasked = || Err("the page was never asked for its reward".to_owned());
        Ok(match state.verdict.as_ref().map_or_else(unasked, Verdict::value) {
            Ok(value) => Score { value, ..Score::of(value >= 1.0 - ROUNDING, Vec::new()) },
            Err(wrong) => Score::of(false, vec![wrong]),
        })
    }
}

/// Asks a page what it has to say of itself.
pub(crate) async fn ask<P: Pages>(check: &PageCheck, pages: &mut P) -> Result<Verdict, P::Error> {
    let reward = pages.evaluate(&check.reward).await?;
    let done = match &check.done {
        Some(expression) => Some(pages.evaluate(expression).await?),
        None => None,
    };
    Ok(Verdict { reward, done })
}
