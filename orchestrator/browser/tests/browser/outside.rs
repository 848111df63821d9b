//! URLs that an agent cannot open, and files that it cannot upload.

use std::fs;
use std::os::unix::fs::symlink;

use actions::Dialect;

use crate::bench::Bench;

#[tokio::test]
async fn an_agent_opens_the_web_and_nothing_of_the_machine() {
    let mut bench =
        Bench::open(Dialect::BrowserGym, &[("desk.test/", "<title>Desk</title>")]).await;
    for address in [
        "file:///etc/passwd",
        "view-source:http://desk.test/",
        "view-source:file:///etc/passwd",
        "chrome://version/",
        "about:version",
        "about:about",
        "chrome-untrusted://new-tab-page/",
        "devtools://devtools/bundled/inspector.html",
        "filesystem:http://desk.test/temporary/x",
        "ftp://desk.test/",
        "javascript:document.title=1",
        "data:text/html,<title>other</title>",
    ] {
        let error = bench.try_to(&format!("goto('{address}')")).await.unwrap_err();
        assert!(error.contains("opened"), "{address}: {error}");
    }
    bench.try_to("goto('http://desk.test/')").await.unwrap();
    assert_eq!(bench.title().await, "Desk");
}

#[tokio::test]
async fn a_link_in_the_tasks_folder_leads_nowhere() {
    let files = tempfile::tempdir().unwrap();
    fs::write(files.path().join("cv.txt"), "mine").unwrap();
    symlink("/etc/passwd", files.path().join("link.txt")).unwrap();
    symlink("cv.txt", files.path().join("again.txt")).unwrap();
    let page = format!(
        "<title>Desk</title><input type=file aria-label=One onchange='this.files[0].text().then(say)'>{}",
        crate::bench::LOG
    );
    let mut bench =
        Bench::open_with(Dialect::BrowserGym, &[("desk.test/", &page)], files.path()).await;
    let refused = "only files of the task and its downloads can be given to a page";
    let error = bench.try_to("upload_file('{One}', 'link.txt')").await.unwrap_err();
    assert!(error.ends_with(refused), "{error}");
    bench.act("upload_file('{One}', 'again.txt')").await;
    assert_eq!(bench.said().await, ["mine"]);
}
