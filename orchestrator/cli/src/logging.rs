//! Logs go to stderr, so that stdout holds only what a command reports.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// How much is logged.
#[derive(clap::Args)]
pub(crate) struct Logging {
    /// Log more: -v what is done, -vv every request, -vvv everything. SANDBOX_LOG takes a tracing filter
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
}

impl Logging {
    /// Starts logging for the life of the process.
    pub(crate) fn start(&self) {
        let level = match self.verbose {
            0 => "warn",
            1 => "warn,sandbox=info,runs=info,recorder=info,browser=info,gateway=info,snapshots=info",
            2 => "info,sandbox=debug,runs=debug,recorder=debug,browser=debug,gateway=debug,snapshots=debug",
            _ => "trace",
        };
        let filter = EnvFilter::try_from_env("SANDBOX_LOG").unwrap_or_else(|_| EnvFilter::new(level));
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .with_target(false)
            .init();
    }
}
