//! Tests of the forum, as a browser and an evaluator see it.

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
