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
        assert!(
            import(&[input.to_owned()], &out, &ImportOptions::default(), &mut quiet).is_err(),
            "{input}"
        );
        assert!(repair(input, &out, &mut quiet).is_err(), "{input}");
        assert!(
            crate::har::read_file(input, Default::default(), |_| Ok::<(), crate::har::Error>(()))
                .is_err(),
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

/// A container whose page list has this text, deflated.
fn with_pages(place: &Place, pages: &str) -> Utf8PathBuf {
    let (good, path) = (place.join("good.wacz"), place.join("pages.wacz"));
    snapshot(&good, &usual());
    rezip(&good, &path, |name, bytes| match name {
        "pages/pages.jsonl" => Some((pages.as_bytes().to_vec(), false)),
        _ => Some((bytes, !name.ends_with(".jsonl"))),
    });
    path
}

/// A page takes many times more memory than its line, and a key of a page more than its text.
#[test]
fn a_page_list_has_a_most_number_of_values() {
    let place = Place::new();
    let page = "{\"url\":\"https://a.test/\",\"ts\":\"2026-01-02T03:04:05Z\"}\n";
    let values = format!("{}\n", "[".repeat(900_000));
    let path = with_pages(&place, &format!("{page}{}{page}", values.repeat(12)));
    let archive = Archive::open(&path).unwrap();
    assert_eq!(archive.pages().len(), 1);
    assert_eq!(archive.page_lines().filter(Result::is_err).count(), 12);
    let whole = fs::read(&path).unwrap();
    // Without its directory the list is read by its local header.
    let directory = whole.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let cut = place.join("cut.wacz");
    fs::write(&cut, &whole[..directory]).unwrap();
    for path in [&path, &cut] {
        let out = place.join("out.wacz");
        let report = repair(path, &out, &mut quiet).unwrap();
        assert_eq!(report.pages, 1);
        assert!(
            report.losses.iter().any(|loss| loss.what.contains("too many pages")),
            "{:#?}",
            report.losses
        );
        fs::remove_file(&out).unwrap();
    }
    assert_eq!(scan_secrets(&path, &mut quiet).unwrap().not_searched, 12);
}

/// Lines that are no pages are as many losses.
#[test]
fn a_list_of_no_pages_is_no_endless_list_of_losses() {
    let place = Place::new();
    let path = with_pages(&place, &"x\n".repeat(1_100_000));
    let report = repair(&path, &place.join("out.wacz"), &mut quiet).unwrap();
    assert_eq!(report.losses.len(), 1_000_001);
}

#[test]
fn a_description_in_a_damaged_file_has_a_most_number_of_values() {
    let place = Place::new();
    let (good, path, cut) =
        (place.join("good.wacz"), place.join("large.wacz"), place.join("cut.wacz"));
    snapshot(&good, &usual());
    let text = format!("{{\"x\":[{}0]}}", "[],".repeat(2_000_000));
    rezip(&good, &path, |name, bytes| match name {
        "datapackage.json" => Some((text.clone().into_bytes(), false)),
        _ => Some((bytes, !name.ends_with(".jsonl"))),
    });
    let whole = fs::read(&path).unwrap();
    let directory = whole.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    fs::write(&cut, &whole[..directory]).unwrap();
    assert_eq!(repair(&cut, &place.join("out.wacz"), &mut quiet).unwrap().responses, 5);
}
