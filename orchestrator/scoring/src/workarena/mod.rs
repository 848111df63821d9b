//! WorkArena's tasks of the first level, as in `browsergym/workarena` of ServiceNow/WorkArena
//! 0.5.3.
//!
//! ```text
//! set up -> log in, open the start page -> check -> (tend, validate) after every action -> tear down
//!    |                                                       |                               ^
//!    +--- the instance lacks something: no episode           +--- done: reward 0 or 1 -------+
//! ```
//!
//! A task is its [`Config`]. What it needs of an instance goes through [`Tables`], what pages say
//! through [`Pages`]. A task that cannot be set up or looked at is a [`Failure`], never a reward of
//! 0. The published code patches every page while it loads; here [`Config::tend`] does so once a
//! page has come to rest, before anybody sees it.

mod answer;
mod chart;
mod filter;
mod form;
mod instance;
mod kind;
mod knowledge;
mod list;
mod menu;
mod order;
mod page;
mod rule;
mod sort;

use std::convert::Infallible;

pub use chart::{Chart, Question, Unit};
pub use filter::{ColumnType, Filter, FilterCondition, Joint};
pub use form::{Field, NewRecord};
pub use instance::{first_name, last_name};
pub use kind::{Form, KINDS, Kind};
pub use knowledge::{Articles, Knowledge};
pub use menu::{Impersonation, Menu};
pub use order::{Choice, Control, Order};
pub use rule::State;
use serde::{Deserialize, Serialize};
pub use sort::{Direction, Key, Sort};
use thiserror::Error;

use super::Score;
use crate::Pages;
use crate::evidence::Visit;
use crate::solution::OracleStep;
use crate::tables::Tables;

/// One task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Config {
    /// Go to a module by the menu.
    Menu(Menu),
    /// Become another user.
    Impersonation(Impersonation),
    /// Answer a question by the knowledge base.
    Knowledge(Knowledge),
    /// Filter a list.
    Filter(Filter),
    /// Sort a list.
    Sort(Sort),
    /// Make a record by its form.
    NewRecord(NewRecord),
    /// Order from the catalogue.
    Order(Order),
    /// Read a chart.
    Chart(Chart),
}

/// The verdict by the published rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// 0 or 1.
    pub reward: f64,
    /// The episode is over.
    pub done: bool,
    /// The condition that does not hold, for people; empty where all do.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Failure<E> {
    /// The instance or the browser has no answer.
    #[error(transparent)]
    Foreign(#[from] E),
    /// The task cannot be done on this instance.
    #[error("prepare the instance: {0}")]
    SetUp(String),
    /// A script threw, or gave something else than it should.
    #[error("read the page: {0}")]
    Page(String),
    /// The published code raises an exception.
    #[error("score: the published code raises {0}")]
    Raised(&'static str),
}

/// A step of a solution.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// One that any oracle can take.
    Step(OracleStep),
    /// Give a field of a form its value, by whatever control it has: a text, a list of choices, a
    /// box, a list that is searched while one types.
    Fill {
        /// The label of the field.
        label: String,
        /// Its value, as people see it; a box is ticked for `true` and `True`.
        value: String,
    },
}

/// In front of the classic pages' own paths.
const TARGET: &str = "/now/nav/ui/classic/params/target/";
const HOME: &str = "/now/nav/ui/home";

impl<E> Failure<E> {
    /// The error of the instance or the browser, or else the failure of the task itself.
    fn foreign(self) -> Result<E, Failure<Infallible>> {
        match self {
            Failure::Foreign(error) => Ok(error),
            Failure::SetUp(why) => Err(Failure::SetUp(why)),
            Failure::Page(why) => Err(Failure::Page(why)),
            Failure::Raised(class) => Err(Failure::Raised(class)),
        }
    }

    fn set_up(why: impl Into<String>) -> Failure<E> {
        Failure::SetUp(why.into())
    }
}

impl Verdict {
    fn right() -> Verdict {
        Verdict { reward: 1.0, done: true, message: String::new() }
    }

    fn not_yet(message: impl Into<String>) -> Verdict {
        Verdict { reward: 0.0, done: false, message: message.into() }
    }

    fn wrong(message: impl Into<String>) -> Verdict {
        Verdict { done: true, ..Verdict::not_yet(message) }
    }

    /// As a score.
    fn score(&self) -> Score {
        let wrong = (!self.message.is_empty()).then(|| self.message.clone());
        Score { value: self.reward, ..Score::of(self.reward >= 1.0, wrong.into_iter().collect()) }
    }
}

impl Config {
    /// Returns the goal in words.
    pub fn goal(&self) -> String {
        match self {
            Config::Menu(task) => task.goal(),
            Config::Impersonation(task) => task.goal(),
            Config::Knowledge(task) => task.goal(),
            Config::Filter(task) => task.goal(),
            Config::Sort(task) => task.goal(),
            Config::NewRecord(task) => task.goal(),
            Config::Order(task) => task.goal(),
            Config::Chart(task) => task.goal(),
        }
    }

