//! The service desk: its interface for programs, and its pages as a browser asks for them.

mod catalogue;
mod charts;
mod forms;
mod interface;
mod knowledge;
mod lists;
mod visitor;
