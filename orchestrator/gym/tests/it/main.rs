//! Gyms from outside: one with a browser that is not there, and balancers before gyms that are not.

mod balancer;
#[path = "../../../play/tests/it/fake.rs"]
mod fake;
mod server;
