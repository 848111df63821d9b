//! The demo web from outside: its pages, its wire, and the answers that follow from its data.
#![allow(clippy::unwrap_used)]

mod gold;
mod pages;
mod wire;
