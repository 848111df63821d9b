//! A run that was written by hand, in which everything that pages and agents say is meant to break
//! out of a page.

use camino::Utf8PathBuf;
use gateway::{Answer, Entry, NearestRequest};
use observation::{ConsoleMessage, Dialog};
use results::{
    ActedOn, EpisodeId, EpisodeRecord, ModelUsage, Outcome, Request, RunFolder, RunRecord,
    SavedFile, Step, StepMessage, TaskRecord, Times,
};

pub(crate) type Tested = Result<(), Box<dyn std::error::Error>>;

pub(crate) const HOSTILE: &str = "</pre></style><script>alert('x')</script>\" onload=\"x";

/// Head and size of a PNG of 2 by 1 pixels; a report looks no further.
fn png(mark: u8) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x01".to_vec();
    bytes.push(mark);
    bytes
}

/// One task with as many repeats as there are fingerprints.
pub(crate) fn write_run(path: &Utf8PathBuf, fingerprints: &[&str]) -> Tested {
    let task = TaskRecord {
        id: "shop.1".to_owned(),
        goal: HOSTILE.to_owned(),
        sites: vec![HOSTILE.to_owned()],
        tags: vec![HOSTILE.to_owned()],
        reference_steps: None,
    };
    let run = RunRecord::new(
        "demo",
        "d".to_owned(),
        "oracle".to_owned(),
        fingerprints.len() as u32,
        vec![task],
    );
    let folder = RunFolder::create(path, &run)?;
    for (number, fingerprint) in fingerprints.iter().enumerate() {
        let id = EpisodeId { task: "shop.1".to_owned(), repeat: number as u32 + 1 };
        let episode = folder.begin_episode(&id)?;
        let mut steps = Vec::new();
        for step in 1..=3 {
            let screenshot = episode.write_screenshot(step, &png(u8::from(step == 3)))?;
            steps.push(Step {
                step,
                url: format!("https://shop.test/{HOSTILE}"),
                title: HOSTILE.to_owned(),
                observation: HOSTILE.to_owned(),
                screenshot: Some(screenshot),
                action: (step < 3).then(|| HOSTILE.to_owned()),
                reason: Some(HOSTILE.to_owned()),
                error: Some(HOSTILE.to_owned()),
                element: Some(ActedOn {
                    selector: HOSTILE.to_owned(),
                    value: HOSTILE.to_owned(),
                    bbox: Some([0.5, 0.0, 1.0, 0.25]),
                }),
                receiver: Some(HOSTILE.to_owned()),
                points: vec![[1.0, 0.5]],
                dialogs: vec![Dialog {
                    kind: "confirm".to_owned(),
                    message: HOSTILE.to_owned(),
                    accepted: false,
                    entered: None,
                }],
                downloads: vec![SavedFile {
                    name: "100 %?.pdf".to_owned(),
                    url: HOSTILE.to_owned(),
                    whole: true,
                }],
                unsettled: Some(HOSTILE.to_owned()),
                elapsed_ms: Some(65_400),
                score: Some(f64::from(step) / 4.0),
                ..Step::default()
            });
        }
        let near = vec![NearestRequest {
            method: "GET".to_owned(),
            url: HOSTILE.to_owned(),
            differs: HOSTILE.to_owned(),
        }];
        let entry = Entry {
            capture: None,
            seq: 0,
            method: "GET".to_owned(),
            url: HOSTILE.to_owned(),
            status: 404,
            answer: Answer::Miss { near },
            bytes: 12_345,
            destination: None,
            took_ms: Some(7),
        };
        let models = ModelUsage {
            names: ["small-1".to_owned()].into(),
            calls: 2,
            prompt_tokens: 1_234,
            completion_tokens: 56,
            cost: Some(0.25),
            ..ModelUsage::default()
        };
        let outcome = Outcome::Error { message: HOSTILE.to_owned() };
        let record = EpisodeRecord {
            answer: Some(HOSTILE.to_owned()),
            score: Some(0.0),
            steps: 2,
            models: Some(models),
            refused_hosts: [HOSTILE.to_owned()].into(),
            wall_ms: 1,
            times: Some(Times { opening_ms: 1, agent_ms: 3, ..Times::default() }),
            fingerprint: (*fingerprint).to_owned(),
            ..EpisodeRecord::new(&id, outcome, jiff::Timestamp::UNIX_EPOCH)
        };
        let message = ConsoleMessage {
            source: "exception".to_owned(),
            level: "error".to_owned(),
            text: HOSTILE.to_owned(),
            url: HOSTILE.to_owned(),
            line: Some(12),
        };
        episode.write_console(&[StepMessage { step: 2, message }])?;
        folder.keep(episode, &record, &steps, &[Request { step: 1, entry }])?;
    }
    Ok(())
}
