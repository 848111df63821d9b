//! `sandbox status`: how the sites are doing.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::table;
use crate::failure::Outcome;
use crate::options::DataFolder;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

const EVERY: Duration = Duration::from_secs(1);

/// Show the sites that are up: address, state, memory and spare instances
#[derive(clap::Args)]
pub(crate) struct Status {
    /// Update the table on the screen until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Status {
    /// Prints it once, or again and again.
    pub(crate) async fn run(self) -> Outcome {
        let client = super::client(&self.data)?;
        let status = client.status().await?;
        if self.json {
            out::json(&status);
            return Ok(());
        }
        if !self.watch {
            println!("{}", table::of(&status, progress::columns()));
            return Ok(());
        }
        let stop = interrupt::token();
        let screen = ProgressBar::new_spinner();
        screen.set_style(ProgressStyle::with_template("{msg}").expect("the template is valid"));
        let mut every = tokio::time::interval(EVERY);
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                _ = every.tick() => {}
            }
            let status = client.status().await?;
            progress::say(&screen, table::of(&status, progress::columns()));
            screen.tick();
        }
    }
}
