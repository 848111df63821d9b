//! A site that plants links in its state while it is put back: nothing outside changes, and the
//! site is found out.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use sites::state::{Access, Golden, Layout, Live};
use sites::{Event, Lease, Options, Site, SiteGroup};

use crate::harness::{Bench, SOON, page, small_database, wait_for};

const RESETS: usize = 1000;

/// A folder with what a site would like to have overwritten.
struct Outside {
    folder: Utf8PathBuf,
    before: Vec<(Utf8PathBuf, Vec<u8>)>,
}

impl Outside {
    fn new(folder: Utf8PathBuf) -> Outside {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("all"), "the owner's").unwrap();
        small_database(&folder.join("db.sqlite3"));
        let database = rusqlite::Connection::open(folder.join("db.sqlite3")).unwrap();
        database.execute_batch("UPDATE lines SET line = 'secret'").unwrap();
        drop(database);
        Outside { before: content(&folder), folder }
    }
}

/// All files of a folder.
fn content(folder: &Utf8Path) -> Vec<(Utf8PathBuf, Vec<u8>)> {
    let paths = folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path());
    let mut found: Vec<_> =
        paths.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect();
    found.sort();
    found
}

/// The only folder whose path is `root`, a folder of any name for each `*`, and the rest.
fn find(root: &Utf8Path, pattern: &[&str]) -> Option<Utf8PathBuf> {
    let Some((first, rest)) = pattern.split_first() else {
        return root.is_dir().then(|| root.to_owned());
    };
    match *first {
        "*" => root.read_dir_utf8().ok()?.flatten().find_map(|entry| find(entry.path(), rest)),
        name => find(&root.join(name), rest),
    }
}

fn drifted(event: &Event) -> Option<u32> {
    if let Event::Drifted { instance, .. } = event { Some(*instance) } else { None }
}

fn recycled(event: &Event) -> Option<u32> {
    if let Event::Recycled { instance, .. } = event { Some(*instance) } else { None }
}

/// A lease of this very instance, which is there and nobody's.
async fn lease_of(group: &SiteGroup, instance: u32) -> Lease {
    let mut others = Vec::new();
    loop {
        let lease = group.lease("small", SOON).await.unwrap();
        if lease.instance() == instance {
            return lease;
        }
        others.push(lease);
    }
}

/// Has the first instance of a group plant links while its state is put back, and hands it back.
async fn race(
    group: &SiteGroup,
    events: &Mutex<Vec<Event>>,
    live: Live,
    golden: &Utf8Path,
    outside: &Outside,
) {
    let layout = Layout::of(
        &serde_json::from_str(r#"{"sqlite": ["db.sqlite3"], "trees": ["lines"]}"#).unwrap(),
    )
    .unwrap();
    let golden = Golden::open(golden, layout).unwrap();
    let lease = group.lease("small", SOON).await.unwrap();
    assert_eq!(page(&lease, &format!("/hostile?{}", outside.folder)).await, "planting");
    let put_back = move || {
        for _ in 0..RESETS {
            let _ = golden.restore(&live);
            let _ = golden.digest_of(&live);
        }
    };
    tokio::task::spawn_blocking(put_back).await.unwrap();
    assert!(content(&outside.folder) == outside.before, "a reset wrote outside");

    let bad = lease.instance();
    let count = |of: fn(&Event) -> Option<u32>| {
        events.lock().unwrap().iter().filter(|event| of(event) == Some(bad)).count()
    };
    let deadline = Instant::now() + SOON;
    let mut lent = lease;
    // A busy machine may not run the site at all during one reset, which then finds nothing odd.
    for resets in 1.. {
        assert!(Instant::now() < deadline, "the site was not found out");
        lent.hand_back(true).await;
        wait_for("the instance was put back or found out", || {
            count(drifted) + count(recycled) >= resets
        })
        .await;
        if count(drifted) > 0 {
            break;
        }
        lent = lease_of(group, bad).await;
    }
    let next = group.lease("small", SOON).await.unwrap();
    assert!(next.instance() != bad && next.difference().await.unwrap().is_none());
    assert!(content(&outside.folder) == outside.before, "a reset wrote outside");
    group.stop().await.unwrap();
}

async fn group(bench: &Bench, manifest: &Utf8Path) -> (SiteGroup, Arc<Mutex<Vec<Event>>>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let on: sites::Events = Arc::new(move |event| heard.lock().unwrap().push(event.clone()));
    let options =
        Options { helper: crate::harness::helper(), ..Options::new("test", bench.path("data")) };
    let group = SiteGroup::start(vec![Site::load(manifest).unwrap()], options, on).await.unwrap();
    group.ready(SOON).await.unwrap();
    (group, events)
}

#[tokio::test]
async fn a_container_that_plants_links_has_nothing_outside_overwritten() {
    let bench = Bench::new();
    let manifest = bench.manifest("reset: restore");
    let text = std::fs::read_to_string(manifest.join("site.yaml")).unwrap();
    let text = text.replace("state: {trees:", "state: {sqlite: [/state/db.sqlite3], trees:");
    std::fs::write(manifest.join("site.yaml"), text).unwrap();
    let (group, events) = group(&bench, &manifest).await;
    let outside = Outside::new(bench.path("outside"));
    let folder = find(&bench.path("data/copies"), &["*", "small-1", "state"]).unwrap();
    let golden = find(&bench.path("data/golden"), &["*", "small"]).unwrap();
    let live = Live { folder, access: Access::Only(10001, 10001) };
    race(&group, &events, live, &golden, &outside).await;
}

#[tokio::test]
async fn a_process_that_plants_links_has_nothing_outside_overwritten() {
    let bench = Bench::new();
    let manifest = bench.path("sites/small");
    std::fs::create_dir_all(&manifest).unwrap();
    let begin = bench.path("begin.sh");
    let seed = bench.path("seed.sqlite3");
    small_database(&seed);
    let site = env!("CARGO_BIN_EXE_small-site");
    let script = format!(
        "mkdir -p $2/lines && echo golden > $2/lines/all && cp {seed} $2/db.sqlite3 && exec {site} $1 $2\n"
    );
    std::fs::write(&begin, script).unwrap();
    let text = format!(
        "title: Small\nabout: A small site.\ndriver: process\nhosts: [small.test]\n\
         command: [sh, {begin}, '{{port}}', '{{state}}']\nready: {{front: {{get: /, contains: a small site}}}}\n\
         state: {{sqlite: [db.sqlite3], trees: [lines]}}\nreset: restore\n"
    );
    std::fs::write(manifest.join("site.yaml"), text).unwrap();
    let (group, events) = group(&bench, &manifest).await;
    let outside = Outside::new(bench.path("outside"));
    let instances = bench.path("data/copies");
    let live =
        Live { folder: find(&instances, &["*", "small-1", "state"]).unwrap(), access: Access::Own };
    let golden = find(&instances, &["*", "small-golden"]).unwrap();
    race(&group, &events, live, &golden, &outside).await;
}
