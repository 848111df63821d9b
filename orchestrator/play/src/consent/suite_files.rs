//! Opens the files of cookies and storage that a suite names, where its user has agreed to that.

use std::fs::File;
use std::sync::Arc;

use camino::Utf8Path;

use super::paths::Places;
use super::{Agreed, Need, NeedKind, NeedList};

/// The words for a storage state in the list.
pub(super) const STATE: &str = "the cookies and storage in";

/// The files that a run may read for its suite.
#[derive(Debug, Clone)]
pub(crate) struct SuiteFiles {
    own: Arc<Places>,
    agreed: Agreed,
}

impl SuiteFiles {
    /// Returns the files of the suite's own folder, and those that were agreed to besides.
    pub(crate) fn of(own: &Utf8Path, agreed: &Agreed) -> SuiteFiles {
        SuiteFiles { own: Arc::new(Places::of(&[own])), agreed: agreed.clone() }
    }

    /// Opens a file of cookies and storage: one of the suite's own, or one that was agreed to. The
    /// opened file counts and not its path: a link on the way may lead elsewhere by now.
    ///
    /// # Errors
    /// When it cannot be opened, or nobody has agreed to it.
    pub(crate) fn storage_state(&self, path: &Utf8Path) -> Result<File, String> {
        let failed = |error: std::io::Error| format!("{path}: {error}");
        let file = ::files::open(path).map_err(failed)?;
        let real = ::files::real_path(&file).map_err(failed)?;
        if let Some(outside) = self.own.outside(&real) {
            let list =
                NeedList::new(vec![Need::new(NeedKind::Read, format!("{STATE} {outside}"), "")]);
            self.agreed.check(&list).map_err(|_| {
                format!(
                    "{path} leads to {outside} by now, and you have not agreed to that; run the command again"
                )
            })?;
        }
        Ok(file)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use camino::Utf8PathBuf;
    use tasks::Suite;

    use super::*;
    use crate::consent::{Given, of_suite};

    #[test]
    fn what_is_opened_is_what_was_agreed_to() {
        let keep = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(keep.path().canonicalize().unwrap()).unwrap();
        let folder = root.join("suite");
        std::fs::create_dir(&folder).unwrap();
        for name in ["shared.json", "secret.json", "suite/own.json"] {
            std::fs::write(root.join(name), "{}").unwrap();
        }
        symlink("../shared.json", folder.join("link.json")).unwrap();
        let world = "world: {clock: 2026-03-12T08:30:00Z, storage_state: link.json}\n";
        std::fs::write(folder.join("suite.yaml"), world).unwrap();
        std::fs::write(folder.join("a.yaml"), "id: a\ngoal: x\nscorer: {equals: x}\n").unwrap();
        let suite = Suite::load(&folder).unwrap();
        let list = of_suite(&suite, &suite.tasks, Given::default()).unwrap();
        let files = SuiteFiles::of(&suite.folder, &Agreed::to(&list));
        let state = suite.world.storage_state.as_deref().unwrap();
        assert!(files.storage_state(state).is_ok());
        assert!(files.storage_state(&folder.join("own.json")).is_ok());
        assert!(SuiteFiles::of(&suite.folder, &Agreed::default()).storage_state(state).is_err());
        std::fs::remove_file(folder.join("link.json")).unwrap();
        symlink("../secret.json", folder.join("link.json")).unwrap();
        let why = files.storage_state(state).unwrap_err();
        assert!(why.contains("secret.json by now"), "{why}");
        std::fs::remove_file(folder.join("link.json")).unwrap();
        symlink("own.json", folder.join("link.json")).unwrap();
        assert!(files.storage_state(state).is_ok());
    }
}
