//! Folders of this machine inside a container, and room to write in.

use sites::SiteState;

use crate::harness::{Bench, SOON, page};

#[tokio::test]
async fn a_folder_can_be_read_and_scratch_be_filled_up_to_its_size() {
    let bench = Bench::new();
    let folder = bench.manifest("").join("data");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("town"), "a map").unwrap();
    let volumes = "{/data: {folder: data}, /room: {scratch: 64K}}";
    let store = format!(
        "{{image: '{}', command: [/site, '8001', /room/state], volumes: {volumes}}}",
        bench.image()
    );
    let lines = format!("reset: spare\nvolumes: {volumes}\nsidecars: {{store: {store}}}");
    let running = bench.group(&lines, 1).await;
    let lease = running.lease().await;
    assert_eq!(page(&lease, "/file?/data/town").await, "a map");
    assert!(page(&lease, "/write?/data/town").await.starts_with("error: Read-only"));
    assert_eq!(page(&lease, "/write?/room/new").await, "written");
    let mounted = page(&lease, "/file?/proc/mounts").await;
    let room = mounted.lines().find(|line| line.contains(" /room ")).unwrap();
    assert!(room.starts_with("tmpfs") && room.contains("size=64k"), "{room}");
    running.group.stop().await.unwrap();
    assert_eq!(std::fs::read_to_string(folder.join("town")).unwrap(), "a map");
}

#[tokio::test]
async fn a_folder_that_is_missing_is_told_with_manifest_key_and_cure_until_it_is_there() {
    let bench = Bench::new();
    let running = bench.group("reset: spare\nvolumes: {/data: {folder: maps}}", 1).await;
    let error = running.group.ready(SOON).await.unwrap_err().to_string();
    let key = "sites/small/site.yaml: volumes./data.folder: ";
    assert!(error.contains(key) && error.contains("/maps cannot be used"), "{error}");
    assert!(error.ends_with("put the folder there, or name another"), "{error}");
    assert!(!error.contains("times in a row"), "{error}");
    std::fs::create_dir(bench.path("sites/small/maps")).unwrap();
    running.group.reset("small").await.unwrap();
    assert_eq!(running.group.status()[0].state, SiteState::Running);
    running.group.stop().await.unwrap();

    let variable = "reset: spare\nvolumes: {/data: {folder: '${SMALL_SITE_NONESUCH}/a'}}";
    let error = bench.refused(variable).await;
    assert!(error.contains("--site-env SMALL_SITE_NONESUCH"), "{error}");
}
