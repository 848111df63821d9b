//! Python packages of an image, downloaded on this machine, so that a build needs no package index.
//!
//! `requirements.txt` pins every version by hash. Its first line names the Python version: `#
//! python 3.11`. pip downloads the wheels once; they stay in the user's cache under the file's
//! digest. If the index no longer has a version, the newest one is used, and the `requirements.txt`
//! beside the wheels pins that one.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use sha2::{Digest, Sha256};
use tokio::process::Command;

use crate::image_lock::Difference;
use crate::program::{self, ProgramExit};
use crate::{Error, Event, OnEvent, Recipe};

/// The file with the packages, in a recipe's folder and, if it differs, beside the wheels.
pub(crate) const REQUIREMENTS: &str = "requirements.txt";

/// The folder with the wheels of an image. Downloads them if `cache` lacks them. `None` without
/// requirements.
pub(crate) async fn fetch(
    recipe: &Recipe,
    cache: &Utf8Path,
    machine: &str,
    on: &OnEvent,
) -> Result<Option<Utf8PathBuf>, Error> {
    let path = recipe.folder.join(REQUIREMENTS);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).map_err(Error::of_file("read", &path))?;
    let python = python_of(&text).ok_or_else(|| Error::Malformed {
        path: path.clone(),
        why: "line 1: expected a comment like `# python 3.11`: the image's version of Python"
            .to_owned(),
    })?;
    let key = hex::encode(Sha256::digest(format!("{machine}\n{text}")));
    let folder = cache.join("wheels").join(key);
    if folder.exists() {
        return Ok(Some(folder));
    }
    on(Event::Doing("fetching wheels"));
    let parent = cache.join("wheels");
    std::fs::create_dir_all(&parent).map_err(Error::of_file("create", &parent))?;
    // A temporary name until the download is complete, so that an interrupted one is never used.
    let partial = tempfile::Builder::new()
        .prefix(".partial-")
        .tempdir_in(&parent)
        .map_err(Error::of_file("create a folder in", &parent))?;
    let wheels = partial.path().join("wheels");
    let pip = async |more: Vec<String>| {
        let mut pip = pip(python, machine, &wheels);
        match program::run(pip.args(more), on).await {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Error::Missing { program: "python3", install: INSTALL })
            }
            other => other.map_err(Error::of_file("run python3 -m pip for", &path)),
        }
    };
    let list = Utf8PathBuf::from_path_buf(partial.path().join("requirements.txt"))
        .unwrap_or_else(|path| Utf8PathBuf::from(path.to_string_lossy().into_owned()));
    let (mut there, mut gone) = (text.clone(), Vec::new());
    while there.contains("==") {
        std::fs::write(&list, &there).map_err(Error::of_file("write", &list))?;
        let ended =
            pip(vec!["--require-hashes".to_owned(), format!("--requirement={list}")]).await?;
        match gone_of(&ended).and_then(|name| Some((name.to_owned(), without(&there, name)?))) {
            Some((name, rest)) => {
                gone.push(name);
                there = rest;
            }
            None => {
                check(recipe, ended)?;
                break;
            }
        }
    }
    if !gone.is_empty() {
        on(Event::Doing(&format!(
            "fetching the newest of {}, whose versions are gone",
            gone.join(", ")
        )));
        check(recipe, pip(gone.clone()).await?)?;
        pin(&wheels, &there, &gone).map_err(Error::of_file("pin the wheels in", &parent))?;
    }
    match std::fs::rename(&wheels, &folder) {
        // Another process has just downloaded the same wheels.
        Err(_) if folder.exists() => {}
        other => other.map_err(Error::of_file("create", &folder))?,
    }
    Ok(Some(folder))
}

const INSTALL: &str = "sudo apt-get install -y python3-pip";

/// The Python version in the first line's comment.
fn python_of(requirements: &str) -> Option<&str> {
    let version =
        requirements.lines().next()?.strip_prefix('#')?.trim().strip_prefix("python")?.trim();
    version.starts_with("3.").then_some(version)
}

/// A pip command for another machine and Python version. Every package is listed, so pip does not
/// resolve dependencies.
fn pip(python: &str, machine: &str, wheels: &std::path::Path) -> Command {
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--no-input",
        "download",
        "--progress-bar=off",
    ]);
    pip.args(["--no-deps", "--only-binary=:all:", "--implementation=cp"]);
    pip.arg(format!("--python-version={python}"));
    // pip adds no older platforms to `manylinux_2_28` by itself.
    for platform in ["manylinux_2_28", "manylinux_2_17", "manylinux2014"] {
        pip.arg(format!("--platform={platform}_{machine}"));
    }
    pip.arg("--dest").arg(wheels);
    pip
}

/// The package that the index has only in other versions, from pip's error "Could not find a
/// version that satisfies the requirement six==1.17.0 (from versions: 1.16.0)". `None` if the index
/// does not respond.
fn gone_of(ended: &ProgramExit) -> Option<&str> {
    let message = "Could not find a version that satisfies the requirement ";
    let line = ended.tail.iter().rev().find_map(|line| line.split_once(message))?.1;
    if line.contains("(from versions: none)") {
        return None;
    }
    line.split_once("==").map(|(name, _)| name)
}

/// The requirements without this package. `None` if they do not contain it.
fn without(requirements: &str, name: &str) -> Option<String> {
    let ours = |line: &&str| !line.strip_prefix(name).is_some_and(|rest| rest.starts_with("=="));
    let rest: String = requirements.lines().filter(ours).map(|line| format!("{line}\n")).collect();
    (rest.lines().count() < requirements.lines().count()).then_some(rest)
}

