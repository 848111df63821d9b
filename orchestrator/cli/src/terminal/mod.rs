//! What the program says on a terminal or into a file, and what it hears from one.

#[macro_use]
pub(crate) mod out;
pub(crate) mod board;
pub(crate) mod clean;
pub(crate) mod color;
pub(crate) mod help;
pub(crate) mod interrupt;
pub(crate) mod logging;
pub(crate) mod progress;
