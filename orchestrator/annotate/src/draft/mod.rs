//! A task in the making: the steps of the person, and the goal and key nodes that the person has
//! written.

pub(crate) mod checks;
pub(crate) mod edit;
pub(crate) mod journal;
pub(crate) mod nodes;

use camino::Utf8PathBuf;
use file_version::Version;
use jiff::Timestamp;
use scoring::KeyNode;
use scoring::solution::{Element, OracleStep};
use serde::{Deserialize, Serialize};

/// The version of drafts on disk.
pub(crate) const VERSION: Version = Version::FIRST;

/// A task that is being made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The source of the pages.
    pub source: Source,
    /// The id of the task.
    pub task_id: String,
    /// The instruction to the agent.
    pub goal: String,
    /// The page that the task begins at.
    pub start_url: String,
    /// The answer that the task asks for; empty where it asks for none.
    #[serde(default)]
    pub answer: String,
    /// The time of the world.
    pub clock: Timestamp,
    /// The file of the task, where an existing one is edited.
    #[serde(default)]
    pub edited: Option<Utf8PathBuf>,
    /// The person's options, so that whoever goes on has them, too.
    #[serde(default)]
    pub options: DraftOptions,
    /// The steps, in their order.
    pub(crate) steps: Vec<Step>,
    /// The key nodes that an agent has to reach.
    pub(crate) nodes: Vec<Node>,
    /// The last number that was given to a step or a node.
    pub(crate) last_number: u32,
}

/// Options of an annotation that hold until its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DraftOptions {
    /// Credentials are replaced by placeholders in the recording.
    pub redact_credentials: bool,
    /// The values of these headers are.
    pub redact_headers: Vec<String>,
    /// The values of these cookies are.
    pub redact_cookies: Vec<String>,
    /// Snapshots are copied into the suite.
    pub copy_snapshot: bool,
}

/// The source of an annotation's pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The live web, recorded into this snapshot.
    Live(Utf8PathBuf),
    /// These snapshots.
    Snapshots(Vec<Utf8PathBuf>),
}

/// One thing that the person did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// Names the step in the draft, its picture and its page.
    pub(crate) number: u32,
    /// How the oracle does it.
    pub(crate) action: OracleStep,
    /// The URL of the page that it was done on; empty for steps of an existing task.
    #[serde(default)]
    pub(crate) url: String,
    /// The URL that the tab in front has come to by it.
    #[serde(default)]
    pub(crate) url_after: String,
    /// The element, where the step was seen.
    #[serde(default)]
    pub(crate) seen: Option<SeenElement>,
    /// Whether its text is a password, which is not kept.
    #[serde(default)]
    pub(crate) secret: bool,
    /// Why the oracle cannot do it.
    #[serde(default)]
    pub(crate) unplayable: Option<String>,
    /// Whether there is a picture of the page.
    #[serde(default)]
    pub(crate) has_picture: bool,
    /// The place, from 1, that the step has in the file of an existing task.
    #[serde(default)]
    pub(crate) place_before: Option<usize>,
}

/// An element as it was when the person acted on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SeenElement {
    /// By role and name; the role is empty where an agent finds it by neither.
    pub(crate) named: Element,
    /// How many have that role and name.
    pub(crate) alike: usize,
    /// A selector of CSS that finds it alone in its document or shadow root.
    pub(crate) css: String,
    /// Selectors that lead to it from the page down; empty in drafts of earlier versions.
    #[serde(default)]
    pub(crate) locator: String,
    /// Whether it is in a shadow root, which the HTML of a page does not show.
    #[serde(default)]
    pub(crate) shadow: bool,
    /// Its path from the root of its document.
    pub(crate) path: String,
    /// Names this very element; empty in drafts of earlier versions.
    #[serde(default)]
    pub(crate) identity: String,
    pub(crate) tag: String,
    pub(crate) text: String,
    pub(crate) html: String,
    /// Its content; after a text was typed or an option chosen, the new value.
    pub(crate) value: String,
}

/// A key node of the task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Node {
    /// Names the node in the draft.
    pub(crate) number: u32,
    /// The step at which it is reached, where that is known.
    #[serde(default)]
    pub(crate) step: Option<u32>,
    /// The condition that must be reached.
    pub(crate) node: KeyNode,
}

impl SeenElement {
    /// How a solution finds it by CSS.
    pub(crate) fn locator(&self) -> &str {
        if self.locator.is_empty() { &self.css } else { &self.locator }
    }
}

impl Draft {
    /// A draft without steps.
    pub fn new(source: Source, task_id: String, start_url: String, clock: Timestamp) -> Draft {
        Draft {
            source,
            task_id,
            goal: String::new(),
            start_url,
            answer: String::new(),
            clock,
            edited: None,
            options: DraftOptions::default(),
            steps: Vec::new(),
            nodes: Vec::new(),
            last_number: 0,
        }
    }

    /// How many steps there are.
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// The page at which the annotation has come to.
    pub fn last_url(&self) -> &str {
        let mut urls = self.steps.iter().rev().flat_map(|step| [&step.url_after, &step.url]);
        urls.find(|url| !url.is_empty()).unwrap_or(&self.start_url)
    }

    pub(crate) fn next_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    pub(crate) fn step(&self, number: u32) -> Option<&Step> {
        self.steps.iter().find(|step| step.number == number)
    }

    pub(crate) fn step_mut(&mut self, number: u32) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.number == number)
    }

    /// Returns the actions of the steps, in their order.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &OracleStep> {
        self.steps.iter().filter(|step| step.unplayable.is_none()).map(|step| &step.action)
    }

    /// The solution that is written.
    pub(crate) fn oracle(&self) -> Vec<OracleStep> {
        let steps = self.steps.iter().map(|step| step.action.clone());
        let answer = Some(self.answer.trim()).filter(|answer| !answer.is_empty());
        steps.chain(answer.map(|answer| OracleStep::Answer(answer.to_owned()))).collect()
    }
}

impl Step {
    pub(crate) fn new(number: u32, action: OracleStep, url: &str) -> Step {
        Step {
            number,
            action,
            url: url.to_owned(),
            url_after: String::new(),
            seen: None,
            secret: false,
            unplayable: None,
            has_picture: false,
            place_before: None,
        }
    }
}
