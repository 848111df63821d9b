//! Recipes: the folders under `images/` with a Dockerfile, and their base images.

use camino::{Utf8Path, Utf8PathBuf};

use crate::Error;

/// A folder with a Dockerfile.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// The folder's name.
    pub name: String,
    /// The path of the folder.
    pub folder: Utf8PathBuf,
}

impl Recipe {
    /// The recipes with these `names` under `images`, or all of them, ordered by name.
    ///
    /// # Errors
    /// When the folder cannot be read, or a name has no recipe.
    pub fn find(images: &Utf8Path, names: &[String]) -> Result<Vec<Recipe>, Error> {
        let mut all = Vec::new();
        for entry in images.read_dir_utf8().map_err(Error::of_file("read", images))? {
            let folder = entry.map_err(Error::of_file("read", images))?.into_path();
            if let Some(name) = folder.file_name().filter(|_| folder.join("Dockerfile").is_file()) {
                all.push(Recipe { name: name.to_owned(), folder: folder.clone() });
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        for name in names {
            if !all.iter().any(|recipe| recipe.name == *name) {
                let known = all.into_iter().map(|recipe| recipe.name).collect();
                return Err(Error::Unknown { name: name.clone(), known });
            }
        }
        all.retain(|recipe| names.is_empty() || names.contains(&recipe.name));
        Ok(all)
    }

    /// The tag of its image.
    pub fn tag(&self) -> String {
        format!("sandbox/{}:1", self.name)
    }

    /// The base images of the Dockerfile, without its own stages.
    pub(crate) fn bases(&self) -> Result<Vec<String>, Error> {
        Ok(bases(&self.dockerfile()?))
    }

    /// Files of `common/` beside the folder that the Dockerfile copies: their paths in the context
    /// and on disk. The folder's own files go first.
    pub(crate) fn common_files(&self) -> Result<Vec<(String, Utf8PathBuf)>, Error> {
        let beside = self.folder.parent().unwrap_or(Utf8Path::new(""));
        let mut files = Vec::new();
        for name in copied_from_common(&self.dockerfile()?) {
            let path = beside.join(&name);
            // What is in neither place is reported by the step that copies it.
            if !self.folder.join(&name).exists() && path.is_file() {
                files.push((name, path));
            }
        }
        Ok(files)
    }

    fn dockerfile(&self) -> Result<String, Error> {
        let path = self.folder.join("Dockerfile");
        std::fs::read_to_string(&path).map_err(Error::of_file("read", &path))
    }
}

fn copied_from_common(dockerfile: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in dockerfile.lines() {
        let mut words = line.split_whitespace();
        let copies = words.next().is_some_and(|word| word.eq_ignore_ascii_case("copy"));
        // Another stage has a folder of that name for itself.
        if copies && !line.contains("--from=") {
            names.extend(words.filter(|word| is_in_common(word)).map(str::to_owned));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Whether it is `common/` with the name of a file.
fn is_in_common(word: &str) -> bool {
    word.strip_prefix("common/").is_some_and(|name| !name.is_empty() && !name.contains('/'))
}

fn bases(dockerfile: &str) -> Vec<String> {
    let (mut stages, mut bases) = (Vec::new(), Vec::new());
    for line in dockerfile.lines() {
        let mut words = line.split_whitespace();
        if !words.next().is_some_and(|word| word.eq_ignore_ascii_case("from")) {
            continue;
        }
        let mut words = words.filter(|word| !word.starts_with("--"));
        // The engine resolves a base in a build argument.
        let base = words.next().filter(|base| *base != "scratch" && !base.contains('$'));
        if let Some(base) = base.map(str::to_owned)
            && !stages.contains(&base)
            && !bases.contains(&base)
        {
            bases.push(base);
        }
        if words.next().is_some_and(|word| word.eq_ignore_ascii_case("as")) {
            stages.extend(words.next().map(str::to_owned));
        }
    }
    bases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_what_no_stage_is_called() {
        let text = "# FROM comment\nARG x\nFROM --platform=linux/amd64 debian:bookworm-slim AS build\nRUN true\n\
                    from build as next\nFROM scratch\nFROM $x\nFROM debian:bookworm-slim\nFROM sandbox/a:1";
        assert_eq!(bases(text), ["debian:bookworm-slim", "sandbox/a:1"]);
    }

    #[test]
    fn files_of_several_images_are_those_that_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let images = Utf8Path::from_path(folder.path()).unwrap();
        for (name, text) in [
            (
                "a/Dockerfile",
                "FROM x\nCOPY common/clock.sh common/own.py a.py /x/\nCOPY --from=b common/not.py /\n\
                 COPY common/../a/a.py common/none.py /\n# COPY common/not.py /\n",
            ),
            ("a/common/own.py", "1"),
            ("common/clock.sh", "2"),
            ("common/own.py", "3"),
            ("common/not.py", "4"),
        ] {
            let path = images.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let recipe = &Recipe::find(images, &["a".to_owned()]).unwrap()[0];
        let expected = [("common/clock.sh".to_owned(), images.join("common/clock.sh"))];
        assert_eq!(recipe.common_files().unwrap(), expected);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let folder = tempfile::tempdir().unwrap();
        let images = Utf8Path::from_path(folder.path()).unwrap();
        for name in ["b", "a", "no-recipe"] {
            std::fs::create_dir(images.join(name)).unwrap();
        }
        std::fs::write(images.join("a/Dockerfile"), "").unwrap();
        std::fs::write(images.join("b/Dockerfile"), "").unwrap();
        let names: Vec<_> =
            Recipe::find(images, &[]).unwrap().into_iter().map(|recipe| recipe.tag()).collect();
        assert_eq!(names, ["sandbox/a:1", "sandbox/b:1"]);
        let error = Recipe::find(images, &["c".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "find image \"c\"; there are: a, b");
    }
}
