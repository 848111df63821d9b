//! Tasks in TurkingBench's form: a folder for each, with the page that workers were shown (`template.html`) and the table of what was in it and what
//! they answered (`batch.csv`).
//!
//! ```text
//! Folder::open -> Task::template ---------------------.
//!              `-> Task::batch -> Batch: instances -- page(template, inputs)  what a browser is shown
//!                                                `--- golds                   what its fields are compared with
//! ```
//!
//! Rows with equal inputs are several workers' answers to one instance. Cells are read as pandas reads them, because that is what the benchmark
//! fills its pages with and compares with.
//!
//! Only files are read here; nothing is scored and nothing is served.

mod batch;
mod cell;
mod csv;
mod error;
mod folder;
mod page;
mod parts;

pub use batch::{Batch, Instance};
pub use cell::Cell;
pub use error::Error;
pub use folder::{Folder, Split, Task};
pub use page::page;
pub use parts::{Field, assets, fields, host};
