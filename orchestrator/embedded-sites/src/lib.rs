//! Embedded sites: web applications that run inside our own process, without containers, network or
//! system clock.
//!
//! There are four sites:
//!
//! - [`forum`] imitates Postmill;
//! - [`desk`] lists the running sites, with a calculator, a scratchpad and manuals;
//! - [`turkingbench`] shows the tasks of a folder in TurkingBench's format;
//! - [`itsm`] is a service desk that WorkArena's package takes for its platform.
//!
//! Each running instance of a site is an [`EmbeddedInstance`]: an axum router over a SQLite
//! database in memory. The database is copied from a [`Golden`] one.
//!
//! ```text
//! Golden::open(folder)        golden databases on disk, generated once, always the same bytes
//!   |- forum::start        -.
//!   |- turkingbench::start -|
//!   |- itsm::start        -|
//!   `- desk::start         -+-> EmbeddedInstance   router()  what a browser reaches
//!                              |          reset()   restores the golden pages by an online backup
//!                              |          digest()  over every row of every table
//!                              `          query()   read-only SQL for scorers
//! ```
//!
//! The life cycle of an instance is `golden -> copied -> (visited -> reset)*`. Log-ins are signed
//! cookies and survive a reset. All other changes are in the database and are lost. Time comes from
//! the caller's [`Clock`] and randomness from fixed seeds. So the same requests under the same
//! clock give the same bytes on every instance.
//!
//! [`forum::open`] serves the same forum from a database file, as a separate process;
//! `images/forum` uses it. [`Files`] is a site without a database: a read-only folder of the user.
//!
//! This crate does not depend on gateways, Docker or tasks. Links on a page lead only to the page's
//! own site.

mod clock;
mod copy;
mod dice;
mod error;
mod files;
mod golden;
mod live;
mod markdown;
mod store;
mod web;

pub mod desk;
pub mod forum;
pub mod itsm;
pub mod turkingbench;

pub use clock::Clock;
pub use copy::{EmbeddedInstance, Options, Passwords};
pub use error::Error;
pub use files::Files;
pub use golden::Golden;
pub use store::Digest;
