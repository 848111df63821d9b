//! Tests of the golden state: it always has the same bytes, and enough content.

use embedded_sites::{Golden, forum};

use crate::forum::visitor::copy;

#[test]
fn the_golden_database_is_the_same_bytes_every_time() {
    let (one, other) = (forum::generate().unwrap(), forum::generate().unwrap());
    assert!(one.starts_with(b"SQLite format 3\0"));
    assert!(one == other);
}

#[test]
fn a_second_opening_reads_what_the_first_one_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let options = embedded_sites::Options::new(embedded_sites::Clock::fixed(
        crate::forum::visitor::START.parse().unwrap(),
    ));
    let written = |golden: &Golden| {
        forum::start(golden, &options).unwrap();
        let files: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap()).collect();
        assert_eq!(files.len(), 1);
        files[0].metadata().unwrap().modified().unwrap()
    };
    let first = written(&Golden::open(folder.path()).unwrap());
    assert_eq!(written(&Golden::open(folder.path()).unwrap()), first);
    // An impossible folder: a file has its name.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Golden::open(file.join("golden")).unwrap_err().to_string();
    assert!(error.starts_with("write the golden database "), "{error}");
}

#[test]
fn there_is_enough_of_everything() {
    let copy = copy();
    let count = |table: &str| {
        let rows = copy.query(&format!("select count(*) as n from {table}"), &[]).unwrap();
        rows[0]["n"].as_i64().unwrap()
    };
    for (table, least) in [
        ("forums", 30),
        ("users", 400),
        ("submissions", 4000),
        ("comments", 15_000),
        ("submission_votes", 8000),
        ("comment_votes", 1000),
        ("subscriptions", 2000),
        ("moderators", 30),
        ("messages", 3),
    ] {
        assert!(count(table) >= least, "{table}: {}", count(table));
    }
}

#[test]
fn what_is_counted_is_there() {
    let copy = copy();
    for (sql, what) in [
        (
            "select 1 from submissions s where comments <> (select count(*) from comments where submission = s.id)",
            "comments",
        ),
        (
            "select 1 from comments c join comments p on p.id = c.parent where p.submission <> c.submission or p.id >= c.id",
            "parents",
        ),
        (
            "select 1 from comments c join submissions s on s.id = c.submission where c.created <= s.created",
            "times",
        ),
        (
            "select 1 from submissions where created > 1686819600 or title = '' or title like '%{%' or body like '%{%'",
            "texts",
        ),
        (
            "select 1 from comments where created > 1686819600 or body = '' or body like '%{%'",
            "words",
        ),
        (
            "select 1 from submissions a join submissions b on b.id = a.id + 1 where b.created < a.created",
            "order",
        ),
        (
            "select 1 from submissions s where up < (select count(*) from submission_votes where submission = s.id and choice = 1)",
            "votes",
        ),
        ("select 1 from submissions group by forum, title having count(*) > 1", "titles"),
    ] {
        assert_eq!(copy.query(sql, &[]).unwrap().len(), 0, "{what}");
    }
}
