//! What can go wrong with a browser. Texts read after "failed to ...".

use std::{io, time::Duration};

/// A failure of the browser or of its remote control; what a page refuses to an agent is an [`crate::ActionError`] instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program is not installed.
    #[error("find {program}; install it with `{install}`")]
    Missing {
        /// What was looked for.
        program: &'static str,
        /// The command that installs it.
        install: &'static str,
    },
    /// A window was asked for, and there is nowhere to show it.
    #[error(
        "show a window: neither DISPLAY nor WAYLAND_DISPLAY names a display; run it in a desktop session, through `ssh -X`, or after `xvfb-run`"
    )]
    NoDisplay,
    /// A program is there but does not start.
    #[error("start {program}: {source}")]
    Spawn {
        /// The program's path.
        program: String,
        /// Why the system refused.
        source: io::Error,
    },
    /// The folder of the profile could not be made.
    #[error("make a profile folder: {0}")]
    Profile(#[source] io::Error),
    /// The driver refused to open a session.
    #[error("open a session with chromedriver: {reason}")]
    Session {
        /// The driver's words.
        reason: String,
    },
    /// The DevTools socket could not be opened.
    #[error("connect to the browser's DevTools socket at {url}: {reason}")]
    Connect {
        /// The socket's address.
        url: String,
        /// Why it failed.
        reason: String,
    },
    /// The browser went away.
    #[error("reach the browser: it has closed the connection while `{waiting_for}` was under way")]
    Gone {
        /// What was asked of it.
        waiting_for: String,
    },
    /// The browser refused a command.
    #[error("carry out `{method}` in the browser: {message} ({code})")]
    Refused {
        /// The DevTools method.
        method: String,
        /// The error number of the protocol.
        code: i64,
        /// The browser's words.
        message: String,
    },
    /// An answer or event did not have the expected shape.
    #[error("understand the browser: `{method}` came without {field}")]
    Shape {
        /// The DevTools method.
        method: &'static str,
        /// What was missing.
        field: &'static str,
    },
    /// A script of ours threw.
    #[error("run a script in the page: {message}")]
    Script {
        /// The exception's text.
        message: String,
    },
    /// A wait ended without its condition. `waited` is the deadline that passed.
    #[error("wait for {condition} within {waited:?}")]
    Deadline {
        /// What did not happen.
        condition: String,
        /// How long it was given.
        waited: Duration,
    },
    /// The gateway was not quiet in time.
    #[error(transparent)]
    Network(#[from] gateway::NotQuiet),
    /// A process that Chromium needs has ended, and with it what was on its way.
    #[error("go on: the process of Chromium's {what} has ended")]
    ServiceEnded {
        /// `network`, `storage` or `graphics`.
        what: &'static str,
    },
    /// A page or worker did not take the world's clock, randomness or device, and has those of the
    /// machine.
    #[error("give {what} the clock, the randomness and the device of the world: {reason}")]
    NotPrepared {
        /// `a page`, or the worker's address.
        what: String,
        /// What the browser or the script said.
        reason: String,
    },
    /// The page crashed, or every page was closed.
    #[error("find an open page: {reason}")]
    NoPage {
        /// What became of the last one.
        reason: &'static str,
    },
}
