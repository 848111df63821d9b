//! `sandbox confined`: what a scorer's program is started by, in a network of its own. Not for
//! people.

use std::path::PathBuf;
use std::process::ExitCode;

use camino::Utf8PathBuf;

/// Run a program whose network is one proxy behind a Unix socket
#[derive(clap::Args)]
pub(crate) struct Confined {
    /// The socket
    #[arg(long)]
    socket: PathBuf,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Confined {
    /// Ends as the program does.
    pub(crate) fn run(self) -> ExitCode {
        ExitCode::from(processes::confined::run(&self.socket, &self.words))
    }
}

/// This executable, by which runs start it.
pub(crate) fn helper() -> Option<Utf8PathBuf> {
    Utf8PathBuf::from_path_buf(std::env::current_exe().ok()?).ok()
}
