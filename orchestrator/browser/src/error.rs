//! The failures of a browser. Their texts read after "failed to ...".

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// A failure of the browser or of its remote control. What a page refuses to an agent is an
/// `ActionError` instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program is not installed.
    #[error("find {program}; install it with `{install}`")]
    Missing {
        /// The program.
        program: &'static str,
        /// The command that installs it.
        install: &'static str,
    },
    /// A variable names a program that is not there.
    #[error("find {}, which {variable} names; name a program, or unset the variable", path.display())]
    Misnamed {
        /// The environment variable.
        variable: &'static str,
        /// The path that it names.
        path: PathBuf,
    },
    /// A window was wanted, and there is no display to show it.
    #[error(
        "show a window: neither DISPLAY nor WAYLAND_DISPLAY names a display; run it in a desktop session, through `ssh -X`, or after `xvfb-run`"
    )]
    NoDisplay,
    /// A program exists but does not start.
    #[error("start {program}: {source}")]
    Spawn {
        /// The program's path.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The profile folder could not be created.
    #[error("create a profile folder: {0}")]
    Profile(#[source] io::Error),
    /// Chromium ended before it answered, or cannot be used.
    #[error("start the browser: {reason}")]
    Session {
        /// Its last words, or the reason.
        reason: String,
    },
    /// WebDriver clients cannot be served.
    #[error("serve WebDriver clients: {reason}")]
    WebDriver {
        /// The part that failed.
        reason: String,
    },
    /// This machine gives no network namespace, in which alone chromedriver may run.
    #[error(
        "serve WebDriver clients: chromedriver needs a network namespace of its own, which this machine does not give: {reason}; allow users to have namespaces, or drive the browser over its DevTools address"
    )]
    NoNetwork {
        /// The system's reason.
        reason: String,
    },
    /// The pipes to and from the browser could not be used.
    #[error("use the browser's pipes: {0}")]
    Pipe(#[source] io::Error),
    /// The browser closed the connection.
    #[error("reach the browser: it closed the connection during `{waiting_for}`")]
    Gone {
        /// The command or condition that was waited for.
        waiting_for: String,
    },
    /// The browser refused a command.
    #[error("carry out `{method}` in the browser: {message} ({code})")]
    Refused {
        /// The DevTools method.
        method: String,
        /// The error number of the protocol.
        code: i64,
        /// The browser's text.
        message: String,
    },
    /// A reply or event did not have the expected shape.
    #[error("read the browser's reply: `{method}` came without {field}")]
    Shape {
        /// The DevTools method.
        method: &'static str,
        /// The missing field.
        field: &'static str,
    },
    /// One of our scripts threw an exception.
    #[error("run a script in the page: {message}")]
    Script {
        /// The text of the exception.
        message: String,
    },
    /// A wait ended without its condition. `waited` is the deadline that passed.
    #[error("wait for {condition} within {waited:?}")]
    Deadline {
        /// The condition that did not come true.
        condition: String,
        /// The deadline.
        waited: Duration,
    },
    /// The gateway was still busy at the deadline.
    #[error(transparent)]
    Network(#[from] in_flight::NotIdle),
    /// A process that Chromium needs has ended, and its pending work is lost.
    #[error("use the browser: its {what} process has ended")]
    ServiceEnded {
        /// `network`, `storage` or `graphics`.
        what: &'static str,
    },
    /// A page or worker did not take the world's clock, randomness or device. It has those of the
    /// machine.
    #[error("apply the world's clock, randomness and device to {what}: {reason}")]
    NotPrepared {
        /// `a page`, or the worker's URL.
        what: String,
        /// The error of the browser or of the script.
        reason: String,
    },
    /// A page's clock has left its schedule, so that it would show another time in each run.
    #[error(
        "keep the page on its schedule: its clock shows {shown} ms since the start of the world, and {planned} ms were planned"
    )]
    OffSchedule {
        /// The time of the page's clock, in milliseconds since the start of the world.
        shown: u64,
        /// The planned time.
        planned: u64,
    },
    /// The page crashed, or every page was closed.
    #[error("find an open page: {reason}")]
    NoPage {
        /// The end of the last page.
        reason: &'static str,
    },
}
