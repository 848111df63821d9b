//! Inputs that somebody has made to stop or to fill the machine that reads them.

use rustix::fs::{CWD, FileType, mknodat};

use super::*;

fn pipe(path: &Utf8Path) {
    mknodat(CWD, path.as_std_path(), FileType::Fifo, 0o600.into(), 0).unwrap();
}

/// Opening a pipe would wait for a writer; a device may never end.
#[test]
fn a_pipe_or_a_device_is_refused_at_once() {
    let place = Place::new();
    let (piped, out) = (place.join("piped.har"), place.join("out.wacz"));
    pipe(&piped);
    for input in [piped.as_path(), "/dev/zero".into(), "/dev/tty".into()] {
        assert!(import(&[input.to_owned()], &out, &ImportOptions::default(), &mut quiet).is_err(), "{input}");
        assert!(repair(input, &out, &mut quiet).is_err(), "{input}");
        assert!(
            crate::har::read_file(input, Default::default(), |_| Ok::<(), crate::har::Error>(())).is_err(),
            "{input}"
        );
    }
    assert!(!out.exists());
}

#[test]
fn a_pipe_in_the_folder_of_a_recording_is_a_loss() {
    let place = Place::new();
    let (path, out) = (place.join("a.wacz"), place.join("out.wacz"));
    let recording = Recording::create(&path, RecordingOptions::default()).unwrap();
    recording.append(&usual()[0]).unwrap();
    drop(recording);
    let folder = Recording::folder_of(&path);
    for name in ["pages.jsonl", "browser-state.json", "left-out.txt", "rules.yaml"] {
        let path = folder.join(name);
        if path.exists() {
            fs::remove_file(&path).unwrap();
        }
        pipe(&path);
    }
    let report = repair(&folder, &out, &mut quiet).unwrap();
    assert_eq!((report.responses, report.losses.len()), (1, 3), "{:#?}", report.losses);
}
