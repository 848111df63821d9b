//! Gyms from outside: one with a browser that is not there, and fronts before gyms that are not.

#[path = "../../../play/tests/it/fake.rs"]
mod fake;
mod front;
mod server;
