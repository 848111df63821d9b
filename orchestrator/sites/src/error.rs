//! All errors of sites. The messages read after "failed to".

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::state::StateError;

/// An error of an operation on a site: start, lease, request, reset or stop.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No usable container engine was found.
    #[error(transparent)]
    Engine(#[from] container_images::engine::Error),
    /// The engine returned an error, or the connection to it broke.
    #[error("{doing}: {why}")]
    Refused {
        /// The operation.
        doing: String,
        /// The engine's message.
        why: String,
    },
    /// The engine does not respond any more.
    #[error("reach the container engine at {host}, which does not answer ({why})")]
    EngineGone {
        /// The endpoint that it listened on.
        host: String,
        /// The observation instead.
        why: String,
    },
    /// The engine has a configuration that we cannot use.
    #[error("run containers with the engine at {host}: {why}")]
    Unsupported {
        /// The endpoint that it listens on.
        host: String,
        /// The missing capability.
        why: String,
    },
    /// The engine does not have the image.
    #[error(
        "start {site}: there is no image {image}; make it with `sandbox images build`, or get it with `sandbox images pull` or `sandbox images load`"
    )]
    NoImage {
        /// The site.
        site: String,
        /// Its image.
        image: String,
    },
    /// A file could not be read or written, or a program could not be started.
    #[error("{doing} {path}: {source}")]
    Io {
        /// "read", "write", "run", ...
        doing: &'static str,
        /// The file, folder or program.
        path: Utf8PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The state of an instance could not be copied, restored or read.
    #[error(transparent)]
    State(#[from] StateError),
    /// A built-in application failed.
    #[error(transparent)]
    Embedded(#[from] embedded_sites::Error),
    /// A manifest refers to something that does not exist.
    #[error("start {site}: {why}")]
    Senseless {
        /// The site.
        site: String,
        /// The problem.
        why: String,
    },
    /// A volume folder that the user must supply does not exist.
    #[error("start {site}: {manifest}: {key}: {why}")]
    Volume {
        /// The site.
        site: String,
        /// Its manifest.
        manifest: Utf8PathBuf,
        /// The key that names the folder.
        key: String,
        /// The problem, and how to fix it.
        why: String,
    },
    /// A manifest takes a variable that its user has not given.
    #[error("start {site}: {manifest}: {why}")]
    Variable {
        /// The site.
        site: String,
        /// Its manifest.
        manifest: Utf8PathBuf,
        /// The key, the variable, and the flag that gives it.
        why: String,
    },
    /// No site has this name.
    #[error(
        "find the site {name:?}{}; there are: {}",
        suggestions::did_you_mean(name, known.iter().map(String::as_str)),
        known.join(", ")
    )]
    Unknown {
        /// The requested name.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// An instance runs, but a condition of the manifest did not become true.
    #[error("start {site}: after {} s it still waited for {condition}{}", within.as_secs_f64(), tail(log))]
    NotReady {
        /// The site.
        site: String,
        /// The timeout.
        within: Duration,
        /// The name of the condition, and what was observed instead.
        condition: String,
        /// The last lines of the instance's output.
        log: Vec<String>,
    },
    /// An instance ended unexpectedly.
    #[error("keep {site} running: instance {instance} {why}{}", tail(log))]
    Died {
        /// The site.
        site: String,
        /// The number of the instance.
        instance: u32,
        /// The way it ended.
        why: String,
        /// The last lines of the instance's output.
        log: Vec<String>,
    },
    /// A site was given up.
    #[error("use {site}, which failed {times} times in a row: failed to {last}")]
    GivenUp {
        /// The site.
        site: String,
        /// How often an instance failed.
        times: u32,
        /// The last failure.
        last: Arc<Error>,
    },
    /// The state of a fresh instance differs from the golden state.
    #[error(
        "start {site}: {difference} in the state of a fresh instance, and a reset does not put it back"
    )]
    Drift {
        /// The site.
        site: String,
        /// The first file that differs.
        difference: String,
    },
    /// An error that several receivers share.
    #[error(transparent)]
    Shared(Arc<Error>),
    /// A call of a site's API failed.
    #[error("ask {site} as {account} for {what}: {why}")]
    Call {
        /// The site.
        site: String,
        /// The account in the site's manifest.
        account: String,
        /// Method and path.
        what: String,
        /// The problem.
        why: String,
    },
    /// Not every site is ready.
    #[error("{}: {}", if *in_time { "start every site".to_owned() } else { format!("start every site within {} s", within.as_secs_f64()) }, list(late))]
    Unready {
        /// The timeout.
        within: Duration,
        /// Whether the other sites became ready in time.
        in_time: bool,
        /// Each site that is not ready, with the condition it waits for or its failure.
        late: Vec<(String, String)>,
    },
    /// A wait timed out.
    #[error("wait {} s for {condition}", within.as_secs_f64())]
    Deadline {
        /// The timeout.
        within: Duration,
        /// The condition that did not become true.
        condition: String,
    },
    /// A log-in failed.
    #[error("log {account} in to {site}: {why}")]
    Login {
        /// The site.
        site: String,
        /// The account's name in the manifest.
        account: String,
        /// The observation instead.
        why: String,
    },
    /// A probe was not asked, or the site gives no answer at all.
    #[error("ask the probe {probe} of {site}: {why}")]
    Probe {
        /// The site.
        site: String,
        /// The probe.
        probe: String,
        /// The reason.
        why: String,
    },
    /// The site answers a probe with something else than a value: what was done there can be the
    /// cause.
    #[error("ask the probe {probe} of {site}: {why}")]
    ProbeAnswer {
        /// The site.
        site: String,
        /// The probe.
        probe: String,
        /// The reason.
        why: String,
    },
    /// An operation on something that was stopped.
    #[error("use {0}: it has been stopped")]
    Stopped(String),
}

fn tail(log: &[String]) -> String {
    if log.is_empty() {
        String::new()
    } else {
        format!("; its last words:\n  {}", log.join("\n  "))
    }
}

fn list(late: &[(String, String)]) -> String {
    late.iter().map(|(site, why)| format!("{site} {why}")).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// Returns advice for the user, if there is a single fix.
    pub fn cure(&self) -> Option<&'static str> {
        match self {
            Error::Engine(error) => Some(error.cure()),
            Error::EngineGone { .. } => Some("start it again, and the sites come up by themselves"),
            Error::GivenUp { last, .. } | Error::Shared(last) => last.cure(),
            _ => None,
        }
    }

    /// Whether the cause is a container engine that does not respond.
    pub fn is_gone(&self) -> bool {
        match self {
            Error::EngineGone { .. } => true,
            Error::Shared(error) => error.is_gone(),
            _ => false,
        }
    }

    /// Whether a retry cannot help.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Error::NoImage { .. }
            | Error::Senseless { .. }
            | Error::Variable { .. }
            | Error::Volume { .. }
            | Error::Unsupported { .. }
            | Error::Stopped(_) => true,
            Error::Shared(error) => error.is_final(),
            _ => false,
        }
    }

    pub(crate) fn of_file(
        doing: &'static str,
        path: &Utf8Path,
    ) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// Converts an error of the engine's API that occurred while `doing` something.
    pub(crate) fn of_engine(
        doing: impl Into<String>,
    ) -> impl FnOnce(bollard::errors::Error) -> Error {
        let doing = doing.into();
        move |error| {
            let why = match &error {
                bollard::errors::Error::DockerResponseServerError { message, .. } => {
                    message.clone()
                }
                other => error_text::with_causes(other),
            };
            Error::Refused { doing, why }
        }
    }
}
