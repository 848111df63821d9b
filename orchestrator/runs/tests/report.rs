//! The report of a run that was written by hand.

use camino::Utf8PathBuf;
use gateway::{Answer, Entry, Near};
use runs::report;
use runs::results::{
    EpisodeId, EpisodeRecord, FORMAT, Outcome, Request, RunFolder, RunRecord, Step, TaskRecord,
};

type Tested = Result<(), Box<dyn std::error::Error>>;

const HOSTILE: &str = "</pre></style><script>alert('x')</script>\" onload=\"x";

/// Head and size of a PNG of 2 by 1 pixels; a report looks no further.
fn png(mark: u8) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x01".to_vec();
    bytes.push(mark);
    bytes
}

/// One task with as many repeats as there are fingerprints.
fn write_run(path: &Utf8PathBuf, fingerprints: &[&str]) -> Tested {
    let task =
        TaskRecord { id: "shop.1".to_owned(), goal: HOSTILE.to_owned(), sites: Vec::new(), tags: Vec::new() };
    let run =
        RunRecord::new("demo", "d".to_owned(), "oracle".to_owned(), fingerprints.len() as u32, vec![task]);
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
                ..Step::default()
            });
        }
        let near =
            vec![Near { method: "GET".to_owned(), url: HOSTILE.to_owned(), differs: HOSTILE.to_owned() }];
        let entry = Entry {
            seq: 0,
            method: "GET".to_owned(),
            url: HOSTILE.to_owned(),
            status: 404,
            answer: Answer::Miss { near },
            bytes: 12_345,
            destination: None,
        };
        let record = EpisodeRecord {
            format: FORMAT,
            task: id.task.clone(),
            repeat: id.repeat,
            goal: None,
            outcome: Outcome::Error { message: HOSTILE.to_owned() },
            answer: Some(HOSTILE.to_owned()),
            score: Some(0.0),
            unjudged: None,
            judgements: Vec::new(),
            success: false,
            detail: None,
            steps: 2,
            requests: Default::default(),
            misses: Vec::new(),
            refused_hosts: [HOSTILE.to_owned()].into(),
            started: jiff::Timestamp::UNIX_EPOCH,
            wall_ms: 1,
            times: None,
            fingerprint: (*fingerprint).to_owned(),
        };
        folder.keep(episode, &record, &steps, &[Request { step: 1, entry }])?;
    }
    Ok(())
}

fn drawn(fingerprints: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(temporary.path().join("run"))?;
    write_run(&path, fingerprints)?;
    Ok(std::fs::read_to_string(report::write(&path)?)?)
}

#[test]
fn what_pages_and_agents_say_stays_text() -> Tested {
    let html = drawn(&["a"])?;
    assert!(!html.contains("<script") && !html.contains("\" onload"), "{html}");
    assert!(html.contains("&lt;script&gt;"));
    Ok(())
}

#[test]
fn equal_repeats_are_drawn_once_and_equal_pictures_embedded_once() -> Tested {
    let html = drawn(&["a", "a", "a"])?;
    assert_eq!(html.matches("<article").count(), 1);
    assert_eq!(html.matches("data:image/png").count(), 2);
    assert!(html.contains("repeat 1–3"));
    let html = drawn(&["a", "b", "a"])?;
    assert_eq!(html.matches("<article").count(), 2);
    assert_eq!(html.matches("data:image/png").count(), 2);
    assert!(html.contains("repeat 1, 3") && html.contains("Where repeats part"));
    Ok(())
}

#[test]
fn nothing_is_loaded_from_elsewhere() -> Tested {
    let html = drawn(&["a"])?;
    for outside in ["<link", "<img", "<iframe", "@import", "src=", "url(http", "url('http"] {
        assert!(!html.contains(outside), "{outside}");
    }
    Ok(())
}
