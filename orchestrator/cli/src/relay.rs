//! `sandbox relay`: what leads connections into a container of a rootless engine. Not for people.

use std::process::ExitCode;

/// Lead connections of the listener on standard input to a port of a container
#[derive(clap::Args)]
pub(crate) struct Relay {
    /// The container's first process
    process: String,
    /// The port
    port: u16,
}

impl Relay {
    /// Ends when whoever started it does.
    pub(crate) fn run(self) -> ExitCode {
        sites::relay::run(&self.process, self.port)
    }
}
