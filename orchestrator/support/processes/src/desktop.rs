//! The desktop of who sits at this machine: whether there is one, and its browser.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::process::Command;

use crate::temporary::{self, Temporary};

/// Why the desktop did not open a page. The texts read after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file that leads to the page cannot be written.
    #[error("write a file for the browser: {0}; open {1} in it")]
    File(io::Error, String),
    /// The desktop's program cannot be started.
    #[error("run xdg-open: {0}; open {1} in a browser yourself")]
    Start(io::Error, String),
    /// The desktop's program failed.
    #[error("run xdg-open: it ended with {0}; open {1} in a browser yourself")]
    Ended(ExitStatus, String),
}

/// Whether a page can be shown to a person at this machine.
pub fn has_display() -> bool {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(is_set)
}

/// Asks the desktop to open a page, one time. A browser that begins with that stays when we end: it
/// is in a process group of its own, which Ctrl-C does not reach. It may read the folder that is
/// returned at any time, which goes when that is dropped.
///
/// All users of the machine can see what a program is started with, and the URL may have a key. So
/// the browser is given a file of this user that leads to the page.
///
/// # Errors
/// When the file cannot be written, or the desktop opens nothing.
pub async fn open(url: &str) -> Result<Temporary, OpenError> {
    let (folder, page) =
        leading_to(url).map_err(|source| OpenError::File(source, url.to_owned()))?;
    let opened = Command::new("xdg-open")
        .arg(&page)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .await;
    match opened {
        Ok(status) if status.success() => Ok(folder),
        Ok(status) => Err(OpenError::Ended(status, url.to_owned())),
        Err(source) => Err(OpenError::Start(source, url.to_owned())),
    }
}

/// A file that only this user can read, with a page that leads to another.
fn leading_to(url: &str) -> io::Result<(Temporary, PathBuf)> {
    let folder = temporary::new("page-")?;
    let path = folder.path().join("page.html");
    let mut file = File::create(&path)?;
    // A URL of ours has no letters that mean something in HTML.
    write!(
        file,
        "<!doctype html><meta http-equiv=refresh content=\"0; url={url}\"><a href=\"{url}\">{url}</a>"
    )?;
    Ok((folder, path))
}
