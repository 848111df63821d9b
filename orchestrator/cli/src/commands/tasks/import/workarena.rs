//! WorkArena: its tasks, on an instance of ServiceNow that is the user's.

use camino::Utf8Path;
use results::counted;
use tasks::import::workarena::{PASSWORD, SuiteOptions, suite};
use url::Url;

use super::{say_rest, write};
use crate::failure::{OrFail, Outcome};

/// Which tasks, and on which instance.
#[derive(clap::Args)]
pub(in crate::commands::tasks) struct Choice {
    /// Address of ServiceNow, such as `https://dev12345.service-now.com`
    #[arg(long, value_name = "URL")]
    instance: Url,
    /// Administrator who sets tasks up; a run takes the password with
    /// --site-env SNOW_INSTANCE_PWD
    #[arg(long, default_value = "admin", value_name = "NAME")]
    user: String,
    /// Number of tasks of each of the 33 kinds [default: all]
    #[arg(long, value_name = "NUMBER")]
    per_type: Option<usize>,
    /// Seed of unique values, and of the choice of tasks with --per-type
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
    /// Time on the clocks when an episode begins
    #[arg(long, value_name = "TIME", default_value = "2024-09-01T12:00:00Z")]
    clock: jiff::Timestamp,
}

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, choice: Choice, output: &Utf8Path) -> Outcome {
    let Choice { instance, user, per_type, seed, clock } = choice;
    let options = SuiteOptions { instance, user, per_kind: per_type, seed, clock };
    let suite = suite(folder, &options).or_input("import WorkArena")?;
    write(&suite, output)?;
    println!("{output}: {}, on {}", counted(suite.import.tasks.len(), "task"), options.instance);
    say_rest(&suite.import, output);
    println!("set {PASSWORD} to the password of `{}` before", options.user);
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use tasks::import::workarena::manifest;

    use super::*;

    #[test]
    fn the_manifest_is_one() {
        let instance = |url: &str| url.parse::<Url>().unwrap();
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap();
        let text =
            manifest(&instance("https://dev1.service-now.com/now/nav?x"), "ann: #1").unwrap();
        fs::write(folder.join("site.yaml"), text).unwrap();
        let site = sites::Site::load(folder).unwrap();
        assert_eq!(site.address(), "https://dev1.service-now.com/");
        let sites::manifest::DriverSpec::External(external) = &site.driver else {
            panic!("{site:?}")
        };
        assert_eq!(external.url, "https://dev1.service-now.com");
        assert_eq!(site.accounts["admin"].username, "ann: #1");
        assert!(manifest(&instance("file:///etc"), "ann").is_err());
    }
}
