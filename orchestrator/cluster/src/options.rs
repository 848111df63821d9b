//! What the parts of a run are told, whichever scheduler starts them.

use camino::Utf8PathBuf;

use crate::Error;

/// What a run in parts is told besides the options of any run.
#[derive(Debug, Clone)]
pub struct PartOptions {
    /// How many parts there are; by default as many as the scheduler has room for.
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
    /// Checks what parts on other machines are told: no value of a variable, since it would be read
    /// by others, and no cassette that each part would add to by itself. `written` is what the
    /// words are written into, and `instead` says where a variable belongs.
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
