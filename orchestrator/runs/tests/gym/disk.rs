//! What is written and read while others play, and what was written before.

use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use runs::results::{RunFolder, RunRecord};
use serde_json::json;
use tasks::Suite;

use crate::fake::{Mood, SHORT, suite};
use crate::{Gym, PATIENCE};

#[tokio::test]
async fn what_was_played_before_stays_when_a_gym_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = Utf8PathBuf::from_path_buf(folder.path().join("run")).unwrap();
    let open = async |resume| {
        let kept = out.clone();
        Gym::open(&Mood::default(), move |options, _| {
            (options.out, options.resume) = (Some(kept), resume);
        })
        .await
    };
    let gym = open(false).await;
    let session = gym.reset("bike.two").await;
    gym.post("/close", json!({ "session": session })).await;
    gym.reset("bike.two").await;
    assert_eq!(gym.end().await.unwrap().episodes, 1, "the second was under way");

    let folder = RunFolder::open(&out).unwrap();
    folder.rewrite(&RunRecord { repeat: 5, ..folder.run().unwrap() }).unwrap();
    let summary = open(true).await.end().await.unwrap();
    assert_eq!(
        (summary.episodes, summary.planned),
        (1, 1),
        "as if it had been killed in the midst of the fifth"
    );

    let gym = open(true).await;
    let (_, begun) = gym.post("/reset", json!({ "task": "bike.two" })).await;
    assert_eq!(begun["info"]["repeat"], 2);
    gym.step(&begun["session"], "send_msg_to_user('a blue bicycle')").await;
    let session = gym.reset("bike.one").await;
    gym.post("/close", json!({ "session": session })).await;
    let summary = gym.end().await.unwrap();
    assert_eq!((summary.episodes, summary.planned, &summary.folder), (3, 4, &out));
}

/// A file that the world, or a task, replays.
fn snapshot(folder: &tempfile::TempDir, name: &str) -> Utf8PathBuf {
    let path = Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
    std::fs::write(&path, name.repeat(99)).unwrap();
    path
}

#[tokio::test]
async fn snapshots_are_digested_once() {
    let folder = tempfile::tempdir().unwrap();
    let (world, task) = (snapshot(&folder, "world.wacz"), snapshot(&folder, "task.wacz"));
    let mut suite = suite().unwrap();
    suite.world.snapshots = vec![world.clone()];
    suite.tasks.iter_mut().for_each(|one| one.snapshots = Some(vec![task.clone()]));
    let gym = Gym::of(suite, &Mood::default(), |_, _| {}).await;
    let session = gym.reset("bike.one").await;
    gym.post("/close", json!({ "session": session })).await;
    let first = RunFolder::open(&gym.out).unwrap().run().unwrap();
    assert_eq!(first.world.snapshots.keys().collect::<Vec<_>>(), ["task.wacz", "world.wacz"]);

    // Whatever has become of the files, the worlds of the gym are made of what was opened.
    std::fs::remove_file(world).unwrap();
    std::fs::write(task, "another one").unwrap();
    let session = gym.reset("bike.one").await;
    gym.post("/close", json!({ "session": session })).await;
    let second = RunFolder::open(&gym.out).unwrap().run().unwrap();
    assert_eq!((second.repeat, second.suite_digest), (2, first.suite_digest));
    assert_eq!(second.world, first.world);
    gym.end().await;
}

#[tokio::test]
async fn an_attempt_that_cannot_be_written_down_is_not_begun() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    let record = gym.out.join("run.json");
    let aside = gym.out.join("aside.json");
    // No file takes the place of a folder.
    std::fs::rename(&record, &aside).unwrap();
    std::fs::create_dir(&record).unwrap();
    let first = json!({ "task": "bike.one", "repeat": 1 });
    for _ in 0..2 {
        let (status, failed) = gym.post("/reset", first.clone()).await;
        assert_eq!(status, 500, "{failed}");
        assert!(failed["error"].as_str().unwrap().starts_with("failed to write "), "{failed}");
    }
    std::fs::remove_dir(&record).unwrap();
    std::fs::rename(&aside, &record).unwrap();
    let (status, begun) = gym.post("/reset", first).await;
    assert_eq!((status, &begun["info"]["repeat"]), (200, &json!(1)), "{begun}");
    gym.post("/close", json!({ "session": begun["session"] })).await;
    assert_eq!(gym.end().await.unwrap().episodes, 1);
}

