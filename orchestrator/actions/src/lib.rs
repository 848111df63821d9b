//! What an agent can do. [`Dialect`]s parse text into [`Action`]s and write them.
//!
//! Each dialect has a module, which names the published rules that it follows. Nothing here touches
//! a browser: the crate `browser` carries actions out.

mod action;
mod arguments;
mod browsergym;
mod dialect;
mod error;
mod field_selector;
mod json5;
mod python;
mod seeact;
mod turkingbench;
mod webarena;
mod webcanvas;

pub use action::{Action, Button, Modifier, Point, Press};
pub use dialect::{Dialect, UnknownDialect};
pub use error::ParseError;
pub use python::SyntaxError;
pub use seeact::choice_name;
