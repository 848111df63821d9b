//! Drivers run instances: as containers, as processes, as embedded applications, or on an external
//! machine.
//!
//! A [`Driver`] starts instances of one site. An [`InstanceRuntime`] is the running part of an
//! instance, without its state and its clock. Only the pool decides which instances exist, and when
//! they start and stop.

pub(crate) mod body;
pub(crate) mod container;
mod containers;
pub(crate) mod docker;
pub(crate) mod embedded;
pub(crate) mod external;
mod leftovers;
mod members;
pub(crate) mod namespace;
pub(crate) mod process;
pub(crate) mod seccomp;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use tokio::sync::mpsc::Sender;

use crate::Error;
use crate::instance::Instance;

/// Starts instances of one site.
pub(crate) trait Driver: Send + Sync {
    /// Starts an instance, with its clock at the start time and its state golden. The instance may
    /// not respond yet. On failure, partial work is undone.
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Instance, Error>>;

    /// Returns the condition that is missing to start or remove instances, as the text of a wait.
    fn lacks(&self) -> Option<String> {
        None
    }

    /// Waits until nothing is missing.
    fn lacks_nothing(&self) -> BoxFuture<'_, ()> {
        future::ready(()).boxed()
    }

    /// Whether a current failure may be caused by the missing engine, and so does not count against
    /// the site.
    fn is_disturbed(&self) -> bool {
        false
    }
}

/// The running part of an instance. What has no default here is different for each driver. The
/// defaults are those of an instance that is no program of its own.
pub(crate) trait InstanceRuntime: Send + Sync {
    /// Runs a command beside the application. Returns its output if it succeeds.
    fn exec<'a>(
        &'a self,
        command: &'a [String],
        user: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, Error>>;

    /// Waits until it stops running. Returns how it ended: "was killed ...".
    fn ended(&self) -> BoxFuture<'_, String> {
        future::pending().boxed()
    }

    /// Returns how it ended, if it has. Called just before an instance is used.
    fn fault(&self) -> BoxFuture<'_, Option<String>> {
        future::ready(self.ended().now_or_never()).boxed()
    }

    /// Whether its first process is ending, as the system says, where it is on this machine.
    /// [`InstanceRuntime::ended`] follows a moment later.
    fn is_exiting(&self) -> bool {
        false
    }

    /// Called when the instance has just become ready. Records what exists outside the state, as
    /// the target of later restores.
    fn settle(&self) -> BoxFuture<'_, ()> {
        future::ready(()).boxed()
    }

    /// Restores what exists outside the state. Returns what cannot be restored.
    fn put_back(&self) -> BoxFuture<'_, Result<Option<String>, Error>> {
        future::ready(Ok(None)).boxed()
    }

    /// The last lines of its output.
    fn log(&self, _lines: usize) -> BoxFuture<'_, Vec<String>> {
        future::ready(Vec::new()).boxed()
    }

    /// Sends the last `lines` lines of output (or all) and every new line, until it ends or the
    /// receiver is dropped.
    fn follow(&self, _lines: Option<usize>, _tell: Sender<String>) -> BoxFuture<'_, ()> {
        future::ready(()).boxed()
    }

    /// The memory that it uses in bytes, if known.
    fn memory(&self) -> BoxFuture<'_, Option<u64>> {
        future::ready(None).boxed()
    }

    /// Stops it and removes everything that belongs to it.
    fn stop(&self) -> BoxFuture<'_, Result<(), Error>>;
}

/// The answer to a command for an instance that runs none.
fn refuse<'a>(command: &[String], why: &str) -> BoxFuture<'a, Result<String, Error>> {
    let doing = format!("run {}", command.join(" "));
    future::ready(Err(Error::Refused { doing, why: why.to_owned() })).boxed()
}