/// A suite whose first task has a file that is read only once it is written to: whoever opens it
/// waits until then.
fn suite_on_a_slow_disk(folder: &tempfile::TempDir) -> (Suite, Utf8PathBuf) {
    let slow = Utf8PathBuf::from_path_buf(folder.path().join("slow.wacz")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&slow).status().unwrap().success());
    let mut suite = suite().unwrap();
    suite.tasks[0].snapshots = Some(vec![slow.clone()]);
    (suite, slow)
}

/// Lets whoever waits for the file go on, with nothing to read. Whoever opens it later finds an
/// empty file: without a writer, it would wait for ever.
fn write_nothing(slow: &Utf8PathBuf) {
    let writer = std::fs::File::options().write(true).open(slow).unwrap();
    let empty = slow.with_extension("empty");
    std::fs::write(&empty, "").unwrap();
    std::fs::rename(&empty, slow).unwrap();
    drop(writer);
}

/// On the runtime of this test, which has one thread.
#[tokio::test]
async fn a_slow_disk_does_not_hold_up_other_clients() {
    let folder = tempfile::tempdir().unwrap();
    let (suite, slow) = suite_on_a_slow_disk(&folder);
    let gym = Gym::of(suite, &Mood::default(), |options, _| options.workers = 2).await;
    let (answered, hear) = std::sync::mpsc::channel();
    let disk = std::thread::spawn(move || {
        // Without an answer the disk moves on all the same, so that the test ends.
        let was_answered = hear.recv_timeout(Duration::from_secs(5)).is_ok();
        write_nothing(&slow);
        was_answered
    });
    let others = async {
        let (status, _) = gym.send("GET", "/tasks", &[], "").await;
        // The disk may have given up.
        let _ = answered.send(());
        status
    };
    let (begun, status) = tokio::join!(gym.post("/reset", json!({ "task": "bike.one" })), others);
    assert_eq!(status, 200);
    assert!(disk.join().unwrap(), "nobody was answered while the disk was waited for");
    // What is no file has no end to take a digest of: the attempt is not begun.
    assert_eq!(begun.0, 500, "{:#}", begun.1);
    gym.end().await;
}

#[tokio::test]
async fn a_client_that_leaves_before_its_session_leaves_no_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let (suite, slow) = suite_on_a_slow_disk(&folder);
    let gym = Gym::of(suite, &Mood::default(), |options, _| options.workers = 2).await;
    let second = json!({ "task": "bike.two", "repeat": 1 });
    let leave = async {
        // It waits for its turn behind the other one.
        let left = tokio::time::timeout(SHORT, gym.post("/reset", second.clone())).await;
        assert!(left.is_err(), "{left:?}");
        for _ in 0..3 {
            // Meanwhile the gym sees that the client has gone.
            gym.send("GET", "/tasks", &[], "").await;
        }
        tokio::task::spawn_blocking(move || write_nothing(&slow)).await.unwrap();
    };
    let ((status, _), ()) = tokio::join!(gym.post("/reset", json!({ "task": "bike.one" })), leave);
    assert_eq!(status, 500);
    let since = Instant::now();
    let (mut status, mut begun) = gym.post("/reset", second.clone()).await;
    // Until the attempt of the client that has left is taken back.
    while status == 409 && since.elapsed() < PATIENCE {
        (status, begun) = gym.post("/reset", second.clone()).await;
    }
    assert_eq!(status, 200, "{begun:#}");
    gym.post("/close", json!({ "session": begun["session"] })).await;
    assert_eq!(gym.end().await.unwrap().episodes, 1);
}
