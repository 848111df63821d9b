//! Runs from outside, played with a browser that is not there.

mod fake;
mod listener;
mod runs;
mod workarena;
