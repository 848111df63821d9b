//! The options of a run in parts that every scheduler has in common.

use camino::Utf8PathBuf;

use crate::Error;

/// The options of a run in parts, besides those of any run.
#[derive(Debug, Clone)]
pub struct PartOptions {
    /// The number of parts. Default: as many as the scheduler has room for.
    pub count: Option<u32>,
    /// The file with the images of the sites.
    pub site_images: Option<Utf8PathBuf>,
    /// The words of the command line with which a part is played, without those that tell the parts
    /// apart.
    pub words: Vec<String>,
    /// Whether replies of models would be added to a cassette.
    pub adds_to_a_cassette: bool,
}

impl PartOptions {
    /// Checks the options for parts on other machines. The value of a variable is refused, because
    /// others would read it, and so is a cassette to which each part would add. `written` is the
    /// place into which the words are written, and `instead` the place where a variable belongs.
    ///
    /// # Errors
    /// When something cannot be told.
    pub(crate) fn check(&self, written: &'static str, instead: &'static str) -> Result<(), Error> {
        let mut pairs = self.words.iter().zip(self.words.iter().skip(1));
        let is_env = |option: &str| matches!(option, "--agent-env" | "--site-env" | "--model-env");
        if let Some((option, _)) =
            pairs.find(|(option, value)| is_env(option) && value.contains('='))
        {
            return Err(Error::VariableValue { option: option.clone(), written, instead });
        }
        if self.adds_to_a_cassette { Err(Error::SharedCassette) } else { Ok(()) }
    }
}
