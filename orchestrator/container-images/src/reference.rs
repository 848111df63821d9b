//! Parses image names: `registry:5000/some/name:tag@sha256:digest`.

/// An image name with its tag or digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Registry and repository, without tag and digest.
    pub name: String,
    /// The tag. Defaults to `latest` if there is no digest.
    pub tag: Option<String>,
    /// The digest, as `sha256:...`.
    pub digest: Option<String>,
}

impl Reference {
    /// Parses a name. The engine decides whether it is valid.
    pub fn parse(text: &str) -> Reference {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest.to_owned())),
            None => (text, None),
        };
        // A colon before the last slash belongs to the registry's port.
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag.to_owned())),
            _ => (rest, None),
        };
        let tag = tag.or_else(|| digest.is_none().then(|| "latest".to_owned()));
        Reference { name: name.to_owned(), tag, digest }
    }

    /// The name with this digest, which identifies exactly one image.
    pub fn pinned(&self, digest: &str) -> String {
        format!("{}@{digest}", self.name)
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_apart_and_together_again() {
        let check = |text: &str,
                     name: &str,
                     tag: Option<&str>,
                     digest: Option<&str>,
                     whole: &str| {
            let reference = Reference::parse(text);
            assert_eq!(
                (reference.name.as_str(), reference.tag.as_deref(), reference.digest.as_deref()),
                (name, tag, digest)
            );
            assert_eq!(reference.to_string(), whole);
        };
        check("debian", "debian", Some("latest"), None, "debian:latest");
        check("a.b:5000/c", "a.b:5000/c", Some("latest"), None, "a.b:5000/c:latest");
        check("a.b:5000/c/d:1", "a.b:5000/c/d", Some("1"), None, "a.b:5000/c/d:1");
        check("c@sha256:00", "c", None, Some("sha256:00"), "c@sha256:00");
        assert_eq!(Reference::parse("c:1").pinned("sha256:00"), "c@sha256:00");
    }
}