    /// Makes a user who is to do the task, and looks whether the instance has what it is about.
    /// `address` is where the instance is; the user's name follows from `seed`.
    ///
    /// # Errors
    /// Where the task cannot be done on this instance. What was made is removed again.
    pub async fn set_up<T: Tables>(
        &self,
        tables: &mut T,
        address: &str,
        seed: u64,
    ) -> Result<Visit, Failure<T::Error>> {
        let start = match self {
            Config::Menu(_) => HOME.to_owned(),
            Config::Impersonation(task) => {
                task.set_up(tables).await?;
                HOME.to_owned()
            }
            Config::Knowledge(task) => {
                task.set_up(tables).await?;
                format!("{TARGET}kb?id=kb_home")
            }
            Config::Filter(task) => list::path(&task.table),
            Config::Sort(task) => list::path(&task.table),
            Config::NewRecord(task) => task.start(),
            Config::Order(_) => format!("{TARGET}catalog_home.do%3Fsysparm_view%3Dcatalog_default"),
            Config::Chart(task) => task.set_up(tables).await?,
        };
        Ok(Visit { start, ..Visit::begin(tables, address, seed).await? })
    }

    /// Looks whether the user has been let in, once [`Visit::login_url`] is open.
    ///
    /// # Errors
    /// Where the log-in page is still there, or the page cannot be read.
    pub async fn check_login<P: Pages>(&self, pages: &mut P) -> Result<(), Failure<P::Error>> {
        let here: String = page::read(pages, page::ADDRESS).await?;
        match page::is_at(&here, "/login.do") {
            true => Err(Failure::set_up(
                "its log-in by an address is off; run the benchmark's `workarena-install`",
            )),
            false => Ok(()),
        }
    }

    /// Looks whether the start page, once it is open, is one that the task can be done on.
    ///
    /// # Errors
    /// Where it is not, or cannot be read.
    pub async fn check<P: Pages>(&self, pages: &mut P) -> Result<(), Failure<P::Error>> {
        match self {
            Config::NewRecord(task) => task.check(pages).await,
            _ => Ok(()),
        }
    }

    /// Prepares the page that is open as the published code has it prepared. It may be called
    /// again.
    ///
    /// # Errors
    /// Where the page cannot be changed.
    pub async fn tend<P: Pages>(&self, pages: &mut P) -> Result<(), Failure<P::Error>> {
        match self {
            Config::Filter(_) | Config::Sort(_) => {
                page::run(pages, &page::removal(&list::REMOVED)).await.map(drop)
            }
            Config::NewRecord(task) => task.tend(pages).await,
            Config::Order(task) => task.tend(pages).await,
            Config::Chart(task) => task.tend(pages).await,
            Config::Menu(_) | Config::Impersonation(_) | Config::Knowledge(_) => Ok(()),
        }
    }

    /// Checks the instance and the page now; `said` is the agent's last message.
    ///
    /// # Errors
    /// Where that cannot be known, or the published code raises an exception.
    pub async fn validate<T: Tables, P: Pages<Error = T::Error>>(
        &self,
        visit: &Visit,
        tables: &mut T,
        pages: &mut P,
        said: Option<&str>,
    ) -> Result<Verdict, Failure<T::Error>> {
        match self {
            Config::Menu(task) => task.validate(visit, pages).await,
            Config::Impersonation(task) => task.validate(tables, pages).await,
            Config::Knowledge(task) => Ok(task.validate(said)),
            Config::Filter(task) => task.validate(visit, tables, pages).await,
            Config::Sort(task) => task.validate(visit, pages).await,
            Config::NewRecord(task) => task.validate(visit, tables, pages).await,
            Config::Order(task) => task.validate(tables, pages).await,
            Config::Chart(task) => task.validate(visit, pages, said).await,
        }
    }

    /// Steps that solve the task from its start page on.
    ///
    /// # Errors
    /// Where they depend on the instance, and it does not say.
    pub async fn cheat<T: Tables, P: Pages<Error = T::Error>>(
        &self,
        visit: &Visit,
        tables: &mut T,
        pages: &mut P,
    ) -> Result<Vec<Move>, Failure<T::Error>> {
        match self {
            Config::Menu(task) => Ok(task.cheat(&visit.address)),
            Config::Impersonation(task) => Ok(task.cheat(visit)),
            Config::Knowledge(task) => Ok(task.cheat()),
            Config::Filter(task) => task.cheat(&visit.address, tables).await,
            Config::Sort(task) => Ok(task.cheat(&visit.address)),
            Config::NewRecord(task) => Ok(task.cheat()),
            Config::Order(task) => Ok(task.cheat()),
            Config::Chart(task) => task.cheat(pages).await,
        }
    }

    /// The same for an oracle, where it is known before there is an instance; nothing where it is
    /// not.
    pub fn oracle(&self, address: &str) -> Vec<OracleStep> {
        let moves = match self {
            Config::Menu(task) => task.cheat(address),
            Config::Knowledge(task) => task.cheat(),
            Config::Sort(task) => task.cheat(address),
            Config::Filter(task) => task.plain_cheat(address).unwrap_or_default(),
            Config::Impersonation(_)
            | Config::NewRecord(_)
            | Config::Order(_)
            | Config::Chart(_) => Vec::new(),
        };
        let step = |one| match one {
            Move::Step(step) => Some(step),
            Move::Fill { .. } => None,
        };
        moves.into_iter().map(step).collect::<Option<Vec<_>>>().unwrap_or_default()
    }

    /// Removes what the user made for the task, and the user.
    ///
    /// # Errors
    /// Where the instance does not let it. What is left is in `visit`, so that it can be tried
    /// again.
    pub async fn tear_down<T: Tables>(
        &self,
        visit: &mut Visit,
        tables: &mut T,
    ) -> Result<(), T::Error> {
        match self {
            Config::NewRecord(task) => task.tear_down(visit, tables).await?,
            Config::Order(task) => task.tear_down(visit, tables).await?,
            _ => {}
        }
        visit.remove_made(tables).await
    }
}
