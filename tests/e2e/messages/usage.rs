//! Command lines that cannot be understood, and what they name that is not there.

use anyhow::Result;

use super::Table;
use crate::harness::Bench;

#[test]
fn usage() -> Result<()> {
    Table::new("usage", &Bench::new()?).check(&[
        ("nothing to record", "sandbox record"),
        ("another kind of file", "sandbox record https://a.test/ -o x.zip"),
        ("no address", "sandbox record 'no url' -o x.wacz"),
        ("an address without its scheme", "sandbox record 127.0.0.1:8000 -o x.wacz"),
        ("a local name without its scheme", "sandbox record localhost:8000/x -o x.wacz"),
        ("a host without its scheme", "sandbox record example.org -o x.wacz"),
        ("another scheme", "sandbox record ftp://example.org/ -o x.wacz"),
        ("half a mapping", "sandbox record https://a.test/ -o x.wacz --connect-to a:b"),
        ("an unknown task to play", "sandbox run tasks/demo --agent noop --task nonesuch"),
        ("an unknown suite", "sandbox run tasks/nonesuch --agent noop"),
        ("an unknown task to show", "sandbox tasks show tasks/demo nonesuch"),
        ("an unknown task of a gym", "sandbox gym tasks/demo --task nonesuch"),
        ("no sites that are up", "sandbox status"),
        ("an old name of a flag", "sandbox merge nonesuch --out none"),
        ("an old name of a command", "sandbox env tasks/nonesuch one"),
        ("an old name of a command in a group", "sandbox front --gyms nonesuch"),
        ("a gym without a suite", "sandbox gym"),
        ("two suites of a gym", "sandbox gym tasks/demo first-class-fare"),
        ("a balancer, told of in detail", "sandbox gym -v balance --gyms nonesuch"),
        (
            "an option of a gym before the balancer",
            "sandbox gym --workers 3 balance --gyms nonesuch",
        ),
        ("options behind filling", "sandbox replay snapshots/demo.wacz --allow-private"),
    ])
}

#[test]
fn amounts() -> Result<()> {
    Table::new("amounts", &Bench::new()?).check(&[
        ("units", "sandbox run tasks/nonesuch --agent=noop --memory=512MiB --step-timeout=30s"),
        ("numbers alone", "sandbox run tasks/nonesuch --agent=noop --memory=512 --step-timeout=30"),
        ("no number", "sandbox run tasks/nonesuch --agent=noop --memory=lots"),
        ("no time at all", "sandbox gym tasks/nonesuch --idle-timeout=0s"),
        ("a part that is not there", "sandbox run tasks/demo --agent=oracle --shard=3/2"),
    ])
}

#[test]
fn misspelt_names() -> Result<()> {
    Table::new("misspelt_names", &Bench::new()?).check(&[
        ("a suite", "sandbox run tasks/dmeo --agent=noop"),
        ("an agent", "sandbox run tasks/demo --agent=orcale"),
        ("a task", "sandbox run tasks/demo --agent=noop --task=lakeside-comute"),
        ("a dialect", "sandbox run tasks/demo --agent=program:x --dialect=webarean"),
        ("a task of a session", "sandbox attach tasks/demo lakeside-comute"),
        ("a task to show", "sandbox tasks show tasks/demo lakeside-comute"),
        ("an agent to show", "sandbox agents show generik"),
        ("a site", "sandbox up forun"),
        ("an image", "sandbox images build foru"),
        ("a benchmark to import", "sandbox tasks import webarenna x"),
        ("a benchmark to score", "sandbox score webarenna"),
        ("nothing like it", "sandbox agents show nonesuch"),
    ])
}

#[test]
fn windows_without_a_display() -> Result<()> {
    Table::new("windows_without_a_display", &Bench::new()?).check(&[
        ("a session", "sandbox attach tasks/demo connecting-train --headed -- true"),
        ("a replay", "sandbox replay snapshots/demo.wacz --open"),
        ("pages", "sandbox record https://www.aldria-rail.test/ --manual -o HERE/x.wacz"),
        ("a suite", "sandbox record --suite tasks/demo --manual -o HERE/y.wacz"),
        ("an annotation", "sandbox annotate snapshots/demo.wacz -o HERE/x"),
    ])
}
