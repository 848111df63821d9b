//! Logs go to stderr, so that stdout holds only what a command reports.

use tracing_subscriber::EnvFilter;

use crate::terminal::board;
use crate::terminal::color;
use crate::terminal::out::{self, Log};

/// How much is logged.
#[derive(clap::Args)]
pub(crate) struct Logging {
    /// Log more on stderr: -v logs episodes and actions, -vv every request with its answer, -vvv
    /// everything. The variable SANDBOX_LOG takes a tracing filter
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    verbose: u8,
    /// Write stderr as JSON lines, for programs. The end of each episode is always logged
    #[arg(long, global = true)]
    log_json: bool,
    // Help has colours too, so the `color` module reads this before the command line is parsed.
    /// Colours: on terminals unless NO_COLOR is set (auto), always, or never
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        global = true,
        display_order = 900
    )]
    color: clap::ColorChoice,
}

impl Logging {
    /// Starts logging for the life of the process.
    pub(crate) fn start(&self) {
        let level = match self.verbose {
            0 if self.log_json => {
                format!("warn,{}=info,{}=info", play::log::ENDED, board::PROGRESS)
            }
            0 => "warn".to_owned(),
            1 => own("warn", "info"),
            2 => own("info", "debug"),
            _ => "trace".to_owned(),
        };
        let mut filter =
            EnvFilter::try_from_env("SANDBOX_LOG").unwrap_or_else(|_| EnvFilter::new(level));
        if self.log_json {
            // What the command has to say is not hidden by a filter of logs.
            let message = format!("{}=info", out::MESSAGE)
                .parse()
                .expect("a target and a level are a directive");
            filter = filter.add_directive(message);
            out::log_messages();
        }
        let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Log);
        if self.log_json {
            logs.json().init();
        } else {
            logs.with_ansi(color::is_on_stderr()).with_target(false).init();
        }
    }
}

/// This program, and the crates that it is made of.
const OURS: &[&str] = &[
    "sandbox",
    "actions",
    "agents",
    "annotate",
    "browser",
    "cluster",
    "container_images",
    "counted",
    "daemon",
    "doors",
    "embedded_sites",
    "encoded_query",
    "error_text",
    "file_version",
    "files",
    "gateway",
    "gym",
    "host_check",
    "html_scan",
    "http_client",
    "http_once",
    "in_flight",
    "llm_client",
    "object_files",
    "observation",
    "play",
    "processes",
    "python_compat",
    "python_repr",
    "recorder",
    "results",
    "scoring",
    "search",
    "sites",
    "snapshots",
    "sqlite_rows",
    "suggestions",
    "tasks",
    "turkingbench",
    "world_spec",
    "yaml",
];

/// One level for our own crates, another for all others.
fn own(others: &str, own: &str) -> String {
    OURS.iter().fold(others.to_owned(), |filter, name| format!("{filter},{name}={own}"))
}

#[cfg(test)]
mod tests {
    use super::OURS;

    #[test]
    fn every_crate_of_ours_has_our_level() {
        let workspace = include_str!("../../../../Cargo.toml");
        let mut crates: Vec<String> = workspace
            .lines()
            .filter(|line| line.contains("{ path = \"orchestrator/"))
            .filter_map(|line| Some(line.split_once(' ')?.0.replace('-', "_")))
            .collect();
        crates.sort_unstable();
        assert_eq!(crates, OURS[1..]);
    }
}
