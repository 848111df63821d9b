//! Tests with a hostile application that plants links, pipes and other special files in its state:
//! nothing outside the state is written, and the attack is detected.

#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use rusqlite::Connection;
use rustix::fs::Mode;

use super::dir::Dir;
use super::tests::{StateFixture, ground};
use super::{Golden, Layout, StateError};

const SECRET: &str = "ssh-ed25519 AAAA... the owner's";

/// A folder beside the state that an application tries to overwrite, and its original content.
struct Outside {
    folder: Utf8PathBuf,
    database: Vec<u8>,
}

impl Outside {
    fn beside(ground: &StateFixture) -> Outside {
        let folder = ground.live.parent().unwrap().join("outside");
        fs::create_dir_all(folder.join("er")).unwrap();
        for name in ["keys", "er/b.txt", "a.png", "new"] {
            fs::write(folder.join(name), SECRET).unwrap();
        }
        let database = Connection::open(folder.join("db.sqlite3")).unwrap();
        database
            .execute_batch("CREATE TABLE secrets(x); INSERT INTO secrets VALUES ('mine')")
            .unwrap();
        drop(database);
        let database = fs::read(folder.join("db.sqlite3")).unwrap();
        Outside { folder, database }
    }

    fn check_untouched(&self) {
        for name in ["keys", "er/b.txt", "a.png", "new"] {
            assert_eq!(fs::read_to_string(self.folder.join(name)).unwrap(), SECRET, "{name}");
        }
        assert!(
            fs::read(self.folder.join("db.sqlite3")).unwrap() == self.database,
            "the database was written"
        );
        let mut names: Vec<String> = self
            .folder
            .read_dir_utf8()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["a.png", "db.sqlite3", "er", "keys", "new"]);
    }
}

/// Only a user who can write to a file can hard-link it into a state: the folders above are closed
/// to other users, and a container cannot link across mounts. In a race the kernel cannot tell such
/// a file from the application's own, so the race test leaves this trick out.
const HARD_LINK: &str = "a database that is a hard link";

type Trick = fn(&StateFixture, &Outside);

/// The manipulations of an application on its state, by name.
const TRICKS: [(&str, Trick); 9] = [
    ("a link where a file is written before it takes its place", |ground, outside| {
        let _ = fs::remove_file(ground.live.join("media/a.png"));
        for part in ["media/.sandbox-part", "media/a.png.sandbox-part"] {
            let _ = symlink(outside.folder.join("keys"), ground.live.join(part));
        }
    }),
    ("a folder exchanged for a link", |ground, outside| {
        let _ = fs::remove_dir_all(ground.live.join("media/deep"));
        let _ = symlink(&outside.folder, ground.live.join("media/deep"));
    }),
    ("the whole tree exchanged for a link", |ground, outside| {
        let _ = fs::remove_dir_all(ground.live.join("media"));
        let _ = symlink(&outside.folder, ground.live.join("media"));
    }),
    ("a file that is a hard link", |ground, outside| {
        let _ = fs::remove_file(ground.live.join("media/a.png"));
        let _ = fs::hard_link(outside.folder.join("keys"), ground.live.join("media/a.png"));
    }),
    ("a database that is a link", |ground, outside| {
        let _ = fs::remove_file(ground.live.join("db.sqlite3"));
        let _ = symlink(outside.folder.join("db.sqlite3"), ground.live.join("db.sqlite3"));
    }),
    (HARD_LINK, |ground, outside| {
        let _ = fs::remove_file(ground.live.join("db.sqlite3"));
        let _ = fs::hard_link(outside.folder.join("db.sqlite3"), ground.live.join("db.sqlite3"));
    }),
    ("a journal that is a link", |ground, outside| {
        let _ = symlink(outside.folder.join("keys"), ground.live.join("db.sqlite3-journal"));
    }),
    ("a log that is a link", |ground, outside| {
        let _ = symlink(outside.folder.join("keys"), ground.live.join("db.sqlite3-wal"));
    }),
    ("a log that is a hard link, and a link for its index", |ground, outside| {
        let _ = fs::hard_link(outside.folder.join("keys"), ground.live.join("db.sqlite3-wal"));
        let _ = symlink(outside.folder.join("new"), ground.live.join("db.sqlite3-shm"));
    }),
];

#[test]
fn no_trick_writes_outside() {
    for (name, trick) in TRICKS {
        println!("{name}");
        let ground = ground();
        let outside = Outside::beside(&ground);
        trick(&ground, &outside);
        let pristine = put_back(&ground);
        outside.check_untouched();
        // A restored state is pristine, and any other is detected.
        if pristine {
            super::tests::check_pristine(&ground);
        }
    }
}

/// Whether the state could be restored and equals the golden state.
fn put_back(ground: &StateFixture) -> bool {
    let odd = |error| match error {
        StateError::Odd { path, what } => println!("  found: {path}: {what}"),
        other => panic!("{other}"),
    };
    let restored = ground.golden.restore(&ground.state).map_err(odd).is_ok();
    restored
        && ground
            .golden
            .digest_of(&ground.state)
            .map_err(odd)
            .is_ok_and(|now| now == *ground.golden.digest())
}

