//! A real browser that lives in a frozen world.
//!
//! A [`Session`] is a Chromium whose only way out is the gateway, and whose clock and randomness are the world's, not the machine's. It is
//! started by chromedriver (through fantoccini) and moved by the same browser's DevTools socket, because virtual time needs events.
//!
//! ```text
//! launch, flags, process, driver   from settings to a running browser, and its certain end
//! cdp, watch, attach               the DevTools socket; what it tells; preparing each page and worker before its first script
//! inject/, inject                  the scripts that make randomness and clocks repeat
//! clock, settle                    the page's time, slice by slice, until the page is done
//! action, python, act, navigate    what an agent does
//! ```
//!
//! The crate knows nothing of tasks, scores or snapshots, and of the gateway only how busy it is.

mod act;
mod action;
mod attach;
mod axtree;
mod cdp;
mod clock;
mod document;
mod driver;
mod element;
mod error;
mod evaluate;
mod flags;
mod frames;
mod inject;
mod keyboard;
mod keys;
mod launch;
mod navigate;
mod observe;
mod pointer;
mod process;
mod python;
mod session;
mod settle;
mod watch;
pub use act::ActionError;
pub use action::{Action, ParseError};
pub use axtree::Element;
pub use element::Acted;
pub use error::Error;
pub use launch::{CHROMEDRIVER_VARIABLE, CHROMIUM_VARIABLE, Launch, Programs, World};
pub use observe::Observation;
pub use python::SyntaxError;
pub use session::Session;
pub use settle::Settled;
