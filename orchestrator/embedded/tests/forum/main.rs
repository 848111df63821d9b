//! The forum as a browser and an evaluator see it: requests in, pages and rows out.

#![allow(clippy::unwrap_used)] // a test that cannot go on says so

mod forums;
mod golden;
mod hostile;
mod locators;
mod manifest;
mod page;
mod people;
mod reset;
mod talk;
mod visitor;