#[test]
fn what_no_application_needs_is_found_out_soon() {
    let pipe = |ground: &StateFixture, name: &str| {
        let _ = fs::remove_file(ground.live.join(name));
        rustix::fs::mkfifoat(rustix::fs::CWD, ground.live.join(name).as_std_path(), Mode::RWXU)
            .unwrap();
    };
    type Oddity<'a> = (&'a str, bool, Box<dyn Fn(&StateFixture) + 'a>);
    let oddities: [Oddity<'_>; 12] = [
        ("a pipe for a file", true, Box::new(|ground| pipe(ground, "media/a.png"))),
        ("a pipe beside the trees", false, Box::new(|ground| pipe(ground, "stray"))),
        ("a pipe for a database", false, Box::new(|ground| pipe(ground, "db.sqlite3"))),
        ("a pipe for a journal", false, Box::new(|ground| pipe(ground, "db.sqlite3-journal"))),
        ("a pipe for a log", false, Box::new(|ground| pipe(ground, "db.sqlite3-wal"))),
        (
            "a folder for a database",
            false,
            Box::new(|ground| {
                fs::remove_file(ground.live.join("db.sqlite3")).unwrap();
                fs::create_dir(ground.live.join("db.sqlite3")).unwrap();
            }),
        ),
        (
            "no database, but anything",
            false,
            Box::new(|ground| {
                fs::write(ground.live.join("db.sqlite3"), "x".repeat(9000)).unwrap();
            }),
        ),
        (
            "a terabyte of nothing in a tree",
            true,
            Box::new(|ground| {
                File::create(ground.live.join("media/a.png")).unwrap().set_len(1 << 40).unwrap();
            }),
        ),
        (
            "a terabyte of nothing beside the trees",
            false,
            Box::new(|ground| {
                File::create(ground.live.join("stray")).unwrap().set_len(1 << 40).unwrap();
            }),
        ),
        (
            "names that are no text",
            true,
            Box::new(|ground| {
                for name in [&b"\xff\xfe"[..], b"a\nb", b"..."] {
                    fs::write(
                        ground.live.as_std_path().join("media").join(OsStr::from_bytes(name)),
                        "x",
                    )
                    .unwrap();
                }
            }),
        ),
        (
            "folders in one another without end",
            true,
            Box::new(|ground| {
                let mut inner = ground.live.join("media/deep");
                (0..700).for_each(|_| inner.push("d"));
                fs::create_dir_all(inner).unwrap();
            }),
        ),
        (
            "a folder that nobody may enter",
            true,
            Box::new(|ground| {
                let closed = fs::Permissions::from_mode(0o000);
                fs::set_permissions(ground.live.join("media/deep"), closed).unwrap();
            }),
        ),
    ];
    for (name, reached, oddity) in oddities {
        println!("{name}");
        let ground = ground();
        oddity(&ground);
        let began = Instant::now();
        let pristine = put_back(&ground);
        assert!(began.elapsed() < Duration::from_secs(10), "{name}: {:?}", began.elapsed());
        // Only root can enter a folder without permissions.
        assert!(pristine == reached || name.ends_with("enter"), "{name}: {pristine}");
    }
}

#[test]
fn too_many_files_cost_no_more_than_a_look() {
    let ground = ground();
    let many = ground.live.join("media/many");
    fs::create_dir(&many).unwrap();
    for number in 0..=super::REMOVED {
        File::create(many.join(number.to_string())).unwrap();
    }
    assert!(!put_back(&ground));
}

#[test]
fn folders_of_any_depth_are_removed() {
    let ground = ground();
    let folder = Dir::open(&ground.live).unwrap();
    let mut inner = folder.folder("media".as_ref()).unwrap();
    for _ in 0..3000 {
        inner.create_folder("d".as_ref()).unwrap();
        inner = inner.folder("d".as_ref()).unwrap();
    }
    folder.remove("media".as_ref(), &mut 10_000).unwrap();
    assert!(!ground.live.join("media").exists());
}

#[test]
fn an_image_cannot_have_a_link_for_its_database() {
    let ground = ground();
    let outside = Outside::beside(&ground);
    let seed = ground.live.parent().unwrap().join("seed");
    fs::create_dir(&seed).unwrap();
    symlink(outside.folder.join("db.sqlite3"), seed.join("db.sqlite3")).unwrap();
    let layout = Layout { sqlite: vec!["db.sqlite3".into()], ..Layout::default() };
    let refused = Golden::open(&seed, layout).unwrap_err().to_string();
    assert!(refused.contains("db.sqlite3"), "{refused}");
}

#[test]
fn a_query_reaches_no_other_file() {
    let ground = ground();
    let outside = Outside::beside(&ground);
    let query = format!("ATTACH '{}' AS other", outside.folder.join("db.sqlite3"));
    let refused = ground.state.query("db.sqlite3".into(), &query, &serde_json::Map::new());
    assert!(refused.unwrap_err().to_string().contains("unable to open"));
}

#[test]
fn no_race_writes_outside() {
    let tricks = TRICKS.iter().filter(|(name, _)| *name != HARD_LINK);
    for (name, trick) in tricks {
        println!("{name}");
        let ground = ground();
        let outside = Outside::beside(&ground);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    trick(&ground, &outside);
                }
            });
            for _ in 0..125 {
                let _ = ground.golden.restore(&ground.state);
                let _ = ground.golden.digest_of(&ground.state);
            }
            over.store(true, Ordering::Relaxed);
        });
        outside.check_untouched();
    }
}

#[test]
fn what_comes_and_goes_is_the_applications_doing_and_a_full_disk_is_not() {
    use std::io::{Error, ErrorKind};
    let failed = |kind: ErrorKind| StateError::io("open", "db.sqlite3".into())(Error::from(kind));
    for kind in [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::AlreadyExists] {
        let drift = failed(kind).into_drift().unwrap();
        assert!(drift.starts_with("open db.sqlite3: "), "{drift}");
    }
    for kind in [ErrorKind::StorageFull, ErrorKind::Other] {
        failed(kind).into_drift().unwrap_err();
    }
}
