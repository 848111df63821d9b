//! Going somewhere by the menu, and becoming somebody else: `tasks/navigation.py`.

use python_compat::url::{SplitResult, unquote};
use serde::{Deserialize, Serialize};

use super::{Failure, Move, Verdict, page};
use crate::Pages;
use crate::evidence::Visit;
use crate::solution::{Element, Fill, OracleStep};
use crate::tables::{Lookup, Tables, kept};

/// A module to be reached by the menu `All`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Menu {
    pub application: String,
    /// Its module, with ` > ` between the levels.
    pub module: String,
    /// The path it leads to.
    pub url: String,
}

impl Menu {
    pub(super) fn goal(&self) -> String {
        format!(
            "Navigate to the \"{}\" module of the \"{}\" application.",
            self.module, self.application
        )
    }

    /// The address has to be the module's, once both are decoded.
    pub(super) async fn validate<P: Pages>(
        &self,
        visit: &Visit,
        pages: &mut P,
    ) -> Result<Verdict, Failure<P::Error>> {
        let here: String = page::read(pages, page::ADDRESS).await?;
        Ok(match plain(&here) == plain(&format!("{}{}", visit.address, self.url)) {
            true => Verdict::right(),
            false => Verdict::not_yet("the page is not the module's"),
        })
    }

    /// The module's page is opened as such: the menu's levels are buttons without roles to be named
    /// by.
    pub(super) fn cheat(&self, address: &str) -> Vec<Move> {
        vec![Move::Step(OracleStep::Goto(format!("{address}{}", self.url)))]
    }
}

/// `urlunparse(urlparse(unquote(url)))`.
fn plain(url: &str) -> Option<String> {
    let split = SplitResult::of(&unquote(url))?;
    let path = split.path_with_parameters().to_owned();
    Some(SplitResult { path, ..split }.join())
}

/// A user to become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Impersonation {
    /// The user's full name.
    pub user: String,
}

#[derive(Deserialize)]
struct LoggedIn {
    id: String,
    impersonating: bool,
}

impl Impersonation {
    pub(super) fn goal(&self) -> String {
        format!("Impersonate the user {}.", self.user)
    }

    /// There has to be such a user, or nobody could become that.
    pub(super) async fn set_up<T: Tables>(&self, tables: &mut T) -> Result<(), Failure<T::Error>> {
        let users =
            Lookup::new("sys_user", format!("name={}", escaped(&self.user))).fields(&["sys_id"]);
        match tables.get(&users).await?.is_empty() {
            true => Err(Failure::set_up(format!("it has no user `{}`", self.user))),
            false => Ok(()),
        }
    }

    pub(super) async fn validate<T: Tables, P: Pages<Error = T::Error>>(
        &self,
        tables: &mut T,
        pages: &mut P,
    ) -> Result<Verdict, Failure<T::Error>> {
        let user: Option<LoggedIn> = page::read(pages, page::USER).await?;
        // On a page that says nothing of it, the published code waits until it does.
        let Some(LoggedIn { id, impersonating: true }) = user else {
            return Ok(Verdict::not_yet("nobody is impersonated"));
        };
        let lookup = Lookup::new("sys_user", format!("sys_id={id}")).fields(&["name"]);
        let found = tables.get(&lookup).await?;
        let user = found.first().ok_or(Failure::Raised("IndexError"))?;
        Ok(match kept(user, "name") == self.user {
            true => Verdict::right(),
            false => Verdict::not_yet("somebody else is impersonated"),
        })
    }

    pub(super) fn cheat(&self, visit: &Visit) -> Vec<Move> {
        let element = |role: &str, name: &str| Element {
            role: role.to_owned(),
            name: name.to_owned(),
            nth: 0,
        };
        let search = element("combobox", "Search for a user");
        let name = full_name(&visit.user.name);
        [
            OracleStep::Click(element("button", &format!("{name}: available")).into()),
            OracleStep::Click(element("menuitem", "Impersonate user").into()),
            OracleStep::Fill(Fill { element: search, value: self.user.clone() }),
            OracleStep::Click(element("option", &self.user).into()),
            OracleStep::Click(element("button", "Impersonate user").into()),
        ]
        .map(Move::Step)
        .into()
    }
}

/// First and last name, of a user's name as set-up makes it.
fn full_name(user: &str) -> String {
    user.split('.').take(2).collect::<Vec<_>>().join(" ")
}

/// A value within a query.
pub(super) fn escaped(value: &str) -> String {
    value.replace('^', "^^")
}
