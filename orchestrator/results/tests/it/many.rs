//! A run of many episodes, written by hand: long goals, large pages, and repeats that differ.

use camino::Utf8Path;
use results::{EpisodeId, EpisodeRecord, Outcome, RunFolder, RunRecord, Step, TaskRecord};

type Written = Result<(), Box<dyn std::error::Error>>;

/// Head and size of a PNG of 1280 by 720 pixels.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x05\0\0\0\x02\xd0";

/// So many tasks with so many repeats, each with these steps and a fingerprint of its own.
pub(crate) fn write_many(path: &Utf8Path, tasks: u32, repeats: u32, steps: u32) -> Written {
    let task = |number| TaskRecord {
        id: format!("webarena-{number:04}"),
        goal: format!("Find the cheapest <home> of \"{number}\" and say where it is. ").repeat(4),
        sites: vec!["www.shop.test".to_owned()],
        tags: vec!["search".to_owned()],
        reference_steps: None,
    };
    let tasks: Vec<TaskRecord> = (0..tasks).map(task).collect();
    let run = RunRecord::new("large", "d".to_owned(), "random".to_owned(), repeats, tasks.clone());
    let folder = RunFolder::create(path, &run)?;
    for (number, task) in tasks.iter().enumerate() {
        for repeat in 1..=repeats {
            write_one(&folder, &EpisodeId { task: task.id.clone(), repeat }, number, steps)?;
        }
    }
    Ok(())
}

fn write_one(folder: &RunFolder, id: &EpisodeId, number: usize, steps: u32) -> Written {
    let episode = folder.begin_episode(id)?;
    let step = |step| {
        Ok(Step {
            step,
            url: format!("https://www.shop.test/a/b/c/d?page={number}&step={step}&'quoted'"),
            title: "One of the homes that are for sale in Eastholm".to_owned(),
            observation: "[1] link 'a home that is for sale'\n".repeat(200),
            screenshot: Some(episode.write_screenshot(step, PNG)?),
            action: Some(format!("click('{step}')")),
            reason: Some("It may be the cheapest. ".repeat(40)),
            ..Step::default()
        })
    };
    let steps = (1..=steps).map(step).collect::<Result<Vec<Step>, results::Error>>()?;
    let record = EpisodeRecord {
        answer: Some("In Eastholm, where else? ".repeat(20)),
        score: Some(0.0),
        steps: steps.len() as u32,
        fingerprint: format!("{number:056x}{:08x}", id.repeat),
        ..EpisodeRecord::new(id, Outcome::MaxSteps, jiff::Timestamp::UNIX_EPOCH)
    };
    folder.keep(episode, &record, &steps, &[])?;
    Ok(())
}
