//! `sandbox completions` and `sandbox man`: what shells and `man` know of the commands.

use camino::Utf8PathBuf;
use clap_complete::Shell;

use crate::failure::{OrFail, Outcome};
use crate::terminal::help;

/// Print the completions of commands and options for a shell
#[derive(clap::Args)]
pub(crate) struct Completions {
    /// Shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut help::command(), "sandbox", &mut script);
        print!("{}", String::from_utf8_lossy(&script));
        Ok(())
    }
}

/// Write a manual page for each command
#[derive(clap::Args)]
pub(crate) struct Man {
    /// Folder for the pages; it is made if it is not there
    folder: Utf8PathBuf,
}

impl Man {
    pub(crate) fn run(self) -> Outcome {
        std::fs::create_dir_all(&self.folder).or_input(format!("make {}", self.folder))?;
        clap_mangen::generate_to(help::command(), &self.folder)
            .or_input(format!("write manual pages into {}", self.folder))
    }
}
