//! Where Python's behaviour decides a score: its JSON, numbers, `repr`, text methods, URL and HTML functions.
//!
//! The reference scorers are Python 3.11; what differs from the obvious Rust call is written out here.

pub(super) mod ascii;
mod ascii_tables;
pub(super) mod character;
pub(super) mod float;
pub(super) mod html;
pub(super) mod int;
pub(super) mod json;
pub(super) mod pattern;
mod repr;
pub(super) mod text;
pub(super) mod unicode_escape;
pub(super) mod url;
mod value;

pub(super) use value::{Dict, Value};
