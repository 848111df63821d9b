//! What earlier versions kept of episodes gives the scores that it gave them, to the bit.

use std::fs;

use camino::Utf8Path;
use serde_json::Value;
use tasks::Suite;

#[test]
fn states_of_stored_runs_score_as_they_did() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read =
        |path: &Utf8Path| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let mut scored = 0;
    for name in ["demo", "town", "arena"] {
        let suite = Suite::load(&root.join("tasks").join(name)).unwrap();
        let episodes = root.join("tests/stored-runs/2.1").join(name).join("episodes");
        for entry in episodes.read_dir_utf8().unwrap() {
            let folder = entry.unwrap().into_path();
            let (record, state) =
                (read(&folder.join("episode.json")), read(&folder.join("score_state.json")));
            let task = suite.task(record["task"].as_str().unwrap()).unwrap();
            let assessment = task.scorer.restore(&state).unwrap();
            let score = assessment.score().unwrap();
            assert_eq!(Some(score.value), record["score"].as_f64(), "{folder}");
            assert_eq!(Some(score.success), record["success"].as_bool(), "{folder}");
            // The form on disk is the same, too.
            assert_eq!(serde_json::to_value(&assessment).unwrap(), state, "{folder}");
            scored += 1;
        }
    }
    assert!(scored >= 5, "{scored} episodes");
}
