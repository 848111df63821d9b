//! Language models: what is asked of them, how they are reached, and what they have said before.
//!
//! A [`Chat`] is one request for one reply. A [`Model`] answers it from a [`Cassette`], where it stands if it was asked before, and otherwise over
//! the network by a [`Client`] that speaks OpenAI's chat completions; what comes of that is added to the cassette. Without a client nothing
//! leaves the machine, and a chat that was never recorded is an error that says so: never a guess.
//!
//! Nothing here knows what a chat is about. Keys are sent to the server that they are for; they are in no error, no log and no cassette.

mod cassette;
mod chat;
mod client;
mod complaint;
mod connection;
mod error;
mod model;
mod pace;
mod proxy;
mod reading;
mod reply;

pub use cassette::Cassette;
pub use chat::{Chat, ImageUrl, Message, Part, Role, Sampling};
pub use client::{Client, Settings};
pub use error::Error;
pub use model::{Model, ModelReply};
pub use pace::Pace;
pub use proxy::{Proxy, Totals};
pub use reply::{Fault, Price, Reply, Usage, apart};
