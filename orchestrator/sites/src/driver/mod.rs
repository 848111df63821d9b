//! What runs instances: containers, processes, applications of our own, or somebody else's machine.
//!
//! A [`Driver`] starts instances of one site; a [`Machine`] is the running part of an instance,
//! apart from its state and its clock. Which instances there are, and when they come and go, is
//! decided by the pool alone.

mod body;
pub(crate) mod container;
mod containers;
pub(crate) mod docker;
pub(crate) mod embedded;
pub(crate) mod external;
mod leftovers;
pub(crate) mod process;
mod seccomp;

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use tokio::sync::mpsc::Sender;

use crate::Error;
use crate::instance::Instance;

/// Starts instances of one site.
pub(crate) trait Driver: Send + Sync {
    /// Starts one, with its clock at the beginning and its state golden. It may not answer yet.
    /// What was begun is undone when this fails.
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Instance, Error>>;

    /// What instances cannot be started or removed without at the moment, as a condition that is
    /// waited for.
    fn lacks(&self) -> Option<String> {
        None
    }

    /// Waits until it is there.
    fn lacks_nothing(&self) -> BoxFuture<'_, ()> {
        future::ready(()).boxed()
    }

    /// Whether what fails now may have failed because of that, and does not speak against the site.
    fn is_disturbed(&self) -> bool {
        false
    }
}

/// What of an instance runs.
pub(crate) trait Machine: Send + Sync {
    /// Runs a command beside the application; what it printed, where it succeeds.
    fn exec<'a>(
        &'a self,
        command: &'a [String],
        user: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, Error>>;

    /// Waits until it runs no longer, and says how it ended: "was killed ...".
    fn ended(&self) -> BoxFuture<'_, String>;

    /// How it ended, if it has; asked for when it is about to be used.
    fn fault(&self) -> BoxFuture<'_, Option<String>> {
        future::ready(self.ended().now_or_never()).boxed()
    }

    /// It has just become ready: what it has now beside its state is what it is put back to.
    fn settle(&self) -> BoxFuture<'_, ()> {
        future::ready(()).boxed()
    }

    /// Puts back what it has beside its state; what of it cannot be put back.
    fn put_back(&self) -> BoxFuture<'_, Result<Option<String>, Error>> {
        future::ready(Ok(None)).boxed()
    }

    /// The last lines that it printed.
    fn log(&self, lines: usize) -> BoxFuture<'_, Vec<String>>;

    /// Tells every line that it has printed (the last so many, or all) and will print, until it
    /// ends or nobody listens.
    fn follow(&self, lines: Option<usize>, tell: Sender<String>) -> BoxFuture<'_, ()>;

    /// The bytes of memory that it occupies, where they can be told.
    fn memory(&self) -> BoxFuture<'_, Option<u64>>;

    /// Ends it and removes all that is its own.
    fn stop(&self) -> BoxFuture<'_, Result<(), Error>>;
}
