//! The forum in a container, run by its manifest, beside the forum in our process, run by its own: whoever visits, asks a
//! probe or puts the state back finds no difference. The image is made of the program of this build and the libraries it
//! is linked to, so no network and no base image is needed; `tests/images/check.py forum` looks at the image that is built.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use embedded_sites::forum;
use sites::manifest::DriverSpec;
use sites::{Lease, Options, Site, SiteGroup};

use crate::visitor::{Visitor, both, crawl};

const SOON: Duration = Duration::from_secs(60);

/// A folder, and an image that goes with it.
struct Bench {
    keep: tempfile::TempDir,
    image: String,
}

impl Bench {
    fn new() -> Bench {
        docker(&["version"])
            .expect("no container engine answers: run `./setup.sh engine`, then try again");
        let keep = tempfile::Builder::new().prefix("forum-image-").rand_bytes(8).tempdir().unwrap();
        let name = keep.path().file_name().unwrap().to_str().unwrap().to_lowercase();
        let bench = Bench { image: format!("{name}:1"), keep };
        let tar = bench.path("image.tar");
        image(&tar).unwrap();
        let start = r#"CMD ["/forum", "serve", "/state/forum.sqlite3"]"#;
        docker(&["import", "--change", start, tar.as_str(), &bench.image]).unwrap();
        bench
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.keep.path()).unwrap().join(name)
    }

    /// A group of the one site whose manifest this is.
    async fn group(&self, mut site: Site, name: &str) -> SiteGroup {
        if let DriverSpec::Docker(container) = &mut site.driver {
            container.image.clone_from(&self.image);
        }
        let options = Options::new(name, self.path(name));
        let group = SiteGroup::start(vec![site], options, Arc::new(|_| ())).await.unwrap();
        group.ready(SOON).await.unwrap();
        group
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = docker(&["image", "rm", "--force", &self.image]);
    }
}

fn docker(arguments: &[&str]) -> Result<(), String> {
    let output =
        Command::new("docker").args(arguments).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A root file system: the program, what it is linked to, and the golden state.
fn image(tar: &Utf8Path) -> std::io::Result<()> {
    let program = env!("CARGO_BIN_EXE_forum");
    let linked =
        String::from_utf8_lossy(&Command::new("ldd").arg(program).output()?.stdout).into_owned();
    let mut archive = tar::Builder::new(std::fs::File::create(tar)?);
    // The engine does not read files with holes.
    archive.sparse(false);
    archive.append_path_with_name(program, "forum")?;
    for library in linked.split_whitespace().filter(|word| word.starts_with('/')) {
        let inside = Path::new(library).strip_prefix("/").unwrap();
        archive.append_path_with_name(std::fs::canonicalize(library)?, inside)?;
    }
    let mut header = tar::Header::new_gnu();
    header.set_mode(0o777);
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    for folder in ["seed/", "state/", "clock/", "etc/", "tmp/", "run/"] {
        archive.append_data(&mut header, folder, std::io::empty())?;
    }
    let golden = forum::generate().unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_size(golden.len() as u64);
    header.set_mode(0o666);
    archive.append_data(&mut header, "seed/forum.sqlite3", golden.as_slice())?;
    archive.finish()
}

fn manifest(name: &str) -> Site {
    Site::load(&Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites").join(name)).unwrap()
}

fn visitor_of(lease: &Lease) -> Visitor {
    Visitor::at(lease.upstream())
}

#[test]
fn the_manifests_differ_only_in_how_the_forum_is_run() {
    let (ours, container) = (manifest("forum"), manifest("containers/forum"));
    assert_eq!((&ours.hosts, ours.clock), (&container.hosts, container.clock));
    assert_eq!(format!("{:?}", ours.accounts), format!("{:?}", container.accounts));
    assert_eq!(format!("{:?}", ours.login), format!("{:?}", container.login));
    let queries = |site: &Site| {
        site.probes
            .iter()
            .map(|(name, probe)| (name.clone(), probe.query.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(queries(&ours), queries(&container));
}

#[tokio::test]
async fn a_container_is_the_forum_in_our_process() {
    let bench = Bench::new();
    let towns = [
        bench.group(manifest("containers/forum"), "container").await,
        bench.group(manifest("forum"), "embedded").await,
    ];
    // The second round finds what the first has changed put back, in the same copies or others.
    for later in ["2023-06-20T12:00:00Z", "2023-06-18T12:00:00Z"] {
        let leases = [
            towns[0].lease("forum", SOON).await.unwrap(),
            towns[1].lease("forum", SOON).await.unwrap(),
        ];
        let mut visitors = [visitor_of(&leases[0]), visitor_of(&leases[1])];
        assert!(crawl(&mut visitors, 40).await >= 40);
        for (lease, visitor) in leases.iter().zip(&mut visitors) {
            assert_eq!(lease.difference().await.unwrap(), None);
            lease.set_clock(later.parse().unwrap()).unwrap();
            let given = lease.login("ships").await.unwrap();
            visitor.wear(format!("{}={}", given.cookies[0].name, given.cookies[0].value));
        }
        both(&mut visitors, "GET /submit", "").await;
        let post =
            "submission%5Bforum%5D=books&submission%5Btitle%5D=New&submission%5Bbody%5D=Words";
        let answer = both(&mut visitors, "POST /submit", post).await;
        assert!(answer.starts_with("HTTP/1.1 302"), "{answer}");
        let newest = both(&mut visitors, "GET /f/books/new", "").await;
        assert!(newest.contains(&later[..10]), "{newest}");
        let mut rows = Vec::new();
        for lease in leases {
            assert!(lease.difference().await.unwrap().is_some());
            let parameters = [("user".to_owned(), "tallships".into())].into();
            rows.push(lease.probe("submissions_of", &parameters).await.unwrap());
            lease.hand_back(true).await;
        }
        assert_eq!(rows[0], rows[1]);
        assert!(rows[0].to_string().contains("\"New\""), "{}", rows[0]);
    }
    for group in towns {
        group.stop().await.unwrap();
    }
}
