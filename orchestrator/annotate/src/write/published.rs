//! The annotated tasks of a suite in Mind2Web-Live's own form: a JSON list, which WebCanvas'
//! evaluator reads.

use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};
use scoring::mind2web_live::PublishedNode;
use serde::Serialize;
use serde_json::Value;

use crate::draft::journal::replace;
use crate::draft::nodes::NodeFields;
use crate::{Draft, Error};

const FILE: &str = "mind2web-live.json";

#[derive(Serialize)]
struct Row<'a> {
    index: &'a str,
    task: &'a str,
    reference_task_length: usize,
    evaluation: Vec<PublishedNode>,
}

/// The list as it is to be written.
pub(super) struct Published {
    path: Utf8PathBuf,
    text: Vec<u8>,
}

impl Published {
    /// The list with the task, which had this id until now. Nothing is written.
    ///
    /// # Errors
    /// When the list that is there cannot be read.
    pub(super) fn with(
        draft: &Draft,
        folder: &Utf8Path,
        old_id: Option<&str>,
    ) -> Result<Published, Error> {
        let path = folder.join(FILE);
        let text = list(draft, &path, old_id)?;
        Ok(Published { path, text })
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn write(&self) -> Result<(), Error> {
        replace(&self.path, &self.text)
    }
}

/// Adds the task to the list, or replaces it there.
fn list(draft: &Draft, path: &Utf8Path, old_id: Option<&str>) -> Result<Vec<u8>, Error> {
    let malformed = |why: String| Error::Malformed { path: path.to_owned(), why };
    let mut rows: Vec<Value> = match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::read(path)(error)),
    };
    let evaluation = draft.nodes.iter().map(|node| {
        let step = node.step.and_then(|step| draft.step(step));
        let is_of_url = NodeFields::of(&node.node).is_of_url();
        // An element is acted on before the page changes, an address is come to afterwards.
        let url = step.map(|step| match is_of_url && !step.url_after.is_empty() {
            true => step.url_after.as_str(),
            false => step.url.as_str(),
        });
        PublishedNode::new(&node.node, url.unwrap_or_default())
    });
    let row = Row {
        index: &draft.task_id,
        task: draft.goal.trim(),
        reference_task_length: draft.oracle().len(),
        evaluation: evaluation.collect(),
    };
    let encode =
        |error: serde_json::Error| Error::Encode { what: FILE.to_owned(), why: error.to_string() };
    let row = serde_json::to_value(row).map_err(encode)?;
    let own = [Some(&*draft.task_id), old_id];
    match rows
        .iter_mut()
        .find(|known| own.contains(&known["index"].as_str()) && known["index"].is_string())
    {
        Some(known) => *known = row,
        None => rows.push(row),
    }
    let mut text = serde_json::to_vec_pretty(&rows).map_err(encode)?;
    text.push(b'\n');
    Ok(text)
}
