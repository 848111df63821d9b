//! The lock file `lock.txt` beside a recipe: the versions with which its image was last built and
//! tested. Builds prefer these versions.
//!
//! ```text
//!   debian ruby3.1=3.1.7-1~deb12u2      every Debian package of every stage
//!   seed sha256:...                     the content of the image's folder /seed, its golden state
//! ```
//!
//! A build passes the packages' versions to apt (`COPY apt /etc/apt` in the recipe). If a version
//! is no longer available, apt takes the current one. Afterwards the versions are read from the
//! image and compared. For that, recipes write their packages to
//! `/usr/share/sandbox/packages*.txt`, as `dpkg-query -W` prints them. `requirements.txt` pins
//! Python's packages by hash.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{Read, Write as _};

use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{
    DownloadFromContainerOptionsBuilder, RemoveContainerOptionsBuilder,
};
use camino::{Utf8Path, Utf8PathBuf};
use futures_util::{StreamExt, TryStreamExt};
use sha2::{Digest, Sha256};
use tokio_util::io::{StreamReader, SyncIoBridge};

use crate::context::Hash;
use crate::{Engine, Error, Recipe};

/// The name of the file.
pub(crate) const FILE: &str = "lock.txt";

const HEAD: &str = "# The versions that this image was last built and tested with. Written by `sandbox images build --lock`.\n";

/// Folders of an image with its package lists and golden state.
const PACKAGES: &str = "/usr/share/sandbox";
const SEED: &str = "/seed";

/// Exact versions of packages, and the digest of the golden state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageLock {
    packages: BTreeMap<String, String>,
    seed: Option<String>,
}

/// A difference between an image and its lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// A package has another version, is missing, or is new.
    Package {
        /// Its name.
        name: String,
        /// The version in the lock file.
        locked: Option<String>,
        /// The version in the image.
        found: Option<String>,
    },
    /// The golden state differs.
    Seed,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Package { name, locked, found } => {
                let or =
                    |version: &Option<String>| version.clone().unwrap_or_else(|| "none".to_owned());
                write!(f, "{name} {} -> {}", or(locked), or(found))
            }
            Difference::Seed => f.write_str("the golden state"),
        }
    }
}

impl ImageLock {
    /// Reads the lock file of a recipe, if there is one.
    ///
    /// # Errors
    /// When the file cannot be read, or has an invalid line.
    pub fn of_recipe(recipe: &Recipe) -> Result<Option<ImageLock>, Error> {
        let path = path(recipe);
        match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::of_file("read", &path)(error)),
            Ok(text) => {
                ImageLock::parse(&text).map(Some).map_err(|why| Error::Malformed { path, why })
            }
        }
    }

    /// Writes the lock file of a recipe atomically and returns its path.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, recipe: &Recipe) -> Result<Utf8PathBuf, Error> {
        let path = path(recipe);
        let mut readable = tempfile::Builder::new();
        readable.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let mut part =
            readable.tempfile_in(&recipe.folder).map_err(Error::of_file("write", &path))?;
        part.write_all(self.to_string().as_bytes())
            .and_then(|()| part.persist(&path).map_err(|error| error.error))
            .map_err(Error::of_file("write", &path))?;
        Ok(path)
    }

    /// Reads the versions from the image of a recipe.
    ///
    /// # Errors
    /// When the engine has no such image, or returns an error.
    pub async fn of_image(engine: &Engine, recipe: &Recipe) -> Result<ImageLock, Error> {
        // The container never runs. It is needed because files can be read only from containers,
        // not from images.
        let body = ContainerCreateBody {
            image: Some(recipe.tag()),
            cmd: Some(vec!["none".to_owned()]),
            network_disabled: Some(true),
            ..Default::default()
        };
        let made = engine.docker().create_container(None, body).await;
        let container = made.map_err(Error::of_engine(format!("open {}", recipe.tag())))?.id;
        let read = read(engine, &container).await;
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        let removed = engine.docker().remove_container(&container, Some(options)).await;
        let lock = read?;
        removed.map_err(Error::of_engine("remove a container"))?;
        Ok(lock)
    }

    /// The differences to `found`, by name, with the golden state last.
    pub fn differences(&self, found: &ImageLock) -> Vec<Difference> {
        let mut names: Vec<&String> = self.packages.keys().chain(found.packages.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let versions = names.into_iter().map(|name| {
            let of = |lock: &ImageLock| lock.packages.get(name).cloned();
            Difference::Package { name: name.clone(), locked: of(self), found: of(found) }
        });
        let mut differ: Vec<Difference> = versions
            .filter(
                |package| !matches!(package, Difference::Package { locked, found, .. } if locked == found),
            )
            .collect();
        differ.extend((self.seed != found.seed).then_some(Difference::Seed));
        differ
    }

    /// The apt preferences for these versions. A priority above 1000 wins over newer versions.
    /// Versions that no source has are ignored.
    pub(crate) fn preferences(&self) -> String {
        self.packages.iter().fold(String::new(), |mut text, (name, version)| {
            let _ = write!(text, "Package: {name}\nPin: version {version}\nPin-Priority: 1001\n\n");
            text
        })
    }

    fn parse(text: &str) -> Result<ImageLock, String> {
        let mut lock = ImageLock::default();
        for (at, line) in text.lines().enumerate() {
            match line.split_once(' ') {
                _ if line.is_empty() || line.starts_with('#') => {}
                Some(("debian", package)) if package.contains('=') => lock.add(package, '='),
                Some(("seed", digest)) if digest.starts_with("sha256:") => {
                    lock.seed = Some(digest.to_owned())
                }
                _ => {
                    return Err(format!(
                        "line {}: {line}: expected `debian NAME=VERSION` or `seed sha256:...`",
                        at + 1
                    ));
                }
            }
        }
        Ok(lock)
    }

    /// Adds a package's name and version, without the architecture: `libc6:amd64`.
    fn add(&mut self, package: &str, between: char) {
        if let Some((name, version)) = package.trim_end().split_once(between) {
            let name = name.split(':').next().unwrap_or(name);
            self.packages.insert(name.to_owned(), version.to_owned());
        }
    }
}

