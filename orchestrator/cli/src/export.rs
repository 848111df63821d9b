//! `sandbox export`: a run in the layout of other programs.

use camino::Utf8PathBuf;

use crate::failure::{Failure, Outcome};
use crate::run::classify;

/// Write a run as other programs take it
#[derive(clap::Args)]
pub(crate) struct Export {
    #[command(subcommand)]
    layout: Layout,
}

/// Whose layout it is
#[derive(clap::Subcommand)]
enum Layout {
    /// WebArena-Verified: a folder for each task, with agent_response.json and network.har; of a run with --keep-network
    WebarenaVerified {
        /// The folder of the run
        run: Utf8PathBuf,
        /// The folder to make
        #[arg(long, value_name = "DIR")]
        output: Utf8PathBuf,
        /// Which repeat
        #[arg(long, value_name = "N", default_value_t = 1)]
        repeat: u32,
    },
}

impl Export {
    /// Says what was written, and what was left out.
    pub(crate) fn run(self) -> Outcome {
        let Layout::WebarenaVerified { run, output, repeat } = self.layout;
        let exported = runs::export::webarena_verified(&run, &output, repeat).map_err(classify)?;
        for (task, why) in &exported.left_out {
            println!("left out {task}: {why}");
        }
        if exported.folders.is_empty() {
            return Err(Failure::Input(anyhow::anyhow!("{run} has no episode that can be exported")));
        }
        println!("{output}: {} tasks", exported.folders.len());
        Ok(())
    }
}
