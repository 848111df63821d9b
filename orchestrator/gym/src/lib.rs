//! Gyms: the tasks of a suite as environments that other programs reset and step over HTTP.
//!
//! ```text
//! client -> balancer -> server -> play (an episode in a world of this machine)
//!              `------> server -> ...
//! ```
//!
//! ```text
//! server/     the gym of one machine (`sandbox gym`)
//! balancer/   one address over many gyms (`sandbox gym balance`)
//! protocol    what both agree on: headers, and names of measurements
//! ```

pub mod balancer;
mod protocol;
pub mod server;
