//! `sandbox compare`: which of two runs did better, and whether they did the same.

use camino::Utf8PathBuf;
use runs::counted;
use serde::Serialize;

use crate::failure::{Failure, OrFail, Outcome};

/// Compare two runs: their scores task by task, and what they did episode by episode
///
/// Of episodes that are not the same the first difference is named, and the exit code is 1.
#[derive(clap::Args)]
pub(crate) struct Compare {
    /// The folder of a run
    left: Utf8PathBuf,
    /// The folder of another
    right: Utf8PathBuf,
    /// Compare scores alone
    #[arg(long)]
    scores: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Told {
    scores: runs::Pairing,
    #[serde(flatten)]
    compared: Option<runs::Comparison>,
}

impl Compare {
    /// Exit code 1 when they differ.
    pub(crate) fn run(self) -> Outcome {
        let scores = runs::pair(&self.left, &self.right).or_input("compare the runs")?;
        let compared = match self.scores {
            true => None,
            false => Some(runs::compare(&self.left, &self.right).or_input("compare the runs")?),
        };
        let told = Told { scores, compared };
        if self.json {
            println!("{}", serde_json::to_string_pretty(&told).expect("a comparison is plain data"));
        } else {
            print!("{}", told.scores);
            told.compared.iter().for_each(|compared| self.print(compared));
        }
        match told.compared {
            Some(compared) if !compared.is_same() => Err(Failure::No(match compared.differences.len() {
                0 => "the runs differ: some episodes are only in one of them".to_owned(),
                differ => format!("the runs differ in {differ} of {}", counted(compared.compared, "episode")),
            })),
            _ => Ok(()),
        }
    }

    fn print(&self, compared: &runs::Comparison) {
        for difference in &compared.differences {
            println!("{difference}");
        }
        for (side, only) in [(&self.left, &compared.only_left), (&self.right, &compared.only_right)] {
            only.iter().for_each(|episode| println!("only in {side}: {episode}"));
        }
        if compared.is_same() {
            println!("same: {}", counted(compared.compared, "episode"));
        }
    }
}
