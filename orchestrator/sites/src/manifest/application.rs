//! The applications inside our own process, as a manifest names them.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// An application inside our own process.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Application {
    /// A forum.
    Forum,
    /// A front page that lists the other sites.
    Desk,
    /// A service desk for WorkArena's tasks, with a small base of records.
    Itsm,
    /// `static: FOLDER`: serves the files of a folder, written like that of a
    /// [`Volume`](super::Volume). The files do not change, so the manifest says `reset: never`.
    Static(String),
    /// `hosts: FOLDER`: like `static`, for several hosts with one subfolder each.
    Hosts(String),
    /// `turkingbench: FOLDER`: serves the task pages in TurkingBench's format, and stores what
    /// their forms send.
    #[schemars(rename = "turkingbench")]
    TurkingBench(String),
    /// `itsm: FOLDER`: the service desk, with all that WorkArena's tasks ask for. The folder is
    /// `data_files` of the package `browsergym-workarena`.
    #[schemars(rename = "itsm")]
    ItsmOf(String),
}

/// A name alone.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Named {
    Forum,
    Desk,
    Itsm,
}

/// A name with a folder.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WithFolder {
    Static(String),
    Hosts(String),
    #[serde(rename = "turkingbench", alias = "turk")]
    TurkingBench(String),
    Itsm(String),
}

/// One name is written in both ways, which no derived code reads.
impl<'de> Deserialize<'de> for Application {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = Application;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an application, or `NAME: FOLDER`")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Application, E> {
        Ok(match Named::deserialize(name.into_deserializer())? {
            Named::Forum => Application::Forum,
            Named::Desk => Application::Desk,
            Named::Itsm => Application::Itsm,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Application, A::Error> {
        Ok(match WithFolder::deserialize(MapAccessDeserializer::new(map))? {
            WithFolder::Static(folder) => Application::Static(folder),
            WithFolder::Hosts(folder) => Application::Hosts(folder),
            WithFolder::TurkingBench(folder) => Application::TurkingBench(folder),
            WithFolder::Itsm(folder) => Application::ItsmOf(folder),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_a_name_or_a_name_with_its_folder() {
        let read = |text: &str| serde_yaml::from_str::<Application>(text);
        let folder = || "a/b".to_owned();
        for (text, expected) in [
            ("forum", Application::Forum),
            ("desk", Application::Desk),
            ("itsm", Application::Itsm),
            ("{itsm: a/b}", Application::ItsmOf(folder())),
            ("static: a/b", Application::Static(folder())),
            ("{hosts: a/b}", Application::Hosts(folder())),
            ("{turkingbench: a/b}", Application::TurkingBench(folder())),
            ("{turk: a/b}", Application::TurkingBench(folder())),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for (text, says) in [
            ("shop", "unknown variant `shop`, expected one of `forum`, `desk`, `itsm`"),
            ("static", "unknown variant `static`"),
            ("{forum: a}", "unknown variant `forum`, expected one of `static`"),
            ("{static: a, hosts: b}", "expected"),
            ("[itsm]", "the name of an application, or `NAME: FOLDER`"),
            ("{itsm: [a]}", "invalid type: sequence, expected a string"),
            ("{}", "expected"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
