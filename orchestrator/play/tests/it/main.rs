//! Runs from outside: played and served with a browser that is not there, and written by hand to be
//! shown.

mod export;
mod fake;
mod gym;
mod many;
mod report;
mod runs;
mod server;
mod viewer;
mod workarena;
mod written;
