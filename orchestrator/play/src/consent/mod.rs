//! The consent to everything that a suite would do on this machine besides playing its recorded
//! world.
//!
//! A suite may be somebody else's. It can start programs and containers, read files outside of its
//! folder, take variables of the environment, and reach servers outside of the world. All of that
//! is in one list, which is made here and nowhere else:
//!
//! ```text
//! suite, sites, scorers, settings of models -> NeedList -> is it agreed to? -> Agreed -> run, gym, env
//!                                                            |        ^
//!                                                            +- ask --+--> Agreements (a file)
//! ```
//!
//! Nothing of a suite starts before [`Agreed`] was checked against its list:
//! [`run()`](crate::run()), the gym and attach mode begin with that. The list of a suite with
//! recordings, embedded sites and plain scorers is empty, and nobody is asked.
//!
//! A snapshot is a recording of the web and is never asked about by itself. One outside of the
//! suite's folder is in the list only where the list has something that could send it on.

mod agreements;
mod content;
mod hosts;
mod models;
mod own;
mod paths;
mod sites;
mod suite;
mod suite_files;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

pub use agreements::Agreements;
use camino::Utf8Path;
pub use models::of_model;
pub use own::{Origin, agree_to_own, is_agreed_to, needs_none};
use processes::Variable;
use sha2::{Digest as _, Sha256};
pub use sites::of_sites;
pub use suite::of_suite;
pub(crate) use suite_files::SuiteFiles;

/// The user's own input beside the suite.
#[derive(Debug, Clone, Copy, Default)]
pub struct Given<'a> {
    /// Variables for manifests. Paths that name a variable lead where its value says.
    pub variables: &'a [Variable],
    /// The folder in which a packed run was unpacked, with all that its suite may read. Default:
    /// the suite's own folder.
    pub unpacked: Option<&'a Utf8Path>,
}

/// The kind of a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeedKind {
    /// A program or a container is started.
    Start,
    /// A file or folder outside of the suite is read.
    Read,
    /// A variable of the environment is taken.
    Variable,
    /// A server outside of the world is reached.
    Reach,
}

/// One action or access that needs consent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// Its kind.
    pub kind: NeedKind,
    /// The program, file, variable or server. The text is the suite's, so it may be hostile.
    pub what: String,
    /// The site or scorer that needs it. The text is the suite's. It is shown, and not agreed to.
    pub by: String,
    /// The digest of the files that would be started, if they are known.
    content: Option<String>,
}

impl Need {
    fn new(kind: NeedKind, what: impl Into<String>, by: impl Into<String>) -> Need {
        Need { kind, what: what.into(), by: by.into(), content: None }
    }

    /// Returns the digest of what is agreed to. It leaves out who needs it, so that another task
    /// with the same need asks nothing.
    fn digest(&self) -> String {
        self.digest_with(self.content.as_deref().unwrap_or_default())
    }

    fn digest_with(&self, content: &str) -> String {
        let mut hash = Sha256::new();
        for part in [self.kind.word(), &self.what, content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hex::encode(hash.finalize())
    }
}

impl NeedKind {
    /// The word that a line of the list begins with.
    pub fn word(self) -> &'static str {
        match self {
            NeedKind::Start => "starts",
            NeedKind::Read => "reads",
            NeedKind::Variable => "takes",
            NeedKind::Reach => "reaches",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.kind.word(), self.what, self.by)
    }
}

/// All needs of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeedList {
    needs: Vec<Need>,
}

impl NeedList {
    /// Makes the list of these needs. A need of several is listed once, by the first who has it.
    fn new(mut needs: Vec<Need>) -> NeedList {
        needs.sort();
        needs.dedup_by_key(|need| need.digest());
        NeedList { needs }
    }

    /// Whether nothing is needed, so that nobody is asked.
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }

    /// Returns whether a program or a container is started, or a file outside of the suite is read.
    /// Even a suite that a command has just made may start somebody else's program.
    pub fn starts_or_reads(&self) -> bool {
        self.needs.iter().any(|need| matches!(need.kind, NeedKind::Start | NeedKind::Read))
    }

    /// The needs, in a fixed order.
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// The digests of the needs without the content of files. A program of the suite may write
    /// beside itself while the suite is played.
    fn outline(&self) -> BTreeSet<String> {
        self.needs.iter().map(|need| need.digest_with("")).collect()
    }

    /// The digests of the needs.
    fn digests(&self) -> BTreeSet<String> {
        self.needs.iter().map(Need::digest).collect()
    }
}

impl fmt::Display for NeedList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, need) in self.needs.iter().enumerate() {
            write!(f, "{}{need}", if place == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// The needs that the user has agreed to. By default there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agreed {
    all: bool,
    outline: BTreeSet<String>,
}

impl Agreed {
    /// Agrees to everything: the user trusts the suite.
    pub fn to_all() -> Agreed {
        Agreed { all: true, outline: BTreeSet::new() }
    }

    /// Agrees to the needs of this list, and to no more.
    pub fn to(list: &NeedList) -> Agreed {
        Agreed { all: false, outline: list.outline() }
    }

    /// Checks that a list has no other needs.
    ///
    /// # Errors
    /// When it has. The error names all of it.
    pub(crate) fn check(&self, list: &NeedList) -> Result<(), crate::Error> {
        if self.all || list.outline().is_subset(&self.outline) {
            return Ok(());
        }
        Err(crate::Error::NotAgreed { list: list.to_string() })
    }
}

/// Writes a command as a shell reads it, so that a word with spaces or quotes is seen as one.
fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| format!("{words:?}"))
}
