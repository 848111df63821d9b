//! Pages that try to fill the disk (`tests/hostile/pages`), in a frozen episode and in attach mode.

#![allow(clippy::unwrap_used)]

mod hostile_pages;
mod web;

use std::{
    fs,
    path::{Path, PathBuf},
};

use browser::{Launch, Session};
use hostile_pages::{DOWNLOADS, Outside, serve, tried, world};

/// What a browser writes for itself, and how much of a download is there before it is canceled.
const SLACK: u64 = 200 << 20;
/// The storage limit of pages.
const STORAGE: u64 = 1 << 30;

/// The folder of the only browser of this process.
fn own_folder() -> PathBuf {
    let mark = format!("sandbox-browser-{}-", std::process::id());
    let mut own = fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|entry| entry.path());
    own.find(|path| path.file_name().unwrap().to_string_lossy().starts_with(&mark)).unwrap()
}

fn size(path: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(path) else {
        return path.symlink_metadata().map_or(0, |found| found.len());
    };
    entries.flatten().map(|entry| size(&entry.path())).sum()
}

/// One after the other, because they look at all browsers of this process.
#[tokio::test]
async fn no_page_fills_the_disk() {
    let (web, outside) = (serve().await, Outside::new().await);
    for attach_mode in [false, true] {
        let launch = Launch {
            determinism: Some(world()),
            attach_mode,
            downloads: DOWNLOADS,
            ..Launch::new(web.address, "")
        };
        let mut session = Session::start(&launch).await.unwrap();
        let folder = own_folder();
        let report = tried(&mut session, "downloads.html", &outside.query()).await;
        assert!(report.starts_with("held\n"), "attach mode {attach_mode}: {report}");
        let kept = size(&folder.join("downloads"));
        assert!(kept <= DOWNLOADS, "attach mode {attach_mode}: downloads hold {kept} bytes");
        assert!(web.asked().iter().any(|line| line.contains("endless.zip")), "attach mode {attach_mode}");
        let names: Vec<_> = fs::read_dir(folder.join("downloads")).unwrap().flatten().collect();
        assert!(names.len() > 3, "attach mode {attach_mode}: what fits is there, {names:?}");
        assert!(!Path::new("/tmp/hostile-page-was-here").exists(), "attach mode {attach_mode}");
        for outside in [folder.join("home/Downloads"), folder.join("home/.bashrc")] {
            assert!(!outside.exists(), "{outside:?}");
        }
        session.close().await.unwrap();

        let mut session = Session::start(&launch).await.unwrap();
        let folder = own_folder();
        let report = tried(&mut session, "storage.html", "").await;
        assert!(
            report.starts_with("held\n") && report.contains("Quota"),
            "attach mode {attach_mode}: {report}"
        );
        let stored = size(&folder);
        assert!(stored <= STORAGE + SLACK, "attach mode {attach_mode}: {stored} bytes are stored");
        session.close().await.unwrap();
    }
}
