//! The service desk: its interface for programs, and its pages as a browser asks for them.

mod forms;
mod catalogue;
mod charts;
mod interface;
mod knowledge;
mod lists;
mod visitor;
