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
        let path = self.folder.join("Dockerfile");
        let text = std::fs::read_to_string(&path).map_err(Error::of_file("read", &path))?;
        Ok(bases(&text))
    }
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
