//! Container images: how the folders under `images/` become images, and how images come and go as files.
//!
//! One folder is one image: `images/<name>/Dockerfile` becomes `sandbox/<name>:1`. This crate talks to the container
//! engine and to nothing else of ours; what runs in containers made of these images is no business of its.
//!
//! ```text
//!   images/<name>/  ── build ──┐
//!   a registry      ── pull ───┼──>  the engine's store  ── save ──> FILE.tar
//!   FILE.tar        ── load ───┘
//! ```
//!
//! Everything is streamed: the memory it takes does not depend on the size of an image. An operation is stopped by
//! dropping its future; the engine then clears away what it had begun, and the same call goes on from there.

mod bases;
pub mod build;
mod cargo;
mod context;
pub mod engine;
mod error;
mod event;
mod ignore;
pub mod image_lock;
pub mod load;
pub mod lock;
mod log;
mod program;
pub mod pull;
pub mod recipe;
pub mod reference;
pub mod save;
mod wheels;

pub use engine::Engine;
pub use error::Error;
pub use event::{Event, OnEvent};
pub use image_lock::ImageLock;
pub use recipe::Recipe;
