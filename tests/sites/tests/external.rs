//! A site that is somebody else's: used where it is, and neither started nor stopped.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use sites::{Options, Site, SiteGroup, SiteTarget};

const SOON: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_site_elsewhere_is_waited_for_leased_probed_and_left_alone() {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let manifest = folder.join("theirs");
    std::fs::create_dir_all(&manifest).unwrap();
    let text = format!(
        "title: Theirs\nabout: Somebody else's.\ndriver: external\nurl: http://127.0.0.1:{port}/\n\
         hosts: [theirs.test]\nreset: never\nready: {{front: {{get: /, contains: a small site}}}}\n\
         probes: {{lines: {{get: '/lines'}}, add: {{get: '/add?:what'}}, bad: {{exec: [true]}}}}\n"
    );
    std::fs::write(manifest.join("site.yaml"), text).unwrap();
    let options = Options { instances: 2, ..Options::new("test", folder.join("data")) };
    let group = SiteGroup::start(vec![Site::load(&manifest).unwrap()], options, Arc::new(|_| {}))
        .await
        .unwrap();
    let early = group.lease("theirs", Duration::from_millis(300)).await.unwrap_err().to_string();
    assert!(early.contains("waiting for `front`") && early.contains("refused"), "{early}");

    let mut theirs = Command::new(env!("CARGO_BIN_EXE_small-site"));
    theirs.args([port.to_string(), folder.join("state").to_string()]).stdout(Stdio::null());
    let mut theirs = theirs.spawn().unwrap();
    let (a, b) =
        (group.lease("theirs", SOON).await.unwrap(), group.lease("theirs", SOON).await.unwrap());
    assert_eq!(a.upstream(), SiteTarget::Url(format!("http://127.0.0.1:{port}/").parse().unwrap()));
    assert_eq!(a.upstream(), b.upstream());
    let what = BTreeMap::from([("what".to_owned(), serde_json::json!("a b&c"))]);
    assert_eq!(a.probe("add", &what).await.unwrap(), "added");
    assert_eq!(b.probe("lines", &what).await.unwrap(), "a%20b%26c\n");
    let error = a.probe("bad", &what).await.unwrap_err().to_string();
    assert!(error.contains("the site is not on this machine"), "{error}");
    assert_eq!((a.difference().await.unwrap(), a.digest().await.unwrap()), (None, None));
    group.stop().await.unwrap();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok(), "it still runs");
    theirs.kill().unwrap();
    theirs.wait().unwrap();
}
