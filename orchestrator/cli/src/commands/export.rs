//! `sandbox export`: a run for other programs, as a table or in their layout.

use camino::Utf8PathBuf;
use results::counted;
use results::export::Format;

use crate::failure::{Failure, Outcome};
use crate::packed_run::OpenRun;
use crate::terminal::out;

/// Convert a run to a table or to the layout of another program
#[derive(clap::Args)]
pub(crate) struct Export {
    #[command(subcommand)]
    layout: Layout,
}

/// The format
#[derive(clap::Subcommand)]
enum Layout {
    /// A table as CSV, with a row for each episode
    Csv(Table),
    /// The same table as Apache Parquet
    Parquet(Table),
    /// The same table as JSON: an array of objects
    Json(Table),
    /// WebArena-Verified: a folder for each task with agent_response.json and network.har
    ///
    /// The run must have been made with --keep-network.
    WebarenaVerified {
        /// Folder of the run
        run: Utf8PathBuf,
        /// Folder to create
        #[arg(short, long, value_name = "DIR")]
        output: Utf8PathBuf,
        /// Which attempt at each task, from 1
        #[arg(long, value_name = "N", default_value_t = 1)]
        repeat: u32,
    },
}

#[derive(clap::Args)]
struct Table {
    /// Folder of the run, or file of `sandbox pack`
    run: Utf8PathBuf,
    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Utf8PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl Table {
    async fn write(&self, format: Format) -> Outcome {
        let Table { run, output, force } = self;
        let open = OpenRun::open(run).await?;
        let run = open.path();
        if out::is_stdout(output) {
            let (bytes, _) = results::export::bytes(run, format)?;
            // What cannot be written there is told at the end of every command.
            match format {
                Format::Json => out::json_text(&bytes),
                _ => out::data(&bytes),
            }
            return Ok(());
        }
        let rows = results::export::table(run, output, format, *force)?;
        println!("{output}: {}", counted(rows, "episode"));
        Ok(())
    }
}

impl Export {
    /// Says what was written, and what was left out.
    pub(crate) async fn run(self) -> Outcome {
        let (run, output, repeat) = match self.layout {
            Layout::Csv(table) => return table.write(Format::Csv).await,
            Layout::Parquet(table) => return table.write(Format::Parquet).await,
            Layout::Json(table) => return table.write(Format::Json).await,
            Layout::WebarenaVerified { run, output, repeat } => (run, output, repeat),
        };
        out::is_a_path(&output)?;
        let exported = results::export::webarena_verified(&run, &output, repeat)?;
        for (task, why) in &exported.left_out {
            println!("left out {task}: {why}");
        }
        if exported.folders.is_empty() {
            return Err(Failure::Input(format!(
                "failed to export {run}: none of its episodes can be exported"
            )));
        }
        println!("{output}: {}", counted(exported.folders.len(), "task"));
        Ok(())
    }
}
