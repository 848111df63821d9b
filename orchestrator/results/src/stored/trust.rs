//! The conditions on which trust in the scores of a run depends.

use std::collections::BTreeSet;

use agents::AgentSpec;
use processes::confine;
use serde::{Deserialize, Serialize};
use tasks::Task;

/// The conditions under which scores came about. Runs before format 2.6 have none, so that nothing
/// is known of theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// The protection of files and programs from the agent's program.
    pub confinement: Confinement,
    /// Whether another program drove the browser (`sandbox attach`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attached: bool,
    /// Whether the agent's program could read the suite, and with it the solutions.
    pub solutions: Visibility,
    /// Scorers that trust the page, while another program drove the page: such as `page`, `url`,
    /// and WebArena's `url_match`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forgeable: Vec<String>,
}

/// The confinement of an agent's program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// Nothing is known.
    #[default]
    Unknown,
    /// There was no program: the agent is one of this program.
    NoProgram,
    /// The program runs elsewhere, behind an address.
    Elsewhere,
    /// It was not confined.
    Off,
    /// The suite and the results were hidden from it.
    Hidden,
    /// It saw only the files that were given to it.
    Strict,
}

/// Whether an agent could see something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Nothing is known.
    #[default]
    Unknown,
    /// It could not see it.
    Hidden,
    /// It could see it.
    Visible,
}

impl Confinement {
    /// Returns the weaker of two confinements, which is that of both together.
    #[must_use]
    pub fn weaker(self, other: Confinement) -> Confinement {
        let rank = |one: Confinement| match one {
            Confinement::Off => 0,
            Confinement::Unknown => 1,
            Confinement::Elsewhere => 2,
            Confinement::Hidden => 3,
            Confinement::Strict => 4,
            Confinement::NoProgram => 5,
        };
        if rank(self) <= rank(other) { self } else { other }
    }

    /// Whether a program under it can read the solutions.
    pub fn solutions(self) -> Visibility {
        match self {
            Confinement::Unknown | Confinement::Elsewhere => Visibility::Unknown,
            Confinement::NoProgram | Confinement::Hidden | Confinement::Strict => {
                Visibility::Hidden
            }
            Confinement::Off => Visibility::Visible,
        }
    }
}

/// Converts the confinement of a run's programs, if it has any.
impl From<Option<confine::Confinement>> for Confinement {
    fn from(had: Option<confine::Confinement>) -> Confinement {
        match had {
            None => Confinement::NoProgram,
            Some(confine::Confinement::Off | confine::Confinement::Unavailable) => Confinement::Off,
            Some(confine::Confinement::Hidden) => Confinement::Hidden,
            Some(confine::Confinement::Strict) => Confinement::Strict,
        }
    }
}

impl Conditions {
    /// Returns the conditions of a run of this agent, whose programs have this confinement.
    pub fn of_agent(agent: &AgentSpec, programs: Confinement) -> Conditions {
        let confinement = confinement(agent, programs);
        Conditions { confinement, solutions: confinement.solutions(), ..Conditions::default() }
    }

    /// Returns the conditions of an attached episode, whose program has this confinement.
    pub fn attached(task: &Task, program: Confinement) -> Conditions {
        let mut forgeable: Vec<String> =
            task.scorer.forgeable().into_iter().map(str::to_owned).collect();
        forgeable.sort();
        forgeable.dedup();
        Conditions {
            confinement: program,
            attached: true,
            solutions: program.solutions(),
            forgeable,
        }
    }

    /// Returns the conditions of a run whose agents are clients of a server of ours.
    pub fn served() -> Conditions {
        let confinement = Confinement::Elsewhere;
        Conditions { confinement, solutions: confinement.solutions(), ..Conditions::default() }
    }

    /// Returns the conditions of a run that was played partly under these, and partly under others.
    #[must_use]
    pub fn weaker(&self, other: &Conditions) -> Conditions {
        let confinement = self.confinement.weaker(other.confinement);
        let forgeable: BTreeSet<&String> = self.forgeable.iter().chain(&other.forgeable).collect();
        Conditions {
            confinement,
            attached: self.attached || other.attached,
            solutions: confinement.solutions(),
            forgeable: forgeable.into_iter().cloned().collect(),
        }
    }

