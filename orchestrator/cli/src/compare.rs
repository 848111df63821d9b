//! `sandbox compare`: whether two runs did the same.

use camino::Utf8PathBuf;

use crate::failure::{Failure, OrFail, Outcome};

/// Compare two runs episode by episode; the first difference of each is named
#[derive(clap::Args)]
pub(crate) struct Compare {
    /// The folder of a run
    left: Utf8PathBuf,
    /// The folder of another
    right: Utf8PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Compare {
    /// Exit code 1 when they differ.
    pub(crate) fn run(self) -> Outcome {
        let compared = runs::compare(&self.left, &self.right).or_input("compare the runs")?;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&compared).expect("a comparison is plain data"));
        } else {
            for difference in &compared.differences {
                println!("{difference}");
            }
            for (side, only) in [(&self.left, &compared.only_left), (&self.right, &compared.only_right)] {
                only.iter().for_each(|episode| println!("only in {side}: {episode}"));
            }
        }
        if compared.is_same() {
            if !self.json {
                println!("same: {} episodes", compared.compared);
            }
            return Ok(());
        }
        Err(Failure::No(format!("{} of {} episodes differ", compared.differences.len(), compared.compared)))
    }
}
