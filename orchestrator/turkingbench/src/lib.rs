//! A reader for tasks of TurkingBench. Each task is a folder with the page that workers saw
//! (`template.html`) and a table of inputs and answers (`batch.csv`).
//!
//! ```text
//! Folder::open -> Task::template ---------------------.
//!              `-> Task::batch -> Batch: instances -- page(template, inputs)  what a browser shows
//!                                                `- golds             what answers are compared with
//! ```
//!
//! Rows with equal inputs are answers of several workers to one instance. Cells are parsed as
//! pandas parses them, because the benchmark uses pandas to fill in and compare pages.
//!
//! This crate only reads files. It does not score or serve.

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
