//! `sandbox relay` and `sandbox begin-site`: what leads connections into the network of a site, and
//! what becomes a site in such a network. Not for people.

use std::process::ExitCode;

/// Lead connections of the listener on standard input to a port of a site
#[derive(clap::Args)]
pub(crate) struct Relay {
    /// The site's first process
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

/// Wait for relays, and become a program
#[derive(clap::Args)]
pub(crate) struct BeginSite {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl BeginSite {
    /// Ends as the program does.
    pub(crate) fn run(self) -> ExitCode {
        sites::relay::begin(&self.words)
    }
}
