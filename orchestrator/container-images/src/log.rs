//! Log files of builds. An error message is short and names its log file.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use camino::Utf8Path;
use parking_lot::Mutex;

use crate::{Event, OnEvent};

/// Sends events to `on` and to the file at `path`, which the first event replaces. A build
/// continues without its log if the file cannot be written.
pub(crate) fn to_file(path: &Utf8Path, on: &OnEvent) -> OnEvent {
    let (path, on) = (path.to_owned(), on.clone());
    let file: Mutex<Option<File>> = Mutex::new(None);
    Arc::new(move |event| {
        on(event);
        let line = match event {
            Event::Doing(what) => format!("== {what}\n"),
            Event::Step { at, of, instruction } => format!("== step {at} of {of}: {instruction}\n"),
            Event::Output(line) => format!("{line}\n"),
            Event::Bytes(_) | Event::Layer { .. } => return,
        };
        let mut file = file.lock();
        let written = match file.as_mut() {
            Some(file) => file.write_all(line.as_bytes()),
            None => create(&path).and_then(|made| file.insert(made).write_all(line.as_bytes())),
        };
        if let Err(error) = written {
            tracing::debug!(%path, %error, "the log is not written");
        }
    })
}

fn create(path: &Utf8Path) -> std::io::Result<File> {
    std::fs::create_dir_all(path.parent().unwrap_or(Utf8Path::new(".")))?;
    File::create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_lines_are_in_the_file_and_told_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("logs/shop.log");
        let received = Arc::new(Mutex::new(0));
        let count = received.clone();
        let on = to_file(&path, &(Arc::new(move |_: Event<'_>| *count.lock() += 1) as OnEvent));
        assert!(!path.exists());
        on(Event::Doing("fetching wheels"));
        on(Event::Step { at: 1, of: 2, instruction: "RUN make" });
        on(Event::Output("cc"));
        on(Event::Bytes(7));
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "== fetching wheels\n== step 1 of 2: RUN make\ncc\n");
        assert_eq!(*received.lock(), 4);
    }
}