impl fmt::Display for ImageLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        self.packages
            .iter()
            .try_for_each(|(name, version)| writeln!(f, "debian {name}={version}"))?;
        self.seed.iter().try_for_each(|digest| writeln!(f, "seed {digest}"))
    }
}

fn path(recipe: &Recipe) -> Utf8PathBuf {
    recipe.folder.join(FILE)
}

/// A folder to merge into `/etc/apt`, with the preferred versions; empty preferences without a
/// lock. It allows downgrades, because a locked version may be older than the base image's.
pub(crate) fn apt(locked: Option<&ImageLock>) -> Result<tempfile::TempDir, Error> {
    let folder =
        tempfile::tempdir().map_err(Error::of_file("create a folder in", Utf8Path::new("/tmp")))?;
    let preferences = locked.map(ImageLock::preferences).unwrap_or_default();
    let files = [
        ("preferences.d", preferences.as_str()),
        ("apt.conf.d", "APT::Get::allow-downgrades \"true\";\n"),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir(&path)
            .and_then(|()| std::fs::write(path.join("90sandbox"), text))
            .map_err(Error::of_file("write a file in", Utf8Path::new(name)))?;
    }
    Ok(folder)
}

/// Reads both folders of a container.
async fn read(engine: &Engine, container: &str) -> Result<ImageLock, Error> {
    let packages = within(engine, container, PACKAGES, |mut tar| {
        let mut lock = ImageLock::default();
        for entry in tar.entries()? {
            let mut entry = entry?;
            let path = entry.path()?.to_string_lossy().into_owned();
            let name = path.rsplit('/').next().unwrap_or_default();
            if name.starts_with("packages") && name.ends_with(".txt") {
                let mut text = String::new();
                entry.read_to_string(&mut text)?;
                text.lines().for_each(|line| lock.add(line, '\t'));
            }
        }
        Ok(lock)
    });
    let packages = packages.await?.unwrap_or_default();
    let seed = within(engine, container, SEED, digest).await?;
    Ok(ImageLock { seed, ..packages })
}

type Archive = tar::Archive<Box<dyn Read + Send>>;

/// Reads a folder of a container as a tar. `None` if the folder does not exist.
async fn within<T: Send + 'static>(
    engine: &Engine,
    container: &str,
    folder: &str,
    reads: impl FnOnce(Archive) -> std::io::Result<T> + Send + 'static,
) -> Result<Option<T>, Error> {
    let doing = format!("read {folder} of an image");
    let options = DownloadFromContainerOptionsBuilder::default().path(folder).build();
    let mut tar = Box::pin(engine.docker().download_from_container(container, Some(options)));
    // The engine's status is known with the first part of the stream only.
    let first = match tar.next().await {
        Some(Err(bollard::errors::Error::DockerResponseServerError {
            status_code: 404, ..
        }))
        | None => {
            return Ok(None);
        }
        Some(first) => first.map_err(Error::of_engine(doing.clone()))?,
    };
    let whole = futures_util::stream::iter([Ok(first)]).chain(tar.map_err(std::io::Error::other));
    let reader = SyncIoBridge::new(StreamReader::new(Box::pin(whole)));
    let read =
        tokio::task::spawn_blocking(move || reads(tar::Archive::new(Box::new(reader)))).await;
    let read = read.map_err(std::io::Error::other).and_then(|read| read);
    read.map(Some).map_err(|error| Error::Refused { doing, why: error.to_string() })
}

