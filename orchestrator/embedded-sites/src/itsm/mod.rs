//! A service desk: lists and forms of records, a catalogue, articles, reports and dashboards.
//!
//! It has the addresses, element names and interfaces that the package `browsergym-workarena`
//! expects of its platform, with our own look, words and base data.
#![allow(dead_code)] // while it is being built

mod schema;
mod seed;
