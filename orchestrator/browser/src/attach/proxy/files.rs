//! The folders that a client may have the browser read from and write to.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Limits;
use crate::act::upload;

impl Limits {
    /// Replaces the names in a list of files by the paths that were checked. Fails if one is
    /// outside the upload folders.
    pub(super) fn uploads(&self, files: Option<&mut Value>) -> Result<(), String> {
        let Some(files) = files else { return Ok(()) };
        let Some(list) = files.as_array_mut() else {
            return Err("`files` is not a list".to_owned());
        };
        for file in list {
            let name = file.as_str().ok_or("`files` is not a list of names")?;
            let found =
                upload::find(&self.uploads, name).map_err(|why| self.not_uploaded(name, why))?;
            *file = found.to_str().ok_or_else(|| format!("{name} is not UTF-8"))?.into();
        }
        Ok(())
    }

    fn not_uploaded(&self, name: &str, why: &str) -> String {
        let folders: Vec<String> =
            self.uploads.iter().map(|folder| folder.display().to_string()).collect();
        format!("failed to upload {name}: {why}; they are in {}", folders.join(" and "))
    }

    /// Checks where downloads are to go. Allowed are the episode's folder, and an empty folder that
    /// the client has created for itself, under names that no page has chosen. The folder `.`,
    /// which chromedriver names for each tab, is the episode's.
    pub(super) fn downloads(&self, params: &mut Value) -> Result<(), String> {
        if params["behavior"] == "allow" && params["downloadPath"] == "." {
            let own = self.downloads.to_str().ok_or("the folder of downloads is not UTF-8")?;
            params["downloadPath"] = own.into();
            return Ok(());
        }
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
        if !text("behavior").starts_with("allow") {
            return Ok(());
        }
        let path = Path::new(text("downloadPath"));
        if is_inside(path, &self.downloads)
            || (text("behavior") == "allowAndName" && is_a_fresh_one(path))
        {
            return Ok(());
        }
        Err(format!(
            "failed to have downloads go to `{}`: they go to {}, or with the behavior `allowAndName` to a new, empty folder for temporary files",
            path.display(),
            self.downloads.display()
        ))
    }
}

fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(path).zip(real(folder)).is_some_and(|(path, folder)| path.starts_with(folder))
}

/// A folder as clients create it for their downloads: in the system's folder for temporary files,
/// owned by this user, and empty.
fn is_a_fresh_one(path: &Path) -> bool {
    let own = || -> std::io::Result<bool> {
        let real: PathBuf = path.canonicalize()?;
        let found = fs::metadata(&real)?;
        let ours = found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0;
        let temporary = std::env::temp_dir().canonicalize()?;
        let within = real.starts_with(&temporary) && real != temporary;
        Ok(path.is_absolute()
            && found.is_dir()
            && ours
            && within
            && fs::read_dir(&real)?.next().is_none())
    };
    own().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use serde_json::json;

    use super::*;

    fn limits(folder: &Path) -> Limits {
        for name in ["task", "downloads", "fresh", "used", "shared"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        fs::write(folder.join("task/cv.pdf"), "").unwrap();
        fs::write(folder.join("secret"), "").unwrap();
        symlink("../secret", folder.join("task/link")).unwrap();
        fs::write(folder.join("used/file"), "").unwrap();
        fs::set_permissions(folder.join("shared"), fs::Permissions::from_mode(0o777)).unwrap();
        symlink("/", folder.join("downloads/root")).unwrap();
        let proxy = ([127, 0, 0, 1], 1).into();
        Limits { proxy, uploads: vec![folder.join("task")], downloads: folder.join("downloads") }
    }

    #[test]
    fn uploads_come_from_the_tasks_folder() {
        let folder = tempfile::tempdir().unwrap();
        let limits = limits(folder.path());
        let inside = folder.path().join("task/cv.pdf").canonicalize().unwrap();
        for name in ["cv.pdf", "./cv.pdf", inside.to_str().unwrap()] {
            let mut files = json!([name]);
            limits.uploads(Some(&mut files)).unwrap();
            assert_eq!(files, json!([inside]));
        }
        let secret = folder.path().join("secret");
        for name in
            ["../secret", "link", secret.to_str().unwrap(), "/etc/passwd", "nothing", "", "."]
        {
            assert!(limits.uploads(Some(&mut json!([name]))).is_err(), "{name:?}");
        }
        assert!(limits.uploads(Some(&mut json!(["cv.pdf", "link"]))).is_err());
        assert!(limits.uploads(Some(&mut json!("cv.pdf"))).is_err());
    }

    #[test]
    fn downloads_go_where_they_overwrite_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let limits = limits(folder.path());
        let check = |behavior: &str, name: &str| {
            limits
                .downloads(
                    &mut json!({ "behavior": behavior, "downloadPath": folder.path().join(name) }),
                )
                .is_ok()
        };
        assert!(
            check("allow", "downloads")
                && check("deny", "nothing")
                && check("allowAndName", "fresh")
        );
        for (behavior, name) in [
            ("allow", "fresh"),
            ("allowAndName", "used"),
            ("allowAndName", "shared"),
            ("allow", "downloads/root"),
            ("allow", "downloads/.."),
            ("allow", "nothing"),
        ] {
            assert!(!check(behavior, name), "{behavior} {name}");
        }
        let mut own = json!({ "behavior": "allow", "downloadPath": "." });
        limits.downloads(&mut own).unwrap();
        assert_eq!(own["downloadPath"], folder.path().join("downloads").to_str().unwrap());
        for path in ["", ".", "/", "/tmp", "/root"] {
            assert!(
                limits
                    .downloads(&mut json!({ "behavior": "allowAndName", "downloadPath": path }))
                    .is_err(),
                "{path}"
            );
        }
    }
}
