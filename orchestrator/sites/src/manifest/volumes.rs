//! Volumes of a container, besides its image and its state: folders of this machine, and scratch
//! space.

use camino::{Utf8Path, Utf8PathBuf};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Bytes;

/// One mount inside a container: exactly one of `folder` and `scratch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Volume {
    /// A folder of this machine that the user supplies. The container can only read it. The path is
    /// relative to the manifest's own folder, or contains `${NAME}` for an environment variable
    /// that the user gives with `--site-env`.
    pub folder: Option<String>,
    /// The size of a writable in-memory folder, which counts towards the memory limit. Its content
    /// is removed with the instance.
    pub scratch: Option<Bytes>,
}

/// The absolute path of a folder on this machine. Variables are filled in already. The error says
/// what is missing and what to do.
pub(crate) fn folder_at(manifest: &Utf8Path, text: &str) -> Result<Utf8PathBuf, String> {
    let path = manifest.join(text);
    match path.canonicalize_utf8() {
        Ok(full) if full.is_dir() => Ok(full),
        Ok(full) => Err(format!("{full} is no folder; name the folder that it is in")),
        Err(error) => {
            Err(format!("{path} cannot be used ({error}); put the folder there, or name another"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_found_beside_its_manifest_and_a_file_is_none() {
        let keep = tempfile::tempdir().unwrap();
        let manifest = Utf8Path::from_path(keep.path()).unwrap().canonicalize_utf8().unwrap();
        std::fs::create_dir(manifest.join("data")).unwrap();
        std::fs::write(manifest.join("file"), "").unwrap();
        assert_eq!(folder_at(&manifest, "data").unwrap(), manifest.join("data"));
        assert_eq!(
            folder_at("/nonesuch".into(), manifest.as_str()).unwrap(),
            manifest,
            "a full name stands"
        );
        assert!(folder_at(&manifest, "file").unwrap_err().contains("is no folder"));
        let missing = folder_at(&manifest, "maps").unwrap_err();
        assert!(missing.contains("/maps cannot be used (No such file"), "{missing}");
        assert!(missing.ends_with("put the folder there, or name another"), "{missing}");
    }
}
