//! A real browser that lives in a frozen world.
//!
//! A [`Session`] is a Chromium whose only way out is the gateway, and whose clock and randomness are the world's, not the machine's. It is
//! started by chromedriver (through fantoccini) and moved by the same browser's DevTools socket, because virtual time needs events.
//!
//! ```text
//! launch, flags, process, driver, services, session   from settings to a running browser, its episodes, and its certain end
//! cdp, watch, traffic, attach               the DevTools socket; what it tells; what is on its way; preparing each page and worker before its first script
//! inject/, inject                           the scripts that make randomness and clocks repeat
//! turns, idle                               answers of the network, one at a time, each when the page has done with the one before
//! clock, slice, screen, settle              the page's time, slice by slice, and frames in between, until the page is done
//! frames, marks, axtree, snapshot, properties, look, observe  what an agent sees, and the ids that it names elements by
//! node_numbers                              numbers in the raw trees, by the order of the nodes
//! picture, numbers, png                     pictures of it, with ids drawn on them
//! forms/                                    the same as agents of other papers read it; token budgets
//! action, python                            what an agent can do, and how that is spelt
//! act, navigate, element, selector, reach, pointer, scroll, keyboard, keys, closest    doing it
//! dialogs, downloads, upload                what passes between a page and its user besides the page
//! open, devtools                            a browser that other programs drive, and what they may ask of it
//! addresses                                 what is opened, by whomever
//! evaluate, document                        scripts of ours apart from the page's; text, links and digest of a page
//! ```
//!
//! **Invariants.** Only the contexts of episodes know the gateway; Chromium's own requests have no way out at all. (An open browser is the
//! episode's as a whole; there the gateway refuses them like all else that is not of the world.) While nobody settles, a frozen
//! page's time stands still. Nothing that is shown to an agent (ids, texts, order) comes from numbers that the browser makes up.
//!
//! **What does not repeat**: the order of answers that take longer than five seconds; what
//! `crypto.subtle` draws for keys of RSA, for signatures by ECDSA and RSA-PSS and for RSA-OAEP; the
//! names of `blob:` addresses; the keys of WebRTC; media playback; the order of answers where a
//! request needs longer to reach the gateway than the browser needs for twenty others; a page that
//! Chromium insists on giving a process of its own.
//!
//! The crate knows nothing of tasks, scores or snapshots, and of the gateway only how busy it is.

mod act;
mod action;
mod addresses;
mod attach;
mod axtree;
mod axtree_object;
mod cdp;
mod clock;
mod closest;
mod cookies;
mod device;
mod devtools;
mod dialogs;
mod document;
mod downloads;
mod drag;
mod driver;
mod element;
mod error;
mod evaluate;
mod flags;
mod forms;
mod frames;
mod idle;
mod inject;
mod input;
mod interfaces;
mod keyboard;
mod keys;
mod launch;
mod look;
mod marks;
mod navigate;
mod node_numbers;
mod numbers;
mod observe;
mod open;
mod patience;
mod picture;
mod pointer;
mod process;
mod properties;
mod python;
mod reach;
mod screen;
mod scroll;
mod selector;
mod services;
mod session;
mod settle;
mod slice;
mod snapshot;
mod storage;
mod tabs;
mod traffic;
mod turns;
mod upload;
mod watch;
pub use act::ActionError;
pub use action::{Action, Button, Dialect, Modifier, ParseError, Point, Press, UnknownDialect, choice_name};
pub use axtree::{Element, TreeText};
pub use cookies::Cookie;
pub use device::{Device, Geolocation};
pub use dialogs::Dialog;
pub use downloads::Download;
pub use element::Acted;
pub use error::Error;
pub use forms::{
    html::Html,
    prune::PrunedHtml,
    tokens::{count_tokens, truncate},
    turkingbench::Field,
    webarena::WebArena,
};
pub use launch::{CHROMEDRIVER_VARIABLE, CHROMIUM_VARIABLE, Launch, Programs, World};
pub use look::Look;
pub use observe::{Observation, Tab};
pub use picture::{Marks, Picture};
pub use process::end_all;
pub use properties::Properties;
pub use python::SyntaxError;
pub use session::Session;
pub use settle::Settled;
pub use storage::{Entry, OriginState, StorageState, StoredCookie};
