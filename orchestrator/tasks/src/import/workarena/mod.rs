//! WorkArena: the folder `data_files` of its package, with a JSON list of tasks for each of the 33
//! kinds of its first level.

mod draws;
mod rows;
mod suite;
mod unique;

use camino::Utf8PathBuf;
pub use draws::{config_number, published_seeds};
use jiff::Timestamp;
pub use rows::Setup;
use scoring::Scorer;
use scoring::workarena::{Articles, Config, Kind};
pub use suite::{PASSWORD, Platform, SuiteOptions, desk_manifest, manifest, suite};

use super::{Import, ImportError, SkippedTask, read_json, task_id};
use crate::{GoalText, MatchLevel, Task, WorldSpec};

/// The folder with the tasks of every [`Kind`].
pub const TASKS: &str = "task_configs";
/// The articles of the knowledge base.
pub const ARTICLES: &str = "setup_files/knowledge/knowledge_base.json";
/// The tables of the forms, and the file of each.
pub const FORMS: [(&str, &str); 5] = [
    ("change_request", "setup_files/forms/expected_change_request_form_fields.json"),
    ("alm_hardware", "setup_files/forms/expected_hardware_form_fields.json"),
    ("incident", "setup_files/forms/expected_incident_form_fields.json"),
    ("problem", "setup_files/forms/expected_problem_form_fields.json"),
    ("sys_user", "setup_files/forms/expected_user_form_fields.json"),
];

/// The name of the suite on the built-in desk, with which the ids of its tasks begin. It is another
/// one than that of suites on the benchmark's own platform: their scores do not compare.
pub const DESK: &str = "workarena-desk";
/// What is said beside every score of such tasks.
pub const DESK_SCORES: &str =
    "WorkArena's tasks on the built-in desk; they do not compare with scores on its platform";

/// Whether a task, by its id, is one of WorkArena's on the built-in desk.
pub fn is_on_desk(id: &str) -> bool {
    id.strip_prefix(DESK).is_some_and(|rest| rest.starts_with('-'))
}

/// The name of suites on the benchmark's own platform.
const WORKARENA: &str = "workarena";

/// The tasks of each kind that are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// Every configuration, once. Their ids end with its number: `workarena-all-menu-12`.
    All,
    /// Those of BrowserGym's benchmark `workarena_l1`: ten seeds of each kind, with what the
    /// package draws from each. Their ids end with the seed: `workarena-all-menu.573`.
    Published,
}

/// The options of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOptions {
    /// The manifest of the instance.
    pub site: String,
    /// The address of the instance, such as `https://desk.test`.
    pub address: String,
    /// The seed of values that have to be unique, and of the choice of tasks where not all are
    /// taken.
    pub seed: u64,
    /// How many tasks of each kind at most.
    pub per_kind: Option<usize>,
    pub selection: Selection,
    /// What ids begin with.
    pub prefix: &'static str,
}

impl TaskOptions {
    /// Every task, on this instance of the benchmark's platform.
    pub fn new(site: &str, address: &str) -> TaskOptions {
        TaskOptions {
            site: site.to_owned(),
            address: address.to_owned(),
            seed: 0,
            per_kind: None,
            selection: Selection::All,
            prefix: WORKARENA,
        }
    }
}

/// The world of such a suite: the viewport of `tasks/base.py`, and the sites of a folder.
pub fn world(sites: Utf8PathBuf, clock: Timestamp, seed: u64) -> WorldSpec {
    WorldSpec {
        sites: Some(sites),
        seed,
        viewport: (1280, 720),
        match_level: MatchLevel::Exact,
        ..WorldSpec::new(clock)
    }
}

impl Setup {
    /// Takes [`ARTICLES`].
    ///
    /// # Errors
    /// When the text is no such list, or an article has a key that is not known.
    pub fn read_articles(&mut self, json: &str) -> Result<(), ImportError> {
        let articles: Vec<rows::ArticleRow> = read_json(json)?;
        self.base = Some(Articles::of(articles.iter().map(|row| row.article.as_str())));
        Ok(())
    }

    /// Takes one of [`FORMS`].
    ///
    /// # Errors
    /// When the text is no list of columns.
    pub fn read_form(&mut self, table: &str, json: &str) -> Result<(), ImportError> {
        self.forms.insert(table.to_owned(), read_json(json)?);
        Ok(())
    }
}

/// All tasks of a kind, as its file has them.
///
/// # Errors
/// When the text is no such list, or a task has a key that is not known.
pub fn configs(kind: &Kind, json: &str, setup: &Setup) -> Result<Vec<Config>, ImportError> {
    rows::read(kind.form, json, setup)
}

/// Adds the wanted tasks of a kind; `json` is its file, if there is one.
///
/// # Errors
/// When the text is no such list, or a task has a key that is not known.
pub fn workarena(
    kind: &Kind,
    json: Option<&str>,
    setup: &Setup,
    wanted: &TaskOptions,
    import: &mut Import,
) -> Result<(), ImportError> {
    let Some(json) = json else {
        let id = task_id(wanted.prefix, kind.name);
        let reason = format!("its tasks are in {TASKS}/{}, which is not there", kind.file);
        import.skipped.push(SkippedTask { id, reason });
        return Ok(());
    };
    let configs = configs(kind, json, setup)?;
    let mut add = |ending: String, number: usize, mut config: Config| {
        unique::make_unique(&mut config, unique::mix(wanted.seed, kind.name, number));
        import.tasks.push(task(kind, &ending, config, wanted));
    };
    match wanted.selection {
        Selection::All => {
            let taken = unique::taken(configs.len(), wanted.per_kind, wanted.seed, kind.name);
            let all = configs.into_iter().enumerate();
            for (number, config) in all.filter(|(number, _)| taken.contains(number)) {
                add(format!("-{number}"), number, config);
            }
        }
        Selection::Published => {
            let seeds = published_seeds(kind.name).into_iter();
            for seed in seeds.take(wanted.per_kind.unwrap_or(usize::MAX)) {
                let Some(number) = config_number(seed, configs.len()) else { break };
                // Two seeds may have one configuration, and records of their own nevertheless.
                add(format!(".{seed}"), seed as usize, configs[number].clone());
            }
        }
    }
    Ok(())
}

/// Of BrowserGym's benchmark `workarena_l1`.
const MAX_STEPS: u32 = 15;

fn task(kind: &Kind, ending: &str, config: Config, wanted: &TaskOptions) -> Task {
    // Set-up opens the first page, once there is a user.
    Task {
        sites: vec![wanted.site.clone()],
        max_steps: MAX_STEPS,
        tags: vec![kind.category.replace(' ', "-"), kind.name.to_owned()],
        oracle: config.oracle(wanted.address.trim_end_matches('/')),
        ..Task::new(
            task_id(wanted.prefix, &format!("{}{ending}", kind.name)),
            GoalText::Words(config.goal()),
            Scorer::WorkArena(config),
        )
    }
}

#[cfg(test)]
mod tests;
