//! A real browser that lives in a frozen world.
//!
//! A [`Session`] is a Chromium whose only way out is the gateway. Its clock and its randomness are
//! the world's, not the machine's. Its DevTools, over two pipes, move it. Nothing of it listens.
//!
//! ```text
//! launch/    from settings to a running browser, and to its certain end
//! session    a browser and its episodes
//! cdp/       the DevTools client: commands, events, and the state of pages, workers and requests
//! inject/    the scripts that make randomness and clocks repeat
//! clock/     the page's time, slice by slice; frames and answers in between; when a page is done
//! trees/     the browser's trees of a page, and the ids by which agents name elements
//! formats/   what other papers' agents see of them
//! observe/   what an agent sees
//! act/       carrying out an action
//! order/     the order of what happens in the pages, for people
//! page/      scripts, text and links, cookies, storage, tabs, addresses
//! capture/   what a person does in the pages
//! attach/    attach mode: a browser that other programs drive, and what they may ask of it
//! ```
//!
//! All events of the browser are taken by `cdp`'s tracker, one after the other, under one lock.
//! `clock`, `observe`, `order` and `act` each keep a part of the state of their own under the same
//! lock. The session puts the parts together, and `cdp` knows none of them.
//!
//! **Invariants.**
//!
//! - Only the contexts of episodes know the gateway; Chromium's own requests have no way out. (In
//!   attach mode the whole browser is the episode's. There the gateway refuses them, like all that
//!   is not part of the world.)
//! - While nobody settles, a frozen page's time stands still.
//! - Nothing that an agent sees (ids, texts, order) comes from numbers that the browser makes up.
//!
//! **What does not repeat:**
//!
//! - the order of responses that take longer than five seconds;
//! - the order of responses if a request needs longer to reach the gateway than the browser needs
//!   for twenty others;
//! - what `crypto.subtle` draws for RSA keys, for ECDSA and RSA-PSS signatures and for RSA-OAEP;
//! - the names of `blob:` URLs;
//! - the keys of WebRTC;
//! - streams of a camera or a canvas, and connections of WebRTC;
//! - events of databases against messages of other processes;
//! - a page that Chromium insists on giving a process of its own.
//!
//! The crate knows nothing of tasks, scores or snapshots, and of the gateway only how busy it is.

mod act;
mod attach;
mod capture;
mod cdp;
mod clock;
mod error;
mod formats;
mod inject;
mod launch;
mod observe;
mod order;
mod page;
mod session;
mod trees;

pub use act::ActionError;
pub use act::element::ActionTarget;
pub use attach::{DevToolsAddress, can_serve_webdriver};
pub use capture::{
    Capture, CaptureEvent, HistoryEntry, InputKind, Password, PendingHistory, PendingPicture,
    PersonInput, PersonTarget, TabHistory, outlined,
};
pub use clock::determinism::Determinism;
pub use clock::settle::SettleOutcome;
pub use error::Error;
pub use launch::fonts::has_fonts;
pub use launch::interfaces::deny_netlink;
pub use launch::process::end_all;
pub use launch::programs::{
    CHROMEDRIVER_VARIABLE, CHROMIUM_SANDBOX_VARIABLE, CHROMIUM_VARIABLE, Programs,
};
pub use launch::settings::Launch;
pub use observation::{
    ConsoleMessage, Dialog, Download, Element, ElementBox, Field, Html, Marks, Observation,
    ObservationOptions, Properties, PrunedHtml, ScreenshotOptions, Tab, TreeText, WebArena,
};
pub use page::survey::{AccessBarrier, Link, LinkKind, SearchForm, Survey};
pub use session::Session;
pub use world_spec::{
    Cookie, Device, Entry, Geolocation, OriginState, Pace, StorageState, StoredCookie,
};