    /// The reasons to doubt the scores, in one sentence each.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        match self.confinement {
            Confinement::Off => doubts.push("the agent's program was not confined".to_owned()),
            Confinement::Elsewhere => {
                doubts.push(
                    "the agent ran elsewhere, and nothing is known of what it saw".to_owned(),
                );
            }
            Confinement::Unknown if self.attached => {
                doubts.push("nothing is known of what the program saw".to_owned());
            }
            Confinement::Unknown
            | Confinement::NoProgram
            | Confinement::Hidden
            | Confinement::Strict => {}
        }
        if self.solutions == Visibility::Visible {
            doubts.push("it could read the suite with its solutions".to_owned());
        }
        if self.attached {
            doubts.push(
                "another program drove the browser, so that its actions were not seen".to_owned(),
            );
        }
        if !self.forgeable.is_empty() {
            let names = self.forgeable.join(", ");
            doubts.push(format!(
                "the scorer believes the page ({names}), which that program can forge"
            ));
        }
        doubts
    }
}

fn confinement(agent: &AgentSpec, programs: Confinement) -> Confinement {
    match agent {
        AgentSpec::Program { .. } => programs,
        AgentSpec::Server(_) => Confinement::Elsewhere,
        AgentSpec::Oracle
        | AgentSpec::Negative
        | AgentSpec::Noop
        | AgentSpec::Random
        | AgentSpec::Model(_)
        | AgentSpec::Recorded(_) => Confinement::NoProgram,
        AgentSpec::Fallback(agents) => {
            let all = agents.iter().map(|agent| confinement(agent, programs));
            all.reduce(Confinement::weaker).unwrap_or_default()
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use scoring::Scorer;

    use super::*;

    #[test]
    fn doubts_follow_from_who_the_agent_is() {
        for (agent, doubts) in [
            ("oracle", 0),
            ("cot", 0),
            ("program:true", 2),
            ("http://127.0.0.1:9000/agent", 1),
            ("noop->program:true", 2),
            ("noop->http://127.0.0.1:9000/agent", 1),
        ] {
            let agent: AgentSpec = agent.parse().unwrap();
            let off = Conditions::of_agent(&agent, Confinement::Off);
            assert_eq!(off.doubts().len(), doubts, "{agent}: {:?}", off.doubts());
        }
        let program: AgentSpec = "program:true".parse().unwrap();
        assert!(Conditions::of_agent(&program, Confinement::Hidden).doubts().is_empty());
    }

    /// A run has the weakest conditions of its parts.
    #[test]
    fn a_run_of_parts_is_believed_as_its_weakest_part() {
        let program: AgentSpec = "program:true".parse().unwrap();
        let of = |confinement| Conditions::of_agent(&program, confinement);
        // A run on a cluster begins where nothing is played.
        let begun = of(Confinement::NoProgram);
        let (hidden, off) = (of(Confinement::Hidden), of(Confinement::Off));
        assert_eq!(begun.weaker(&hidden), hidden);
        assert_eq!(hidden.weaker(&off), off);
        assert_eq!(off.weaker(&begun).solutions, Visibility::Visible);
        let forgeable = Conditions { forgeable: vec!["page".to_owned()], ..hidden.clone() };
        assert_eq!(hidden.weaker(&forgeable).forgeable, ["page"]);
        assert!(!Conditions::served().doubts().is_empty());
    }

    #[test]
    fn old_runs_say_nothing_and_new_ones_are_read_again() {
        assert_eq!(Conditions::default().doubts(), Vec::<String>::new());
        let url =
            scoring::UrlCheck(scoring::UrlRule::Contains(scoring::Texts(vec!["a".to_owned()])));
        let page = Scorer::All(vec![Scorer::Url(url), Scorer::Infeasible(scoring::Infeasible {})]);
        let task = Task::new("t".to_owned(), tasks::GoalText::Words("go".to_owned()), page);
        let attached = Conditions::attached(&task, Confinement::Off);
        assert_eq!(
            (attached.forgeable.as_slice(), attached.doubts().len()),
            (&["url".to_owned()][..], 4)
        );
        let written = serde_json::to_string(&attached).unwrap();
        assert_eq!(serde_json::from_str::<Conditions>(&written).unwrap(), attached);
    }
}
