//! How far programs are confined: options of the commands that start any.

use camino::Utf8PathBuf;
use play::{ConfinementOptions, Options};
use processes::confine::{Host, Level};

use crate::commands::keep;
use crate::failure::Failure;
use crate::options::{self, DataFolder};

/// How far programs are confined.
#[derive(Clone, clap::Args)]
pub(crate) struct Confine {
    /// How far programs are confined: `on` hides the suite, the results, your data folder and other
    /// processes; `strict` leaves the system, the program's folder and the episode's files, and no
    /// network; `off` hides nothing
    #[arg(long = "confine", value_name = "LEVEL", default_value_t)]
    level: Level,
    /// With `--confine strict`: a host that the program may reach, such as api.openai.com:443 or
    /// 127.0.0.1:8000; can be repeated
    #[arg(long = "confine-host", value_name = "HOST:PORT")]
    hosts: Vec<Host>,
}

impl Confine {
    /// The options of a run, with the folders of this user.
    pub(crate) fn options(&self, data: &DataFolder) -> Result<ConfinementOptions, Failure> {
        if !self.hosts.is_empty() && self.level != Level::Strict {
            return Err(Failure::Input(
                "failed to set --confine-host: it is for --confine strict; otherwise all hosts are reached"
                    .to_owned(),
            ));
        }
        Ok(ConfinementOptions {
            level: self.level,
            hosts: self.hosts.clone(),
            hidden: hidden(data)?,
        })
    }
}

/// The options of a command that plays something with the folders of this user. Programs of
/// scorers are confined as usual.
pub(crate) fn of_user(data: &DataFolder) -> Result<Options, Failure> {
    Ok(Options {
        index_cache: Some(data.indexes()?),
        town: Some(data.town()?),
        helper: keep::helper(),
        confinement: ConfinementOptions { hidden: hidden(data)?, ..ConfinementOptions::default() },
        ..Options::default()
    })
}

/// The user's folders.
fn hidden(data: &DataFolder) -> Result<Vec<Utf8PathBuf>, Failure> {
    Ok([Some(data.path()?), options::cache().ok()].into_iter().flatten().collect())
}
