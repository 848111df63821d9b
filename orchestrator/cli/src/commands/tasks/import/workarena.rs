//! WorkArena: its tasks, on an instance of ServiceNow that is the user's, or on the built-in desk.

use camino::Utf8Path;
use results::counted;
use tasks::import::workarena::{DESK_SCORES, PASSWORD, Platform, Selection, SuiteOptions, suite};
use url::Url;

use super::{say_rest, write};
use crate::failure::{OrFail, Outcome};

/// Which tasks, and on what.
#[derive(clap::Args)]
pub(in crate::commands::tasks) struct Choice {
    #[command(flatten)]
    place: Place,
    /// Administrator who sets tasks up on an instance; a run takes the password with
    /// --site-env SNOW_INSTANCE_PWD
    #[arg(long, default_value = "admin", value_name = "NAME", conflicts_with = "desk")]
    user: String,
    /// Tasks of each kind: those of the benchmark's published seeds, or every configuration
    /// [default: published with --desk, all with --instance]
    #[arg(long, value_name = "SEEDS")]
    seeds: Option<Seeds>,
    /// Number of tasks of each of the 33 kinds [default: all]
    #[arg(long, value_name = "NUMBER")]
    per_type: Option<usize>,
    /// Seed of unique values, and of the choice of tasks with --per-type and --seeds all
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
    /// Time on the clocks when an episode begins
    #[arg(long, value_name = "TIME", default_value = "2025-09-01T12:00:00Z")]
    clock: jiff::Timestamp,
}

/// What the tasks are done on.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// Address of ServiceNow, such as `https://dev12345.service-now.com`
    #[arg(long, value_name = "URL")]
    instance: Option<Url>,
    /// Use the built-in service desk, whose scores do not compare with those of WorkArena's
    /// platform
    #[arg(long)]
    desk: bool,
}

/// Tasks of each kind
#[derive(Clone, Copy, clap::ValueEnum)]
enum Seeds {
    /// The 10 of BrowserGym's benchmark `workarena_l1`: 330 in all
    Published,
    /// Every configuration, by its number: 19,833 in all
    All,
}

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, choice: Choice, output: &Utf8Path) -> Outcome {
    let Choice { place, user, seeds, per_type, seed, clock } = choice;
    let platform = match place.instance {
        Some(address) => Platform::Instance { address, user },
        None => Platform::Desk,
    };
    let selection = match (seeds, &platform) {
        (Some(Seeds::Published), _) | (None, Platform::Desk) => Selection::Published,
        (Some(Seeds::All), _) | (None, Platform::Instance { .. }) => Selection::All,
    };
    let options = SuiteOptions { platform, selection, per_kind: per_type, seed, clock };
    let suite = suite(folder, &options).or_input("import WorkArena")?;
    write(&suite, output)?;
    let tasks = counted(suite.import.tasks.len(), "task");
    match &options.platform {
        Platform::Instance { address, .. } => println!("{output}: {tasks}, on {address}"),
        Platform::Desk => {
            println!("{output}: {tasks}, on the built-in desk");
            println!("their scores: {DESK_SCORES}");
        }
    }
    say_rest(&suite.import, output);
    if let Platform::Instance { user, .. } = &options.platform {
        println!("set {PASSWORD} to the password of `{user}` before");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use sites::manifest::{Application, DriverSpec};
    use tasks::import::workarena::{desk_manifest, manifest};

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
        let DriverSpec::External(external) = &site.driver else { panic!("{site:?}") };
        assert_eq!(external.url, "https://dev1.service-now.com");
        assert_eq!(site.accounts["admin"].username, "ann: #1");
        assert!(manifest(&instance("file:///etc"), "ann").is_err());
    }

    #[test]
    fn the_manifest_of_the_desk_names_the_data_and_the_clock() {
        let keep = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(keep.path()).unwrap().canonicalize_utf8().unwrap();
        let data = folder.join("data: \"#1\"");
        fs::create_dir(&data).unwrap();
        let clock = "2025-01-02T03:04:05Z".parse().unwrap();
        fs::write(folder.join("site.yaml"), desk_manifest(&data, clock).unwrap()).unwrap();
        let site = sites::Site::load(&folder).unwrap();
        assert_eq!(site.driver, DriverSpec::Embedded(Application::ItsmOf(data.to_string())));
        assert_eq!((site.address().as_str(), site.clock), ("https://itsm.test/", Some(clock)));
        assert_eq!(site.accounts["admin"].username, "admin");
        assert!(desk_manifest(&folder.join("nonesuch"), clock).is_err());
    }
}
