//! Everything that can go wrong with a site. The texts read after "failed to".

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::state::StateError;

/// Why a site could not be started, leased, asked, put back or stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no container engine to talk to.
    #[error(transparent)]
    Engine(#[from] images::engine::Error),
    /// The engine refused, or the connection to it broke.
    #[error("{doing}: {why}")]
    Refused {
        /// What was being done.
        doing: String,
        /// The engine's words.
        why: String,
    },
    /// The engine does not answer any more.
    #[error("reach the container engine at {host}, which does not answer ({why})")]
    EngineGone {
        /// Where it listened.
        host: String,
        /// What was seen instead.
        why: String,
    },
    /// The engine works in a way that we cannot use.
    #[error("run containers with the engine at {host}: {why}")]
    Unsupported {
        /// Where the engine listens.
        host: String,
        /// What it lacks.
        why: &'static str,
    },
    /// The engine does not have the image.
    #[error(
        "start {site}: there is no image {image}; make it with `sandbox build`, or get it with `sandbox pull` or `sandbox load`"
    )]
    NoImage {
        /// The site.
        site: String,
        /// Its image.
        image: String,
    },
    /// A file could not be read or written, or a program not be started.
    #[error("{doing} {path}: {source}")]
    Io {
        /// "read", "write", "run", ...
        doing: &'static str,
        /// The file, folder or program.
        path: Utf8PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The state of an instance could not be copied, put back or read.
    #[error(transparent)]
    State(#[from] StateError),
    /// A built-in application failed.
    #[error(transparent)]
    Embedded(#[from] embedded::Error),
    /// A manifest asks for what is not there.
    #[error("start {site}: {why}")]
    Senseless {
        /// The site.
        site: String,
        /// What is wrong.
        why: String,
    },
    /// A folder that a manifest wants from the user is not there.
    #[error("start {site}: {manifest}: {key}: {why}")]
    Volume {
        /// The site.
        site: String,
        /// Its manifest.
        manifest: Utf8PathBuf,
        /// Where in it the folder is named.
        key: String,
        /// What is wrong, and the cure.
        why: String,
    },
    /// No site has this name.
    #[error(
        "find the site {name:?}{}; there are: {}",
        suggestions::did_you_mean(name, known.iter().map(String::as_str)),
        known.join(", ")
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What could have been.
        known: Vec<String>,
    },
    /// An instance runs, but a condition of the manifest did not come true.
    #[error("start {site}: after {} s it still waited for {condition}{}", within.as_secs_f64(), tail(log))]
    NotReady {
        /// The site.
        site: String,
        /// How long was waited.
        within: Duration,
        /// The condition's name, and what was seen instead.
        condition: String,
        /// The last lines that the instance printed.
        log: Vec<String>,
    },
    /// An instance ended by itself.
    #[error("keep {site} running: instance {instance} {why}{}", tail(log))]
    Died {
        /// The site.
        site: String,
        /// Which instance.
        instance: u32,
        /// How it ended.
        why: String,
        /// The last lines that the instance printed.
        log: Vec<String>,
    },
    /// A site was given up.
    #[error("use {site}, which failed {times} times in a row: failed to {last}")]
    GivenUp {
        /// The site.
        site: String,
        /// How often an instance failed.
        times: u32,
        /// How the last one did.
        last: Arc<Error>,
    },
    /// The state of a fresh instance is not the golden one.
    #[error("start {site}: {difference} in the state of a fresh instance, and a reset does not put it back")]
    Drift {
        /// The site.
        site: String,
        /// The first file that differs.
        difference: String,
    },
    /// What several have to hear of.
    #[error(transparent)]
    Shared(Arc<Error>),
    /// A site's interface for programs gave no answer.
    #[error("ask {site} as {account} for {what}: {why}")]
    Call {
        /// The site.
        site: String,
        /// The account of its manifest.
        account: String,
        /// Method and path.
        what: String,
        /// What is wrong.
        why: String,
    },
    /// Not every site is ready.
    #[error("{}: {}", if *in_time { "start every site".to_owned() } else { format!("start every site within {} s", within.as_secs_f64()) }, list(late))]
    Unready {
        /// How long was waited at most.
        within: Duration,
        /// Whether the others were ready before that.
        in_time: bool,
        /// Each site that is not ready, with what it waits for or failed of.
        late: Vec<(String, String)>,
    },
    /// A wait took too long.
    #[error("wait {} s for {condition}", within.as_secs_f64())]
    Deadline {
        /// How long was waited.
        within: Duration,
        /// What for.
        condition: String,
    },
    /// An account did not get in.
    #[error("log {account} in to {site}: {why}")]
    Login {
        /// The site.
        site: String,
        /// The account's name in the manifest.
        account: String,
        /// What happened instead.
        why: String,
    },
    /// A probe has no answer.
    #[error("ask the probe {probe} of {site}: {why}")]
    Probe {
        /// The site.
        site: String,
        /// The probe.
        probe: String,
        /// Why.
        why: String,
    },
    /// What has been stopped was asked for something.
    #[error("use {0}: it has been stopped")]
    Stopped(String),
}

fn tail(log: &[String]) -> String {
    if log.is_empty() { String::new() } else { format!("; its last words:\n  {}", log.join("\n  ")) }
}

fn list(late: &[(String, String)]) -> String {
    late.iter().map(|(site, why)| format!("{site} {why}")).collect::<Vec<_>>().join("; ")
}

impl Error {
    /// What the user can do about it, where that is one thing.
    pub fn cure(&self) -> Option<&'static str> {
        match self {
            Error::Engine(error) => Some(error.cure()),
            Error::EngineGone { .. } => Some("start it again, and the sites come up by themselves"),
            Error::GivenUp { last, .. } | Error::Shared(last) => last.cure(),
            _ => None,
        }
    }

    /// Whether the engine is at fault, which does not answer.
    pub fn is_gone(&self) -> bool {
        match self {
            Error::EngineGone { .. } => true,
            Error::Shared(error) => error.is_gone(),
            _ => false,
        }
    }

    /// Whether trying again cannot help.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Error::NoImage { .. }
            | Error::Senseless { .. }
            | Error::Volume { .. }
            | Error::Unsupported { .. }
            | Error::Stopped(_) => true,
            Error::Shared(error) => error.is_final(),
            _ => false,
        }
    }

    pub(crate) fn of_file(doing: &'static str, path: &Utf8Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// What to do with an error of the engine's API that came up while `doing` something.
    pub(crate) fn of_engine(doing: impl Into<String>) -> impl FnOnce(bollard::errors::Error) -> Error {
        let doing = doing.into();
        move |error| {
            let why = match &error {
                bollard::errors::Error::DockerResponseServerError { message, .. } => message.clone(),
                other => error_text::with_causes(other),
            };
            Error::Refused { doing, why }
        }
    }
}