/// Writes the `requirements.txt` beside the wheels: the pinned ones and the replacements.
fn pin(wheels: &std::path::Path, requirements: &str, names: &[String]) -> std::io::Result<()> {
    // All of these spellings are one package.
    let plain = |name: &str| name.to_lowercase().replace(['-', '.'], "_");
    let mut text = requirements.to_owned();
    for entry in std::fs::read_dir(wheels)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let mut parts = file.split('-');
        let (Some(stem), Some(version)) = (parts.next(), parts.next()) else { continue };
        if let Some(name) = names.iter().find(|name| plain(name) == plain(stem)) {
            let digest = hex::encode(Sha256::digest(std::fs::read(entry.path())?));
            text += &format!("{name}=={version} --hash=sha256:{digest}\n");
        }
    }
    std::fs::write(wheels.join(REQUIREMENTS), text)
}

/// The differences between a folder of wheels and the recipe's requirements.
pub(crate) fn differences(recipe: &Recipe, wheels: &Utf8Path) -> Result<Vec<Difference>, Error> {
    let read = |path: Utf8PathBuf| match std::fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(Error::of_file("read", &path)),
    };
    let Some(taken) = read(wheels.join(REQUIREMENTS))? else { return Ok(Vec::new()) };
    let pinned = read(recipe.folder.join(REQUIREMENTS))?.unwrap_or_default();
    let (pinned, taken) = (versions(&pinned), versions(&taken));
    let differ = pinned.iter().filter(|(name, version)| taken.get(*name) != Some(version));
    Ok(differ
        .map(|(name, version)| Difference::Package {
            name: (*name).to_owned(),
            locked: Some((*version).to_owned()),
            found: taken.get(name).map(|version| (*version).to_owned()),
        })
        .collect())
}

/// Splits `six==1.17.0 --hash=...` into name and version.
fn versions(requirements: &str) -> BTreeMap<&str, &str> {
    let first = |line: &'_ str| line.split_whitespace().next().map_or(0, str::len);
    requirements.lines().filter_map(|line| line[..first(line)].split_once("==")).collect()
}

fn check(recipe: &Recipe, ended: ProgramExit) -> Result<(), Error> {
    let no_pip = ended.tail.iter().any(|line| line.contains("No module named pip"));
    match ended.status.success() {
        true => Ok(()),
        false if no_pip => Err(Error::Missing { program: "python3 -m pip", install: INSTALL }),
        false => Err(Error::Program {
            doing: format!("fetch the wheels of {}", recipe.name),
            program: "pip",
            status: ended.status,
            tail: ended.tail,
            log: None,
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

    #[test]
    fn a_version_that_is_gone_is_found_in_what_pip_says() {
        let of = |line: &str| {
            let line =
                format!("ERROR: Could not find a version that satisfies the requirement {line}");
            let status = std::process::ExitStatus::default();
            let ended = ProgramExit {
                status,
                tail: vec!["Collecting six".to_owned(), line, "ERROR: No".to_owned()],
            };
            gone_of(&ended).map(str::to_owned)
        };
        assert_eq!(of("six==1.17.0 (from versions: 1.16.0, 1.18.0)").as_deref(), Some("six"));
        assert_eq!(of("six==1.17.0 (from versions: none)"), None, "nobody answers");
        let text = "# python 3.11\nsix==1.17.0 --hash=sha256:00\nsix-more==1\n";
        assert_eq!(without(text, "six").as_deref(), Some("# python 3.11\nsix-more==1\n"));
        assert_eq!(without(text, "seven"), None);
    }

    #[test]
    fn what_took_the_place_of_another_version_is_pinned_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        std::fs::write(path.join("My_Six-2.0-py3-none-any.whl"), "wheel").unwrap();
        pin(path.as_std_path(), "# python 3.11\nb==1 --hash=sha256:00\n", &["my.six".to_owned()])
            .unwrap();
        let text = std::fs::read_to_string(path.join(REQUIREMENTS)).unwrap();
        let digest = hex::encode(Sha256::digest("wheel"));
        assert_eq!(
            text,
            format!("# python 3.11\nb==1 --hash=sha256:00\nmy.six==2.0 --hash=sha256:{digest}\n")
        );

        let ours = path.join("recipe");
        std::fs::create_dir(&ours).unwrap();
        let text = "# python 3.11\nb==1 --hash=sha256:00\nmy.six==1.0 --hash=sha256:11\n";
        std::fs::write(ours.join(REQUIREMENTS), text).unwrap();
        let recipe = Recipe { name: "x".to_owned(), folder: ours };
        let texts: Vec<String> =
            differences(&recipe, &path).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["my.six 1.0 -> 2.0"]);
    }

    #[tokio::test]
    async fn wheels_that_are_in_the_cache_are_not_fetched_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let text = "# python 3.11\nno-such-package==1 --hash=sha256:00\n";
        std::fs::write(path.join("requirements.txt"), text).unwrap();
        let kept = path.join("wheels").join(hex::encode(Sha256::digest(format!("x86_64\n{text}"))));
        std::fs::create_dir_all(&kept).unwrap();
        let recipe = Recipe { name: "x".to_owned(), folder: path.clone() };
        let on: OnEvent = Arc::new(|_| ());
        assert_eq!(fetch(&recipe, &path, "x86_64", &on).await.unwrap(), Some(kept));
    }
}
