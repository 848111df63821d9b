//! The order of events in an episode's pages: its file `order.txt`.

use super::EpisodeFolder;
use crate::Error;
use crate::stored::files;

/// The maximum length of the file that is read.
const LARGEST: u64 = 64 << 20;

impl EpisodeFolder {
    /// Writes the order of events, if it was kept.
    pub fn write_order(&self, lines: &[String]) -> Result<(), Error> {
        if lines.is_empty() {
            return Ok(());
        }
        let path = self.path().join("order.txt");
        let text = lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
        files::write(&path, text.as_bytes()).map_err(|source| Error::Write { path, source })
    }

    /// Whether the order of events was kept.
    pub fn has_order(&self) -> bool {
        self.path().join("order.txt").is_file()
    }

    /// Reads `order.txt`. Empty if the order was not kept. What is no UTF-8 is replaced.
    pub fn order(&self) -> Result<Vec<String>, Error> {
        let path = self.path().join("order.txt");
        if !self.has_order() {
            return Ok(Vec::new());
        }
        let bytes = files::read(&path, LARGEST).map_err(|source| Error::Read { path, source })?;
        Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
    }
}
