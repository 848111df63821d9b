//! `sandbox own-network`: what browsers and their drivers are started by, in a network of their
//! own. Not for people.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use processes::{NOT_STARTED, own_network};

/// Run a program in a network namespace with one listener, which is sent over standard input
#[derive(clap::Args)]
pub(crate) struct OwnNetwork {
    /// Leave root its capabilities
    #[arg(long)]
    keep_rights: bool,
    /// Stay, and connect to this port of the program for whoever asks over standard input
    #[arg(long, value_name = "PORT", requires = "ready", conflicts_with = "keep_rights")]
    serve: Option<u16>,
    /// What the program prints once the port is open
    #[arg(long, value_name = "TEXT", requires = "serve")]
    ready: Option<String>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl OwnNetwork {
    /// Becomes the program, or has it as a child.
    pub(crate) fn run(self) -> ExitCode {
        let ended = match (self.serve, &self.ready) {
            (Some(port), Some(ready)) => own_network::server::serve(port, ready, &self.words),
            _ => self.become_program(),
        };
        match ended {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("failed to start in a network of its own: {error}");
                ExitCode::from(NOT_STARTED)
            }
        }
    }

    fn become_program(&self) -> io::Result<()> {
        let ended =
            own_network::become_program(self.keep_rights, &self.words, browser::deny_netlink);
        let Err(error) = ended;
        Err(error)
    }
}
