//! Sites that live in our own process: no container, no network, no system clock.
//!
//! Three sites are here: [`forum`], shaped like Postmill, [`desk`], the town's front page with a calculator, a
//! scratchpad and manuals, and [`turkingbench`], which shows the tasks of a folder in TurkingBench's form. All are the same thing underneath, a [`SiteCopy`]: an axum router over one SQLite
//! database in memory that was copied from a [`Golden`] one.
//!
//! ```text
//! Golden::open(folder)     golden databases on disk, generated once, the same bytes every time
//!   |- forum::start   -.
//!   |- turkingbench::start   -|
//!   `- desk::start    -+-> SiteCopy   router()  what a browser reaches
//!                          |          reset()   the golden pages are put back by SQLite's online backup
//!                          |          digest()  over every row of every table
//!                          `          query()   read-only SQL for scorers
//! ```
//!
//! A life: `golden -> copied -> (visited -> reset)*`. Log-ins are signed cookies and outlive a reset; everything else a
//! visitor does is in the database and goes with it. Time comes from the [`Clock`] that the caller hands in, randomness
//! from fixed seeds, so the same requests under the same clock give the same bytes on every copy.
//!
//! [`forum::open`] is the same forum over a database file, for a process of its own: `images/forum` is that one.
//!
//! [`Files`] is a site without a database: a folder of the user's, read and never written, with nothing to put back.
//!
//! The crate knows nothing of gateways, Docker or tasks; what a page links to is on the page's own site, always.

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
pub mod turkingbench;

pub use clock::Clock;
pub use copy::{Options, SiteCopy};
pub use error::Error;
pub use files::Files;
pub use golden::Golden;
pub use store::Digest;
