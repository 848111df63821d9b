//! Annotation: a person shows in a browser how a task is done, and it becomes a task.
//!
//! ```text
//! browser --- events ---> capture ---> draft <--- edits --- panel (a page on loopback)
//!                                        |
//!                      journal on disk <-+-> checks, and on "save" the writer
//! ```
//!
//! A draft grows by one step for each thing that the person does. In the panel the person writes
//! the goal, mends steps and marks key nodes. Every change is on disk before the panel shows it, so
//! that an annotation that was interrupted or killed goes on where it was. Saving writes a task of
//! a suite, its solution, pictures of its steps, and the task in Mind2Web-Live's own form.
//!
//! *Invariants:* What a password field holds is never stored. Nothing that exists is overwritten
//! but the task that is edited. The panel answers only who knows its address.

mod begin;
mod capture;
mod draft;
mod error;
mod new_draft;
mod panel;
mod session;
mod web;
mod workbench;
mod write;

pub use begin::{copy_snapshots, resumed};
pub use draft::journal::Journal;
pub use draft::{Draft, DraftOptions, Source};
pub use error::Error;
pub use new_draft::NewDraft;
pub use panel::Panel;
pub use session::{Annotation, Ending, FirstPage};
pub use web::{LiveOptions, TaskWorld, Web};
pub use workbench::{Status, Workbench};
pub use write::existing::load;
pub use write::{SaveReport, TaskFolder, save};
