//! What decides the score of a task, and what it wants to know of an episode.

use camino::Utf8Path;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::judge::{Judgement, Question};
use crate::mind2web_live::{self, KeyNode};
use crate::plain::{self, Decision, PageCheck, Pattern, ProgramCheck, StateCheck, Texts, UrlCheck, Verdict};
use crate::rules::Rules;
use crate::webarena::{Ending, Found, Pages};
use crate::{
    ROUNDING, Score, ScoreError, ScoreState, Step, assistantbench, turkingbench, visualwebarena, warcbench,
    webarena, webarena_verified, workarena,
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
    /// WebArena-Verified: a task of its dataset, by what the agent answers and what passed over the network.
    #[serde(rename = "webarena_verified")]
    WebArenaVerified(#[schemars(with = "Map<String, Value>")] webarena_verified::Verified),
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

impl Scorer {
    /// The state of an episode that has not begun.
    pub fn start(&self) -> ScoreState {
        match self {
            Scorer::Mind2WebLive { nodes } => {
                ScoreState { nodes: vec![0.0; nodes.len()], ..ScoreState::default() }
            }
            Scorer::All(parts) => {
                ScoreState { parts: parts.iter().map(Scorer::start).collect(), ..ScoreState::default() }
            }
            _ => ScoreState::default(),
        }
    }

    /// Takes one step into account. Scores never fall; of several answers the last counts.
    pub fn observe(&self, state: &mut ScoreState, step: &Step<'_>) {
        if let Some(answer) = step.answer {
            state.answer = Some(answer.to_owned());
        }
        state.infeasible |= step.infeasible;
        match self {
            Scorer::Mind2WebLive { nodes } => mind2web_live::observe(nodes, state, step),
            Scorer::Url(_) if !step.url.is_empty() => state.url = Some(step.url.to_owned()),
            Scorer::All(parts) => {
                for (part, state) in parts.iter().zip(&mut state.parts) {
                    part.observe(state, step);
                }
            }
            _ => {}
        }
    }

    /// Whether steps in which an element is acted on have to carry the page's HTML.
    pub fn wants_html(&self) -> bool {
        match self {
            Scorer::Mind2WebLive { nodes } => nodes.iter().any(KeyNode::wants_html),
            Scorer::All(parts) => parts.iter().any(Scorer::wants_html),
            _ => false,
        }
    }

    /// Whether all that passes over the network has to be kept, until the agent has ended.
    pub fn wants_network(&self) -> bool {
        match self {
            Scorer::WebArenaVerified(_) => true,
            Scorer::All(parts) => parts.iter().any(Scorer::wants_network),
            _ => false,
        }
    }

    /// Takes that, as HAR, once the agent has ended.
    pub fn see_network(&self, state: &mut ScoreState, har: &[u8]) {
        match self {
            Scorer::WebArenaVerified(task) => {
                state.checked = Some(task.check(state.answer.as_deref().unwrap_or_default(), har));
            }
            Scorer::All(parts) => {
                for (part, state) in parts.iter().zip(&mut state.parts) {
                    part.see_network(state, har);
                }
            }
            _ => {}
        }
    }

    /// What has to be asked of sites once the episode has ended.
    pub fn questions(&self) -> Vec<&StateCheck> {
        match self {
            Scorer::State(check) => vec![check],
            Scorer::All(parts) => parts.iter().flat_map(Scorer::questions).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes the answers to [`questions`](Self::questions), in their order.
    pub fn tell(&self, state: &mut ScoreState, answers: &mut impl Iterator<Item = Value>) {
        match self {
            Scorer::State(_) => state.found = answers.next(),
            Scorer::All(parts) => {
                for (part, state) in parts.iter().zip(&mut state.parts) {
                    part.tell(state, answers);
                }
            }
            _ => {}
        }
    }

    /// The programs that have to be run once the episode has ended.
    pub fn programs(&self) -> Vec<&ProgramCheck> {
        match self {
            Scorer::Program(check) => vec![check],
            Scorer::All(parts) => parts.iter().flat_map(Scorer::programs).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes what the [`programs`](Self::programs) have decided, in their order.
    pub fn decided(
        &self,
        state: &mut ScoreState,
        decisions: &mut impl Iterator<Item = Result<Decision, String>>,
    ) {
        match self {
            Scorer::Program(_) => state.program = decisions.next(),
            Scorer::All(parts) => {
                for (part, state) in parts.iter().zip(&mut state.parts) {
                    part.decided(state, decisions);
                }
            }
            _ => {}
        }
    }

    /// Resolves what is relative against the folder of the suite.
    pub fn resolve(&mut self, folder: &Utf8Path) {
        match self {
            Scorer::Program(check) => check.resolve(folder),
            Scorer::All(parts) => parts.iter_mut().for_each(|part| part.resolve(folder)),
            _ => {}
        }
    }

    /// What has to be read of pages once the episode has ended.
    pub fn evaluations(&self) -> Vec<Evaluation<'_>> {
        match self {
            Scorer::WebArena(evaluation) => vec![Evaluation::WebArena(evaluation)],
            Scorer::VisualWebArena(evaluation) => vec![Evaluation::VisualWebArena(evaluation)],
            Scorer::WarcBench(check) if check.reads_pages() => vec![Evaluation::WarcBench(check)],
            Scorer::All(parts) => parts.iter().flat_map(Scorer::evaluations).collect(),
            _ => Vec::new(),
        }
    }

    /// What has to be read of the start page before anything is done. Published rules never look at
    /// it.
    pub fn evaluations_before(&self, rules: Rules) -> Vec<Evaluation<'_>> {
        match self {
            Scorer::WarcBench(_) if rules == Rules::Fixed => self.evaluations(),
            Scorer::All(parts) => parts.iter().flat_map(|part| part.evaluations_before(rules)).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes what was read for [`evaluations_before`](Self::evaluations_before), in their order.
    pub fn read_before(&self, state: &mut ScoreState, found: &mut impl Iterator<Item = Found>) {
        match self {
            Scorer::WarcBench(check) if check.reads_pages() => state.before = found.next(),
            Scorer::All(parts) => {
                for (part, state) in parts.iter().zip(&mut state.parts) {
                    part.read_before(state, found);
                }
            }
            _ => {}
        }
    }

    /// Takes what was read for [`evaluations`](Self::evaluations), in their order.
    pub fn read(&self, state: &mut ScoreState, found: &mut impl Iterator<Item = Found>) {
        match self {
            Scorer::WebArena(_) | Scorer::VisualWebArena(_) => state.pages = found.next(),
            Scorer::WarcBench(check) if check.reads_pages() => state.pages = found.next(),
            Scorer::All(parts) => {
                for (part, state) in parts.iter().zip(&mut state.parts) {
                    part.read(state, found);
                }
            }
            _ => {}
        }
    }

    /// The forms that have to be read once the episode has ended.
    pub fn forms(&self) -> Vec<&turkingbench::Form> {
        match self {
            Scorer::TurkingBench(form) => vec![form],
            Scorer::All(parts) => parts.iter().flat_map(Scorer::forms).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes what was in the [`forms`](Self::forms), in their order.
    pub fn fill(&self, state: &mut ScoreState, held: &mut impl Iterator<Item = turkingbench::Held>) {
        match self {
            Scorer::TurkingBench(_) => state.form = held.next(),
            Scorer::All(parts) => {
                for (part, state) in parts.iter().zip(&mut state.parts) {
                    part.fill(state, held);
                }
            }
            _ => {}
        }
    }

    /// The task of WorkArena that this is, if it is one.
    pub fn workarena(&self) -> Option<&workarena::Config> {
        match self {
            Scorer::WorkArena(config) => Some(config),
            _ => None,
        }
    }

    /// What has to be asked of the page whenever it has come to rest.
    pub fn page_checks(&self) -> Vec<&PageCheck> {
        match self {
            Scorer::Page(check) => vec![check],
            Scorer::TurkingBench(_) => vec![turkingbench::Form::is_sent()],
            Scorer::All(parts) => parts.iter().flat_map(Scorer::page_checks).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes what the page said to [`page_checks`](Self::page_checks), in their order. Says whether the episode is over by it.
    pub fn hear(&self, state: &mut ScoreState, verdicts: &mut impl Iterator<Item = Verdict>) -> bool {
        match self {
            Scorer::Page(_) => {
                state.verdict = verdicts.next();
                state.verdict.as_ref().is_some_and(Verdict::is_done)
            }
            Scorer::TurkingBench(_) => verdicts.next().as_ref().is_some_and(Verdict::is_done),
            Scorer::All(parts) => {
                let heard = parts.iter().zip(&mut state.parts);
                heard.fold(false, |over, (part, state)| part.hear(state, verdicts) || over)
            }
            _ => false,
        }
    }

    /// What a judge has to be asked before there is a score, once everything else has been read and told; nothing where it would make no difference.
    pub fn questions_to_judge(&self, state: &ScoreState) -> Vec<Question> {
        if self.score(state) != Err(ScoreError::NeedsJudge) {
            return Vec::new();
        }
        match self {
            Scorer::Mind2WebLive { .. } => mind2web_live::questions(state),
            Scorer::WebArena(evaluation) => match &state.pages {
                Some(found) => evaluation.questions(ending(state, found)),
                None => Vec::new(),
            },
            Scorer::VisualWebArena(evaluation) => match &state.pages {
                Some(found) => evaluation.questions(ending(state, found)),
                None => Vec::new(),
            },
            Scorer::All(parts) => {
                let parts = parts.iter().zip(&state.parts);
                parts.flat_map(|(part, state)| part.questions_to_judge(state)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Takes what a judge has ruled, in any order.
    pub fn judged(&self, state: &mut ScoreState, judgement: &Judgement) {
        if !state.judgements.contains(judgement) {
            state.judgements.push(judgement.clone());
        }
        if let Scorer::All(parts) = self {
            for (part, state) in parts.iter().zip(&mut state.parts) {
                part.judged(state, judgement);
            }
        }
    }

    /// What the score has come to before the episode has ended; nothing where it hangs on what is looked at in the end, or on a judge.
    pub fn so_far(&self, state: &ScoreState) -> Option<f64> {
        self.is_known(state).then(|| self.score(state).ok()).flatten().map(|score| score.value)
    }

    /// Whether all is there that the score is made of.
    fn is_known(&self, state: &ScoreState) -> bool {
        match self {
            Scorer::AssistantBench { .. } | Scorer::Mind2WebLive { .. } | Scorer::Infeasible {} => true,
            Scorer::Equals(_) | Scorer::Contains(_) | Scorer::Matches(_) | Scorer::Url(_) => true,
            Scorer::Program(_) => state.program.is_some(),
            Scorer::WebArena(_) | Scorer::VisualWebArena(_) => state.pages.is_some(),
            Scorer::WarcBench(check) => state.pages.is_some() || !check.reads_pages(),
            Scorer::WebArenaVerified(_) => state.checked.is_some(),
            Scorer::WorkArena(_) => state.instance.is_some(),
            Scorer::TurkingBench(_) => state.form.is_some(),
            Scorer::State(_) => state.found.is_some(),
            Scorer::Page(_) => state.verdict.is_some(),
            Scorer::All(parts) => parts.iter().zip(&state.parts).all(|(part, state)| part.is_known(state)),
        }
    }

    /// How far each key node has been reached, those of all parts in their order; none where there are no key nodes.
    pub fn nodes_so_far(&self, state: &ScoreState) -> Vec<f64> {
        match self {
            Scorer::Mind2WebLive { .. } => state.nodes.clone(),
            Scorer::All(parts) => {
                parts.iter().zip(&state.parts).flat_map(|(part, state)| part.nodes_so_far(state)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The score as it stands.
    ///
    /// # Errors
    /// Where the published code raises an exception or gives no finite number; the benchmark then has no score. And where a judge has to
    /// decide who has not.
    pub fn score(&self, state: &ScoreState) -> Result<Score, ScoreError> {
        match self {
            Scorer::AssistantBench { gold } => {
                let Some(answer) = &state.answer else {
                    return Ok(Score { answered: Some(false), ..Score::of(false, Vec::new()) });
                };
                let scored = match state.rules {
                    Rules::Faithful => assistantbench::question_scorer(answer, gold)?,
                    Rules::Fixed => assistantbench::question_scorer_fixed(answer, gold),
                };
                let success = scored.accuracy >= 1.0 - ROUNDING;
                Ok(Score {
                    value: scored.accuracy,
                    answered: Some(scored.has_answer),
                    ..Score::of(success, Vec::new())
                })
            }
            Scorer::Mind2WebLive { nodes } => {
                let (value, missing) = mind2web_live::completion(state)?;
                let success = missing == 0 && !state.nodes.is_empty();
                let near_success = missing == 1;
                Ok(Score { value, near_success, nodes: Some(nodes.len()), ..Score::of(success, Vec::new()) })
            }
            Scorer::WebArena(evaluation) => match &state.pages {
                Some(found) => evaluation.score(ending(state, found)),
                None => Ok(Score::of(false, vec!["the episode broke off".to_owned()])),
            },
            Scorer::WebArenaVerified(_) => Ok(match &state.checked {
                Some(checked) => Score::of(checked.score >= 1.0, checked.wrong.clone()),
                None => Score::of(false, vec!["the network was not kept".to_owned()]),
            }),
            Scorer::VisualWebArena(evaluation) => match &state.pages {
                Some(found) => evaluation.score(ending(state, found)),
                None => Ok(Score::of(false, vec!["the episode broke off".to_owned()])),
            },
            Scorer::WarcBench(check) => check.score(&warcbench::Ending {
                answer: state.answer.as_deref().unwrap_or_default(),
                found: state.pages.as_ref(),
                before: state.before.as_ref(),
                rules: state.rules,
            }),
            Scorer::WorkArena(_) => Ok(match &state.instance {
                Some(verdict) => verdict.score(),
                None => return Err(ScoreError::NotLooked),
            }),
            Scorer::TurkingBench(form) => match &state.form {
                Some(held) => form.score(held, state.rules),
                None => Ok(Score::of(false, vec!["the episode broke off".to_owned()])),
            },
            Scorer::Equals(wanted) => Ok(of_answer(state, |answer| plain::equals(wanted, answer))),
            Scorer::Contains(wanted) => Ok(of_answer(state, |answer| plain::contains(wanted, answer))),
            Scorer::Matches(wanted) => Ok(of_answer(state, |answer| plain::matches(wanted, answer))),
            Scorer::Url(check) => {
                let wrong = check.judge(state.url.as_deref().unwrap_or_default());
                Ok(Score::of(wrong.is_none(), wrong.into_iter().collect()))
            }
            Scorer::Program(_) => match &state.program {
                Some(Ok(Decision { score, reason })) => {
                    let success = *score >= 1.0 - ROUNDING;
                    let wrong = reason.iter().filter(|_| !success).cloned().collect();
                    Ok(Score { value: *score, ..Score::of(success, wrong) })
                }
                Some(Err(why)) => Err(ScoreError::Program(why.clone())),
                None => Ok(Score::of(false, vec!["the episode broke off".to_owned()])),
            },
            Scorer::State(check) => {
                let wrong = match &state.found {
                    Some(found) => check.judge(found),
                    None => Some(format!("{} of {} was not read", check.probe, check.site)),
                };
                Ok(Score::of(wrong.is_none(), wrong.into_iter().collect()))
            }
            Scorer::Page(_) => {
                let said = state.verdict.as_ref().map(Verdict::value);
                let said = said.unwrap_or_else(|| Err("the page was never asked for its reward".to_owned()));
                Ok(match said {
                    Ok(value) => Score { value, ..Score::of(value >= 1.0 - ROUNDING, Vec::new()) },
                    Err(wrong) => Score::of(false, vec![wrong]),
                })
            }
            Scorer::Infeasible {} => Ok(Score::of(state.infeasible, Vec::new())),
            Scorer::All(parts) => {
                let mut all = Score::of(true, Vec::new());
                let mut unjudged = false;
                for (part, state) in parts.iter().zip(&state.parts) {
                    let score = match part.score(state) {
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
        }
    }
}

/// The score of an answer by a rule that tells what is wrong with it.
fn of_answer(state: &ScoreState, wrong: impl FnOnce(&str) -> Option<String>) -> Score {
    let Some(answer) = &state.answer else {
        return Score { answered: Some(false), ..Score::of(false, vec!["there is no answer".to_owned()]) };
    };
    let wrong = wrong(answer);
    Score { answered: Some(true), ..Score::of(wrong.is_none(), wrong.into_iter().collect()) }
}

/// What is read of pages once an episode has ended.
#[derive(Debug, Clone, Copy)]
pub enum Evaluation<'a> {
    /// As WebArena does.
    WebArena(&'a webarena::Evaluation),
    /// As VisualWebArena does.
    VisualWebArena(&'a visualwebarena::Evaluation),
    /// As WARC-Bench does.
    WarcBench(&'a warcbench::Check),
}

impl Evaluation<'_> {
    /// Reads it.
    ///
    /// # Errors
    /// Where pages can no longer be read.
    pub async fn read<P: Pages + Send>(&self, pages: &mut P, rules: Rules) -> Result<Found, P::Error> {
        match self {
            Evaluation::WebArena(evaluation) => evaluation.read(pages).await,
            Evaluation::VisualWebArena(evaluation) => evaluation.read(pages).await,
            Evaluation::WarcBench(check) => check.read(pages, rules).await,
        }
    }
}

fn ending<'a>(state: &'a ScoreState, found: &'a Found) -> Ending<'a> {
    // Who says that it cannot be done says `stop [N/A]` in the benchmark's words.
    let said = state.answer.as_deref().or(state.infeasible.then_some("N/A"));
    Ending { answer: said.unwrap_or_default(), found, judgements: &state.judgements, rules: state.rules }
}

fn read_parts<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<Scorer>, D::Error> {
    let parts = Vec::<Scorer>::deserialize(input)?;
    if parts.is_empty() {
        Err(serde::de::Error::custom("`all` needs at least one scorer"))
    } else {
        Ok(parts)
    }
}
