//! The service desk: its interface for programs, and its pages as a browser asks for them.

mod forms;
mod interface;
mod lists;
mod visitor;
