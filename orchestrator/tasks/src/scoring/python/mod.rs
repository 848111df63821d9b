//! Where Python's behaviour decides a score: its JSON, `float`, `repr`, text methods and URL functions.
//!
//! The reference scorers are Python 3.11; what differs from the obvious Rust call is written out here.

pub(super) mod float;
pub(super) mod json;
mod repr;
pub(super) mod text;
pub(super) mod url;
mod value;

pub(super) use value::{Dict, Value};
