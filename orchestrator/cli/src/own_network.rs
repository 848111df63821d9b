//! `sandbox own-network`: what a browser is started by, in a network of its own. Not for people.

use std::ffi::OsString;
use std::process::ExitCode;

/// Run a program in a network namespace with one listener, which is sent over standard input
#[derive(clap::Args)]
pub(crate) struct OwnNetwork {
    /// Leave root its capabilities
    #[arg(long)]
    keep_rights: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl OwnNetwork {
    /// Becomes the program.
    pub(crate) fn run(self) -> ExitCode {
        let ended =
            processes::own_network::become_program(self.keep_rights, &self.words, browser::deny_netlink);
        let Err(error) = ended;
        eprintln!("failed to start in a network of its own: {error}");
        ExitCode::from(processes::NOT_STARTED)
    }
}
