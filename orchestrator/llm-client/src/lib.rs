//! A client for language models, with cassettes that record and replay their replies.
//!
//! A [`Chat`] is a request for one reply. A [`Model`] looks it up in a [`Cassette`] first. If it is
//! not there, a [`Client`] sends it to an OpenAI-compatible chat completion server, and the
//! cassette records the reply. Without a client nothing leaves the machine, and an unrecorded chat
//! is an error: replies are never guessed.
//!
//! This crate does not know what chats are about. Keys go only to their server. They never appear
//! in errors, logs or cassettes.

mod cassette;
mod chat;
mod client;
mod complaint;
mod error;
mod lenient_json;
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
