//! Results from outside: runs that are written by hand, and what is shown of them.

mod export;
mod many;
mod report;
mod server;
mod viewer;
mod written;
