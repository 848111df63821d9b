//! The folder with all tasks.

use camino::{Utf8Path, Utf8PathBuf};

use crate::{Batch, Error};

const TEMPLATE: &str = "template.html";
const BATCH: &str = "batch.csv";
/// The largest file in bytes.
const LARGEST: u64 = 256 << 20;

/// The tasks of a folder, sorted by slug.
#[derive(Debug, Clone)]
pub struct Folder {
    path: Utf8PathBuf,
    tasks: Vec<Task>,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The name of its folder.
    pub name: String,
    /// The name for URLs and ids: lower-case ASCII letters and digits, with `-` for everything
    /// else.
    pub slug: String,
    folder: Utf8PathBuf,
}

/// The benchmark's lists of tasks for evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// Twenty tasks.
    Easy,
    /// Seventeen.
    Hard,
    /// Three tasks whose answers are opinions.
    Subjective,
}

impl Split {
    /// All splits.
    pub const ALL: [Split; 3] = [Split::Easy, Split::Hard, Split::Subjective];

    /// The name of the split.
    pub fn name(self) -> &'static str {
        match self {
            Split::Easy => "easy",
            Split::Hard => "hard",
            Split::Subjective => "subjective",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Split::Easy => "evaluation_tasks_easy.txt",
            Split::Hard => "evaluation_tasks_hard.txt",
            Split::Subjective => "subjective_evaluation_tasks.txt",
        }
    }
}

impl Folder {
    /// Lists the tasks of a folder: the benchmark's repository or its `tasks` folder. Folders
    /// without a template or table are ignored.
    ///
    /// # Errors
    /// When the folder cannot be read, has no tasks, or has two tasks with the same slug.
    pub fn open(folder: &Utf8Path) -> Result<Folder, Error> {
        let inner = folder.join("tasks");
        let path = if inner.is_dir() { inner } else { folder.to_owned() };
        let unreadable = |source| Error::Read { path: path.clone(), source };
        let mut tasks = Vec::new();
        for entry in path.read_dir_utf8().map_err(unreadable)? {
            let folder = entry.map_err(unreadable)?.into_path();
            if folder.join(TEMPLATE).is_file() && folder.join(BATCH).is_file() {
                let name = folder.file_name().unwrap_or_default().to_owned();
                tasks.push(Task { slug: slug(&name), name, folder });
            }
        }
        if tasks.is_empty() {
            return Err(Error::Empty { path });
        }
        tasks.sort_by(|a, b| a.slug.cmp(&b.slug).then_with(|| a.name.cmp(&b.name)));
        if let Some([one, other]) = tasks.windows(2).find(|pair| pair[0].slug == pair[1].slug) {
            let (one, other, slug) = (one.name.clone(), other.name.clone(), one.slug.clone());
            return Err(Error::Alike { one, other, slug });
        }
        Ok(Folder { path, tasks })
    }

    /// The folder with the tasks.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The tasks, sorted by slug.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The task with this slug.
    pub fn task(&self, slug: &str) -> Option<&Task> {
        self.tasks
            .binary_search_by(|task| task.slug.as_str().cmp(slug))
            .ok()
            .map(|at| &self.tasks[at])
    }

    /// The names of a split's tasks, in the benchmark's order. Some of them may be missing in the
    /// folder.
    ///
    /// # Errors
    /// When the list is not beside the tasks.
    pub fn split(&self, split: Split) -> Result<Vec<String>, Error> {
        let beside = self.path.parent().unwrap_or(&self.path);
        let path = beside.join("data/splits").join(split.file());
        let text =
            files::read_text(&path, LARGEST).map_err(|source| Error::Split { path, source })?;
        Ok(text.lines().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

impl Task {
    /// The page template, with variables.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn template(&self) -> Result<String, Error> {
        self.read(TEMPLATE)
    }

    /// The table.
    ///
    /// # Errors
    /// When the file cannot be read or is invalid.
    pub fn batch(&self) -> Result<Batch, Error> {
        let path = self.folder.join(BATCH);
        Batch::read(&self.read(BATCH)?).map_err(|(line, reason)| Error::Table {
            path,
            line,
            reason,
        })
    }

    fn read(&self, file: &str) -> Result<String, Error> {
        let path = self.folder.join(file);
        files::read_text(&path, LARGEST).map_err(|source| Error::Read { path, source })
    }
}

fn slug(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    fn ground(names: &[&str]) -> (tempfile::TempDir, Utf8PathBuf) {
        let keep = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(keep.path()).unwrap().to_owned();
        for name in names {
            let folder = root.join("tasks").join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(TEMPLATE), "<p>${a}</p>").unwrap();
            fs::write(folder.join(BATCH), "a,Answer.b\n1,2\n").unwrap();
        }
        (keep, root)
    }

    #[test]
    fn tasks_are_found_in_the_repository_and_in_its_folder() {
        let (_keep, root) = ground(&["Two words (new)", "Alone"]);
        fs::create_dir_all(root.join("tasks/empty")).unwrap();
        fs::create_dir_all(root.join("data/splits")).unwrap();
        fs::write(root.join("data/splits/evaluation_tasks_hard.txt"), "Alone\r\nElsewhere\n")
            .unwrap();
        for path in [root.clone(), root.join("tasks")] {
            let folder = Folder::open(&path).unwrap();
            let slugs: Vec<&str> = folder.tasks().iter().map(|task| task.slug.as_str()).collect();
            assert_eq!(slugs, ["alone", "two-words-new"]);
            let task = folder.task("two-words-new").unwrap();
            assert_eq!((task.name.as_str(), task.batch().unwrap().rows), ("Two words (new)", 1));
            assert_eq!(folder.task("three").map(|task| &task.name), None);
            assert_eq!(folder.split(Split::Hard).unwrap(), ["Alone", "Elsewhere"]);
            assert!(
                folder.split(Split::Easy).unwrap_err().to_string().contains("whole repository")
            );
        }
    }

    #[test]
    fn what_has_no_tasks_or_two_alike_is_refused() {
        let (_keep, root) = ground(&["a b", "A-B"]);
        assert!(Folder::open(&root).unwrap_err().to_string().contains("both have the URL `a-b`"));
        let (_keep, root) = ground(&[]);
        assert!(
            Folder::open(&root)
                .unwrap_err()
                .to_string()
                .contains("name the benchmark's repository")
        );
    }
}