/// A digest of the paths and contents of all files, without times, owners and permissions.
fn digest(mut tar: Archive) -> std::io::Result<String> {
    // By path, because an archive may have its files in any order.
    let mut files = BTreeMap::new();
    for entry in tar.entries()? {
        let mut entry = entry?;
        let mut content = Hash(Sha256::new());
        if let Some(target) = entry.link_name()? {
            content.0.update(target.as_os_str().as_encoded_bytes());
        }
        std::io::copy(&mut entry, &mut content)?;
        let kind = u8::from(entry.header().entry_type().is_dir());
        files.insert(entry.path()?.into_owned(), (kind, content.0.finalize()));
    }
    let mut whole = Sha256::new();
    for (path, (kind, content)) in files {
        whole.update(path.as_os_str().as_encoded_bytes());
        whole.update([0, kind]);
        whole.update(content);
    }
    Ok(format!("sha256:{}", hex::encode(whole.finalize())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# made up\ndebian alpha=1.0-1\ndebian beta=2:3.4~rc1=x\n\nseed sha256:ab\n";

    fn lock(packages: &[(&str, &str)], seed: Option<&str>) -> ImageLock {
        let packages =
            packages.iter().map(|(name, version)| ((*name).to_owned(), (*version).to_owned()));
        ImageLock { packages: packages.collect(), seed: seed.map(str::to_owned) }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let read = ImageLock::parse(TEXT).unwrap();
        assert_eq!(read, lock(&[("alpha", "1.0-1"), ("beta", "2:3.4~rc1=x")], Some("sha256:ab")));
        assert_eq!(ImageLock::parse(&read.to_string()).unwrap(), read);
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        let why = ImageLock::parse("debian alpha=1\nsix==1.17.0\n").unwrap_err();
        assert!(why.starts_with("line 2: six==1.17.0: expected"), "{why}");
        assert!(ImageLock::parse("debian alpha").is_err());
        assert!(ImageLock::parse("seed none").is_err());
    }

    #[test]
    fn apt_is_told_every_version() {
        let text = lock(&[("alpha", "1.0-1"), ("beta", "2")], None).preferences();
        let expected = "Package: alpha\nPin: version 1.0-1\nPin-Priority: 1001\n\n\
                        Package: beta\nPin: version 2\nPin-Priority: 1001\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn differences_are_by_package_and_of_the_golden_state() {
        let locked = lock(&[("alpha", "1"), ("beta", "2"), ("gone", "1")], Some("sha256:ab"));
        let found = lock(&[("alpha", "1"), ("beta", "3"), ("new", "1")], Some("sha256:cd"));
        let texts: Vec<String> =
            locked.differences(&found).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["beta 2 -> 3", "gone 1 -> none", "new none -> 1", "the golden state"]);
        assert_eq!(locked.differences(&locked), []);
    }

    #[test]
    fn a_package_is_known_without_its_processor() {
        let mut found = ImageLock::default();
        found.add("libc6:amd64\t2.36-9+deb12u14", '\t');
        assert_eq!(found, lock(&[("libc6", "2.36-9+deb12u14")], None));
    }

    #[test]
    fn the_golden_state_is_its_files_and_not_their_times() {
        let of = |time: u64, order: &[(&str, &str)]| {
            let mut tar = tar::Builder::new(Vec::new());
            for (path, text) in order {
                let mut header = tar::Header::new_gnu();
                header.set_mtime(time);
                header.set_size(text.len() as u64);
                tar.append_data(&mut header, path, text.as_bytes()).unwrap();
            }
            let bytes = std::io::Cursor::new(tar.into_inner().unwrap());
            digest(tar::Archive::new(Box::new(bytes))).unwrap()
        };
        let golden = of(1, &[("seed/a", "1"), ("seed/b", "2")]);
        assert_eq!(golden, of(2, &[("seed/b", "2"), ("seed/a", "1")]));
        assert_ne!(golden, of(1, &[("seed/a", "1"), ("seed/b", "3")]));
        assert_ne!(golden, of(1, &[("seed/a", "1"), ("seed/c", "2")]));
    }
}
