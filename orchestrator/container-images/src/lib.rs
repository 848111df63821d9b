//! Container images: builds the folders under `images/`, and pulls, loads and saves images.
//!
//! Each folder is one image: `images/<name>/Dockerfile` becomes `sandbox/<name>:1`. This crate uses
//! only the container engine. It does not run containers of these images.
//!
//! ```text
//!   images/<name>/  ── build ──┐
//!   a registry      ── pull ───┼──>  the engine's store  ── save ──> FILE.tar
//!   FILE.tar        ── load ───┘
//! ```
//!
//! Everything is streamed, so memory use does not depend on the size of an image. Dropping the
//! future of an operation stops it. The engine then removes incomplete results, and a new call can
//! continue.

pub mod archive;
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
mod podman;
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
pub use podman::Podman;
pub use recipe::Recipe;
