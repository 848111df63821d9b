//! Finds Chromium, its headless shell and chromedriver on this machine.

use std::path::{Path, PathBuf};
use std::{env, io};

use processes::desktop;

use crate::{Error, Launch};

/// Overrides the path of Chromium. Then no headless shell is looked for.
pub const CHROMIUM_VARIABLE: &str = "SANDBOX_CHROMIUM";
/// Overrides the path of chromedriver.
pub const CHROMEDRIVER_VARIABLE: &str = "SANDBOX_CHROMEDRIVER";
/// With the value `off`, Chromium starts without its own sandbox. It is for containers whose engine
/// forbids the namespaces that the sandbox is made of: there the container is the boundary.
pub const CHROMIUM_SANDBOX_VARIABLE: &str = "SANDBOX_CHROMIUM_SANDBOX";

const INSTALL: &str = "apt-get install -y chromium chromium-headless-shell chromium-driver";

/// The paths of the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    /// Chromium itself, not Debian's start script, which adds options that differ between machines.
    /// It serves the live web and headed browsers, and frozen worlds without a headless shell.
    pub chromium: Option<PathBuf>,
    /// Chromium without a user interface. It serves frozen worlds, where it shows pages in half the
    /// time.
    pub headless_shell: Option<PathBuf>,
    /// The WebDriver server for Chromium, for programs that drive pages by it.
    pub chromedriver: Option<PathBuf>,
}

impl Programs {
    /// Looks in the environment, then in the usual places.
    ///
    /// # Errors
    /// If there is neither Chromium nor its headless shell.
    pub fn find() -> Result<Self, Error> {
        let variable_path = |variable: &str| {
            env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
        };
        Self::find_with(variable_path, Path::is_file)
    }

    /// The same, with `variable_path` for the environment and `is_file` for the file system.
    fn find_with(
        variable_path: impl Fn(&str) -> Option<PathBuf>,
        is_file: impl Fn(&Path) -> bool,
    ) -> Result<Self, Error> {
        let named = |variable| match variable_path(variable) {
            Some(path) if !is_file(&path) => Err(Error::Misnamed { variable, path }),
            path => Ok(path),
        };
        let first = |places: &[&str]| places.iter().map(PathBuf::from).find(|place| is_file(place));
        let (chromium, headless_shell) = match named(CHROMIUM_VARIABLE)? {
            // A Chromium that the user names shows all pages, also those of frozen worlds.
            Some(chromium) => (Some(chromium), None),
            None => (first(CHROMIUM), first(HEADLESS_SHELL)),
        };
        if chromium.is_none() && headless_shell.is_none() {
            return Err(Error::Missing { program: "Chromium", install: INSTALL });
        }
        let chromedriver = named(CHROMEDRIVER_VARIABLE)?.or_else(|| first(CHROMEDRIVER));
        Ok(Self { chromium, headless_shell, chromedriver })
    }

    /// The version of Chromium, such as `156.0.8078.108`: that of its headless shell, or in a
    /// window its own.
    ///
    /// # Errors
    /// If there is none, or it does not tell its version.
    pub fn version(&self, headed: bool) -> Result<String, Error> {
        let shell = self.headless_shell.as_deref().filter(|_| !headed);
        let path = shell.or(self.chromium.as_deref());
        let path = path.ok_or(Error::Missing { program: "Chromium", install: INSTALL })?;
        let failed = |source| Error::Spawn { program: path.display().to_string(), source };
        let mut command = std::process::Command::new(path);
        let output = command
            .arg("--version")
            .env_clear()
            .envs(processes::minimal())
            .output()
            .map_err(failed)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = text
            .split_whitespace()
            .find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        let number =
            number.ok_or_else(|| failed(io::Error::other("it does not print its version")))?;
        Ok(number.to_owned())
    }

    /// The path of chromedriver.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn driver(&self) -> Result<&Path, Error> {
        self.chromedriver
            .as_deref()
            .ok_or(Error::Missing { program: "chromedriver", install: INSTALL })
    }

    /// The browser for a session. The live web gets the one that people use.
    pub(crate) fn browser(&self, launch: &Launch) -> Result<&Path, Error> {
        let frozen = launch.headless && launch.determinism.is_some();
        let shell = self.headless_shell.as_deref().filter(|_| frozen);
        shell.or(self.chromium.as_deref()).ok_or(Error::Missing {
            program: "Chromium, as its headless shell does for frozen worlds without a window alone",
            install: INSTALL,
        })
    }
}

const CHROMIUM: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/usr/bin/chromium",
];
const HEADLESS_SHELL: &[&str] = &["/usr/lib/chromium/chromium-headless-shell"];
const CHROMEDRIVER: &[&str] = &[
    "/usr/bin/chromedriver",
    "/usr/lib/chromium-browser/chromedriver",
    "/usr/local/bin/chromedriver",
];

/// Checks that this machine can show a window.
///
/// # Errors
/// If there is no display.
pub(crate) fn check_display(launch: &Launch) -> Result<(), Error> {
    if launch.headless || desktop::has_display() { Ok(()) } else { Err(Error::NoDisplay) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::Determinism;

    fn found(there: &[&str]) -> Result<Programs, Error> {
        Programs::find_with(|_| None, |path| there.iter().any(|place| Path::new(place) == path))
    }

    #[test]
    fn the_headless_shell_alone_is_enough_for_frozen_worlds() {
        let (shell, driver) = (HEADLESS_SHELL[0], CHROMEDRIVER[0]);
        let programs = found(&[shell, driver]).unwrap();
        let live = Launch::new(std::net::SocketAddr::from(([127, 0, 0, 1], 1)), "");
        let determinism = Some(Determinism { clock_start: Timestamp::UNIX_EPOCH, seed: 0 });
        let frozen = Launch { determinism, ..live.clone() };
        assert_eq!(programs.browser(&frozen).unwrap(), Path::new(shell));
        let window = Launch { headless: false, ..frozen.clone() };
        for launch in [&live, &window] {
            let error = programs.browser(launch).unwrap_err().to_string();
            assert!(
                error.starts_with("find Chromium, as its headless shell does for frozen"),
                "{error}"
            );
        }
        let both = found(&[CHROMIUM[3], shell, driver]).unwrap();
        assert_eq!(both.browser(&live).unwrap(), Path::new(CHROMIUM[3]));
        assert_eq!(both.browser(&frozen).unwrap(), Path::new(shell));
        assert!(found(&[driver]).is_err() && found(&[shell]).unwrap().chromedriver.is_none());
    }

    #[test]
    fn a_variable_that_names_nothing_is_named() {
        for variable in [CHROMIUM_VARIABLE, CHROMEDRIVER_VARIABLE] {
            let value = |name: &str| (name == variable).then(|| PathBuf::from("/nowhere"));
            let is_file = |path: &Path| path != Path::new("/nowhere");
            let error = Programs::find_with(value, is_file).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("find /nowhere, which {variable} names")),
                "{error}"
            );
        }
    }
}
