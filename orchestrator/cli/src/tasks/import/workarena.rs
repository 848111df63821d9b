//! WorkArena: its tasks, on an instance of ServiceNow that is the user's.

use std::{fs, io};

use anyhow::{Context as _, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use scoring::workarena::KINDS;
use tasks::import::Import;
use tasks::import::workarena::{ARTICLES, FORMS, Setup, TASKS, Wanted, workarena, world};
use url::Url;

use super::Written;
use crate::failure::{OrFail, Outcome};

/// The manifest of the instance.
const SITE: &str = "servicenow";
/// The variable that holds the password of its administrator, as the package calls it.
const PASSWORD: &str = "SNOW_INSTANCE_PWD";

/// Which tasks, and on which instance.
#[derive(clap::Args)]
pub(in crate::tasks) struct Choice {
    /// Where the instance is, such as `https://dev12345.service-now.com`
    #[arg(long, value_name = "URL")]
    instance: Url,
    /// Who sets tasks up on it; the password is in SNOW_INSTANCE_PWD when they are run
    #[arg(long, default_value = "admin", value_name = "NAME")]
    user: String,
    /// How many tasks of each of the 33 kinds; all of them if not said
    #[arg(long, value_name = "NUMBER")]
    per_type: Option<usize>,
    /// What values follow from that have to be unique, and which tasks are taken where not all are
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
    /// What clocks show when an episode begins
    #[arg(long, value_name = "TIME", default_value = "2024-09-01T12:00:00Z")]
    clock: jiff::Timestamp,
}

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, choice: Choice, output: &Utf8Path) -> Outcome {
    let (import, manifest) = read(folder, &choice).or_input("import WorkArena")?;
    let world = world("sites".into(), choice.clock, choice.seed);
    let suite = Written {
        name: "workarena",
        world,
        manifests: vec![(SITE, manifest)],
        files: Vec::new(),
        import: &import,
    };
    suite.write(output).or_input("write the suite")?;
    println!("{output}: {}, on {}", counted(import.tasks.len(), "task"), choice.instance);
    suite.say_rest(output);
    println!("set {PASSWORD} to the password of `{}` before", choice.user);
    Ok(())
}

fn read(folder: &Utf8Path, choice: &Choice) -> anyhow::Result<(Import, String)> {
    let folder = find_data(folder)?;
    let manifest = manifest(choice)?;
    let mut setup = Setup::default();
    let path = folder.join(ARTICLES);
    if let Some(json) = text(&path)? {
        setup.read_articles(&json).with_context(|| path.to_string())?;
    }
    for (table, file) in FORMS {
        let path = folder.join(file);
        if let Some(json) = text(&path)? {
            setup.read_form(table, &json).with_context(|| path.to_string())?;
        }
    }
    let wanted = Wanted {
        site: SITE.to_owned(),
        address: origin(&choice.instance),
        seed: choice.seed,
        per_kind: choice.per_type,
    };
    let mut import = Import::default();
    for kind in &KINDS {
        let path = folder.join(TASKS).join(kind.file);
        let json = text(&path)?;
        workarena(kind, json.as_deref(), &setup, &wanted, &mut import).with_context(|| path.to_string())?;
    }
    Ok((import, manifest))
}

/// A file that may be missing.
fn text(path: &Utf8Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).context(path.to_string()),
    }
}

/// The folder `data_files`: it, or one that holds it.
fn find_data(folder: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    for inside in ["", "data_files", "browsergym/workarena/data_files"] {
        let data = folder.join(inside);
        if data.join(TASKS).is_dir() {
            return Ok(data);
        }
    }
    bail!("{folder} has no folder {TASKS}; name the folder `data_files` of the package")
}

fn origin(instance: &Url) -> String {
    instance.origin().ascii_serialization()
}

/// The manifest of the instance. A JSON text is a YAML text, too, whatever is in it.
fn manifest(choice: &Choice) -> anyhow::Result<String> {
    let instance = &choice.instance;
    ensure!(matches!(instance.scheme(), "http" | "https"), "{instance} is no address of a web server");
    let host = instance.host_str().with_context(|| format!("{instance} has no host"))?;
    let text = |text: &str| serde_json::Value::from(text);
    let user = &choice.user;
    Ok(format!(
        "title: ServiceNow
about: An instance of yours, with what WorkArena installs on it.
driver: external
url: {url}
hosts: [{host}]
ready:
  log-in page: {{get: /login.do, status: 200}}
ready_within: 2m
accounts:
  admin: {{username: {user}, password: \"${{{PASSWORD}}}\", role: administrator}}
reset: never                         # each episode makes a user of its own and removes what that has made
",
        url = text(&origin(instance)),
        host = text(host),
        user = text(user),
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn choice(instance: &str) -> Choice {
        Choice {
            instance: instance.parse().unwrap(),
            user: "ann: #1".to_owned(),
            per_type: None,
            seed: 0,
            clock: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn the_manifest_is_one() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        let text = manifest(&choice("https://dev1.service-now.com/now/nav?x")).unwrap();
        fs::write(folder.join("site.yaml"), text).unwrap();
        let site = sites::Site::load(folder).unwrap();
        assert_eq!(site.address(), "https://dev1.service-now.com/");
        let sites::manifest::DriverSpec::External(external) = &site.driver else { panic!("{site:?}") };
        assert_eq!(external.url, "https://dev1.service-now.com");
        assert_eq!(site.accounts["admin"].username, "ann: #1");
        assert!(manifest(&choice("file:///etc")).is_err());
    }
}
