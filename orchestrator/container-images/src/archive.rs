//! What is in `FILE.tar` of `sandbox images save` or `docker save`, without loading it: the names
//! of its images, and their ids.
//!
//! The id of an image is the digest of its configuration, which names the digest of each layer.
//! Docker and Podman give the same image the same id.

use std::collections::BTreeMap;
use std::io::Read as _;

use bollard::query_parameters::TagImageOptionsBuilder;
use camino::Utf8Path;
use serde::Deserialize;

use crate::{Engine, Error};

/// The member that lists the images.
const MANIFEST: &str = "manifest.json";
/// The largest list that is read, in bytes.
const LARGEST: u64 = 16 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    /// `<digest>.json` or `blobs/sha256/<digest>`.
    config: String,
    repo_tags: Option<Vec<String>>,
}

/// The ids of the images of an archive, by their [full names](full_name). Only the heads of its
/// members are read, so it must not be compressed.
///
/// # Errors
/// When the file cannot be read, or is not such an archive.
pub fn ids(path: &Utf8Path) -> Result<BTreeMap<String, String>, Error> {
    let malformed = |why: String| Error::Malformed { path: path.to_owned(), why };
    let file = std::fs::File::open(path).map_err(Error::of_file("read", path))?;
    let mut archive = tar::Archive::new(file);
    let unread = |error: std::io::Error| {
        malformed(format!(
            "it is no archive of images, or a compressed one, which is not looked into ({error})"
        ))
    };
    // Members are passed over by seeking, because layers have gigabytes.
    for member in archive.entries_with_seek().map_err(unread)? {
        let member = member.map_err(unread)?;
        if member.path_bytes().as_ref() != MANIFEST.as_bytes() {
            continue;
        }
        let mut text = Vec::new();
        member.take(LARGEST).read_to_end(&mut text).map_err(unread)?;
        let all: Vec<Listed> =
            serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
        let named = all.into_iter().flat_map(|Listed { config, repo_tags }| {
            let id = id_of(&config);
            repo_tags
                .unwrap_or_default()
                .into_iter()
                .map(move |name| (full_name(&name), id.clone()))
        });
        return Ok(named.collect());
    }
    Err(malformed(
        "it has no list of images; `sandbox images save` writes files that do".to_owned(),
    ))
}

fn id_of(config: &str) -> String {
    let name = config.rsplit('/').next().unwrap_or_default();
    format!("sha256:{}", name.strip_suffix(".json").unwrap_or(name))
}

/// The name of an image with its tag, without the registry that Docker and Podman add to a name
/// that has none.
pub fn full_name(name: &str) -> String {
    let added = ["localhost/", "docker.io/library/", "docker.io/"];
    let own = added.iter().find_map(|registry| name.strip_prefix(registry)).unwrap_or(name);
    let last = own.rsplit('/').next().unwrap_or_default();
    if last.contains([':', '@']) { own.to_owned() } else { format!("{own}:latest") }
}

impl Engine {
    /// The id of an image, if the engine has it.
    ///
    /// # Errors
    /// When the engine does not answer.
    pub async fn id(&self, image: &str) -> Result<Option<String>, Error> {
        let id = self.image(image).await?.and_then(|image| image.id);
        // Podman's ids have no name of the digest in some versions.
        Ok(id.map(|id| if id.contains(':') { id } else { format!("sha256:{id}") }))
    }

    /// Gives an image another name, with a tag.
    ///
    /// # Errors
    /// When there is no such image, or the engine does not answer.
    pub async fn name(&self, image: &str, name: &str) -> Result<(), Error> {
        let (repository, tag) = name.rsplit_once(':').unwrap_or((name, "latest"));
        let options = TagImageOptionsBuilder::default().repo(repository).tag(tag).build();
        let named = self.docker().tag_image(image, Some(options)).await;
        named.map_err(Error::of_engine(format!("name the image {image}")))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn archive(members: &[(&str, &str)]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut archive = tar::Builder::new(file.reopen().unwrap());
        for (name, text) in members {
            let mut head = tar::Header::new_gnu();
            head.set_size(text.len() as u64);
            head.set_mode(0o644);
            archive.append_data(&mut head, name, text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        file
    }

    #[test]
    fn names_and_ids_are_read_of_both_forms() {
        let manifest = r#"[{"Config": "aa11.json", "RepoTags": ["sandbox/wiki:1"], "Layers": ["l/layer.tar"]},
            {"Config": "blobs/sha256/bb22", "RepoTags": ["localhost/sandbox/map:1", "docker.io/library/mysql"]},
            {"Config": "cc33.json", "RepoTags": null}]"#;
        let file = archive(&[
            ("aa11.json", "{}"),
            ("l/layer.tar", &"x".repeat(5000)),
            (MANIFEST, manifest),
        ]);
        let ids = ids(Utf8Path::from_path(file.path()).unwrap()).unwrap();
        let expected = [
            ("mysql:latest", "sha256:bb22"),
            ("sandbox/map:1", "sha256:bb22"),
            ("sandbox/wiki:1", "sha256:aa11"),
        ];
        assert_eq!(ids, expected.map(|(name, id)| (name.to_owned(), id.to_owned())).into());
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |file: tempfile::NamedTempFile| {
            ids(Utf8Path::from_path(file.path()).unwrap()).unwrap_err().to_string()
        };
        assert!(refused(archive(&[("a", "b")])).contains("no list of images"));
        assert!(refused(archive(&[(MANIFEST, "{}")])).contains("invalid type"));
        let text = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(text.path(), "x".repeat(2000)).unwrap();
        assert!(refused(text).contains("no archive of images"));
    }

    #[test]
    fn a_name_is_the_same_in_every_engine() {
        for (name, full) in [
            ("sandbox/wiki:1", "sandbox/wiki:1"),
            ("localhost/sandbox/wiki:1", "sandbox/wiki:1"),
            ("docker.io/jykoh/classifieds", "jykoh/classifieds:latest"),
            ("mysql:8.1", "mysql:8.1"),
            ("127.0.0.1:5000/b", "127.0.0.1:5000/b:latest"),
        ] {
            assert_eq!(full_name(name), full);
        }
    }
}
