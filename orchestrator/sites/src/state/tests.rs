#![allow(clippy::unwrap_used)]

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use rusqlite::Connection;

use super::*;

/// A golden folder with a database, a tree and an ignored file, and a live copy of it.
pub(super) struct StateFixture {
    _keep: tempfile::TempDir,
    pub(super) golden: Golden,
    pub(super) live: Utf8PathBuf,
    pub(super) state: Live,
}

pub(super) fn ground() -> StateFixture {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8Path::from_path(keep.path()).unwrap();
    let seed = folder.join("golden");
    fs::create_dir_all(seed.join("media/deep/er")).unwrap();
    fs::create_dir_all(seed.join("media/empty")).unwrap();
    fs::write(seed.join("media/a.png"), b"picture").unwrap();
    fs::write(seed.join("media/deep/er/b.txt"), b"text").unwrap();
    fs::write(seed.join("cache"), b"anything").unwrap();
    std::os::unix::fs::symlink("a.png", seed.join("media/link")).unwrap();
    let database = Connection::open(seed.join("db.sqlite3")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE orders(id INTEGER PRIMARY KEY, what TEXT, price REAL);
             INSERT INTO orders(what, price) VALUES ('lamp', 12.5), ('chair', 40.0), ('nothing', NULL);",
        )
        .unwrap();
    drop(database);
    let state = crate::manifest::State {
        sqlite: vec!["/state/db.sqlite3".into()],
        trees: vec!["/state/media".into()],
        flush: vec![],
        ignore: vec!["/state/cache".into()],
    };
    let golden = Golden::open(&seed, Layout::of(&state).unwrap()).unwrap();
    let live = folder.join("live");
    let state = Live { folder: live.clone(), access: Access::Own };
    golden.copy_to(&state).unwrap();
    StateFixture { _keep: keep, golden, live, state }
}

pub(super) fn check_pristine(ground: &StateFixture) {
    let now = ground.golden.digest_of(&ground.state).unwrap();
    assert_eq!(ground.golden.digest().difference(&now), None);
    assert_eq!(ground.golden.digest().to_string(), now.to_string());
}

#[test]
fn a_copy_is_pristine() {
    check_pristine(&ground());
}

#[test]
fn whatever_changed_is_put_back_below_open_connections() {
    let ground = ground();
    for journal in ["DELETE", "WAL"] {
        let app = Connection::open(ground.live.join("db.sqlite3")).unwrap();
        app.query_row(&format!("PRAGMA journal_mode={journal}"), [], |_| Ok(())).unwrap();
        app.execute_batch(
            "DELETE FROM orders; CREATE TABLE more(x); INSERT INTO more VALUES (randomblob(90000));",
        )
        .unwrap();
        fs::remove_file(ground.live.join("media/a.png")).unwrap();
        fs::write(ground.live.join("media/deep/er/b.txt"), b"TEXT").unwrap();
        fs::write(ground.live.join("media/new"), b"new").unwrap();
        fs::create_dir_all(ground.live.join("media/link2/x")).unwrap();
        fs::remove_dir(ground.live.join("media/empty")).unwrap();
        fs::write(ground.live.join("cache"), b"something else").unwrap();
        let now = ground.golden.digest_of(&ground.state).unwrap();
        assert!(ground.golden.digest().difference(&now).is_some());

        ground.golden.restore(&ground.state).unwrap();
        check_pristine(&ground);
        // The application's own connection sees the golden content and still works.
        let count: i64 =
            app.query_row("SELECT count(*) FROM orders", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 3);
        assert!(app.query_row("SELECT 1 FROM more", [], |_| Ok(())).is_err());
        app.execute("UPDATE orders SET price = 1", []).unwrap();
        ground.golden.restore(&ground.state).unwrap();
        check_pristine(&ground);
    }
}

#[test]
fn what_a_restore_does_not_reach_shows_as_drift() {
    let ground = ground();
    fs::write(ground.live.join("stray"), b"x").unwrap();
    ground.golden.restore(&ground.state).unwrap();
    let now = ground.golden.digest_of(&ground.state).unwrap();
    assert_eq!(ground.golden.digest().difference(&now), Some(Difference::Added("stray".into())));
}

#[test]
fn paths_that_lead_out_are_refused() {
    for path in ["/etc/passwd", "../x", "/state/../x", "/state", ""] {
        assert!(relative(path.into()).is_err(), "{path:?}");
    }
    assert_eq!(relative("/state/a/b".into()).unwrap(), "a/b");
}

#[test]
fn a_query_answers_in_objects_and_cannot_write() {
    let ground = ground();
    let database = Utf8Path::new("db.sqlite3");
    let parameters = serde_json::json!({"least": 13, "unused": "x"});
    let rows = ground.state.query(
        database,
        "SELECT id, what, price FROM orders WHERE price >= :least",
        parameters.as_object().unwrap(),
    );
    assert_eq!(rows.unwrap(), [serde_json::json!({"id": 2, "what": "chair", "price": 40.0})]);
    assert!(ground.state.query(database, "DELETE FROM orders", &serde_json::Map::new()).is_err());
    check_pristine(&ground);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_tree_is_put_back(steps in proptest::collection::vec((0..4_u8, "[ab]{1}(/[abc]{1}){0,2}", "[x-z]{0,3}"), 1..20)) {
        let ground = ground();
        for (kind, name, content) in &steps {
            let path = ground.live.join("media").join(name);
            // Operations that are not possible in this order are skipped.
            let _ = match kind {
                0 => fs::write(&path, content),
                1 => fs::create_dir_all(&path),
                2 => fs::remove_dir_all(&path),
                _ => fs::remove_file(&path),
            };
        }
        ground.golden.restore(&ground.state).unwrap();
        let now = ground.golden.digest_of(&ground.state).unwrap();
        prop_assert_eq!(ground.golden.digest().difference(&now), None);
    }
}
