//! MiniWoB++: pages that are served as they are.

use camino::Utf8Path;
use results::counted;
use tasks::import::miniwob::suite;

use super::{say_rest, write};
use crate::failure::{OrFail, Outcome};

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, output: &Utf8Path, seed: u64) -> Outcome {
    let (suite, html) = suite(folder, seed).or_input("import MiniWoB++")?;
    write(&suite, output)?;
    println!("{output}: {}, served from {html}", counted(suite.import.tasks.len(), "task"));
    say_rest(&suite.import, output);
    Ok(())
}
