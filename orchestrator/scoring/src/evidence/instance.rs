//! An instance of ServiceNow on which a task was set up. How that is done and undone is a matter of
//! its benchmark (`workarena/instance.rs`).

use serde::{Deserialize, Serialize};

/// An instance on which a task has been set up.
#[derive(Debug, Clone)]
pub struct Session<T> {
    /// The records that were made there for the task.
    pub visit: Visit,
    /// The instance's tables.
    pub tables: T,
}

/// An episode's place on an instance, from the set-up of its task until all of it is removed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Visit {
    /// The address of the instance, such as `https://desk.test`, without a slash behind.
    pub address: String,
    /// The path of the page that the task begins on.
    pub start: String,
    /// The user who does the task.
    pub user: User,
    /// The records that were made for the task: tables, and the `sys_id` of a record in each.
    pub made: Vec<(String, String)>,
}

/// A user of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// The text that is typed as the name.
    pub name: String,
    /// The text that is typed as the password.
    pub password: String,
    /// The user's record.
    pub sys_id: String,
}
