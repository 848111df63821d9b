//! Writes the first files of a suite, by its world.

use camino::Utf8Path;

/// A suite's first task and its world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scaffold {
    /// Lines of the suite's `world`.
    pub world: String,
    /// The start page of the task.
    pub start_url: String,
    /// The title of the start page, if it is known.
    pub title: Option<String>,
    /// Names of the task's sites, or hosts in recordings.
    pub sites: Vec<String>,
}

impl Scaffold {
    /// The text of `suite.yaml` in this folder.
    pub fn suite(&self, folder: &Utf8Path) -> String {
        let name = folder.file_name().unwrap_or("suite");
        filled(
            include_str!("suite.yaml"),
            &[("name", &quoted(name)), ("world", self.world.trim_end())],
        )
    }

    /// The text of the first task.
    pub fn task(&self) -> String {
        let (goal, scorer, answer) = match &self.title {
            Some(title) => (
                "What is the title of this page?",
                format!("equals: {}", quoted(title)),
                title.as_str(),
            ),
            None => (
                "Stay on this page.",
                format!("url: {{contains: {}}}", quoted(&self.start_url)),
                "Done.",
            ),
        };
        let values = [
            ("goal", goal),
            ("start_url", &quoted(&self.start_url)),
            ("sites", &self.sites.join(", ")),
            ("scorer", &scorer),
            ("answer", &quoted(answer)),
        ];
        filled(include_str!("task.yaml"), &values)
    }
}

/// A template with a value in the place of each `<<name>>`.
pub fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split("<<");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let value = part.split_once(">>").and_then(|(name, rest)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some([value, rest].concat())
        });
        text += &value.unwrap_or_else(|| format!("<<{part}"));
    }
    text
}

/// A text in YAML, on one line.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
