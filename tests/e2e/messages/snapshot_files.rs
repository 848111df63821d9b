//! Files that are no snapshots, or not those that a command needs.

use anyhow::Result;

use super::{Table, write};
use crate::harness::Bench;

#[test]
fn snapshots() -> Result<()> {
    let bench = Bench::new()?;
    write(&bench, &[("there.wacz", "mine"), ("short.run.tar.zst", "no run"), ("folder/x", "")])?;
    Table::new("snapshots", &bench).check(&[
        ("no file to inspect", "sandbox snapshot inspect nonesuch.wacz"),
        ("no file to verify", "sandbox snapshot verify nonesuch.wacz"),
        ("no file to repair", "sandbox snapshot repair nonesuch.wacz"),
        ("no file to replay", "sandbox replay nonesuch.wacz"),
        ("another file to inspect", "sandbox snapshot inspect Cargo.toml"),
        ("another file to verify", "sandbox snapshot verify Cargo.toml"),
        ("another file to repair", "sandbox snapshot repair Cargo.toml"),
        ("another file to replay", "sandbox replay Cargo.toml"),
        (
            "a file in the way of a recording",
            "sandbox record --listen=127.0.0.1:0 -o HERE/there.wacz",
        ),
        (
            "a file in the way of an import",
            "sandbox snapshot import snapshots/demo.wacz -o HERE/there.wacz",
        ),
        ("no packed run", "sandbox verify HERE/short.run.tar.zst"),
        ("a folder for a packed run", "sandbox verify HERE/folder"),
    ])
}

#[test]
fn checks_of_pages() -> Result<()> {
    let bench = Bench::new()?;
    let task = "id: page\ngoal: Look.\nstart_url: https://www.aldria-rail.test/\n\
        scorer: {equals: x}\n";
    write(
        &bench,
        &[
            ("web/suite.yaml", "name: web\nworld: {snapshots: [web.wacz]}\n"),
            ("web/page.yaml", task),
            ("none/suite.yaml", "name: web\nworld: {clock: 2026-03-12T08:30:00Z}\n"),
            ("none/page.yaml", task),
        ],
    )?;
    std::fs::copy("../../snapshots/demo.wacz", bench.path("web/web.wacz"))?;
    // Nothing may be asked of this web.
    Table::new("checks_of_pages", &bench).check(&[
        (
            "no folder for the report",
            "sandbox snapshot check HERE/web --live --connect-to=::127.0.0.1:1 --junit HERE/nowhere/x.xml",
        ),
        (
            "the recording itself in the way",
            "sandbox snapshot check HERE/web --live --connect-to=::127.0.0.1:1 -o HERE/web/web.wacz --force",
        ),
        ("no recording", "sandbox snapshot check HERE/none --live --connect-to=::127.0.0.1:1"),
    ])
}
