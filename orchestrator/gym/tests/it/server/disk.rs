//! Reads and writes while others play, and results of earlier gyms.

use camino::Utf8PathBuf;
use results::{RunFolder, RunRecord};
use serde_json::json;

use crate::fake::{Mood, suite};
use crate::server::Gym;

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
