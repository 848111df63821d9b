//! WorkArena: the folder `data_files` of its package, with a JSON list of tasks for each of the 33
//! kinds of its first level.

mod rows;
mod suite;
mod unique;

use camino::Utf8PathBuf;
use jiff::Timestamp;
pub use rows::Setup;
use scoring::Scorer;
use scoring::workarena::{Articles, Config, Kind};
pub use suite::{PASSWORD, SuiteOptions, manifest, suite};

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
        let id = task_id("workarena", kind.name);
        let reason = format!("its tasks are in {TASKS}/{}, which is not there", kind.file);
        import.skipped.push(SkippedTask { id, reason });
        return Ok(());
    };
    let configs = configs(kind, json, setup)?;
    let taken = unique::taken(configs.len(), wanted.per_kind, wanted.seed, kind.name);
    for (number, mut config) in
        configs.into_iter().enumerate().filter(|(number, _)| taken.contains(number))
    {
        unique::make_unique(&mut config, unique::mix(wanted.seed, kind.name, number));
        import.tasks.push(task(kind, number, config, wanted));
    }
    Ok(())
}

/// Of BrowserGym's benchmark `workarena_l1`.
const MAX_STEPS: u32 = 15;

fn task(kind: &Kind, number: usize, config: Config, wanted: &TaskOptions) -> Task {
    // Set-up opens the first page, once there is a user.
    Task {
        sites: vec![wanted.site.clone()],
        max_steps: MAX_STEPS,
        tags: vec![kind.category.replace(' ', "-"), kind.name.to_owned()],
        oracle: config.oracle(wanted.address.trim_end_matches('/')),
        ..Task::new(
            task_id("workarena", &format!("{}-{number}", kind.name)),
            GoalText::Words(config.goal()),
            Scorer::WorkArena(config),
        )
    }
}

#[cfg(test)]
mod tests;
