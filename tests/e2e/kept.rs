//! What pages had kept in the browser when they were recorded: there again before any script of
//! theirs, wherever the snapshot is opened in a browser of ours.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use crate::harness::Bench;
use crate::server::Server;

/// Shows what it finds, asks for something that hangs on it, and leaves something.
const PAGE: &str = "<!doctype html><title>-</title><script>
document.title = `found ${localStorage.basket} ${sessionStorage.tab} ${document.cookie}`;
if (localStorage.basket) fetch(`/as/${localStorage.basket}`);
localStorage.basket = 'pears'; sessionStorage.tab = 'x'; document.cookie = 'theme=dark; max-age=3600';
</script>";

const SUITE: &str = "world: {snapshots: [kept.wacz], clock: 2026-03-12T08:30:00Z}\n";
const TASK: &str = "id: kept\ngoal: Look.\nstart_url: http://kept.test/\nscorer:\n  warcbench:\n    \
                    js_matcher: document.title === 'found pears x theme=dark'\noracle:\n- noop\n";

#[tokio::test(flavor = "multi_thread")]
async fn what_pages_had_kept_is_recorded_and_there_again() -> Result<()> {
    let bench = Bench::new()?;
    let server = Server::start(|_, mut tcp| async move {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            PAGE.len()
        );
        tcp.write_all(format!("{head}{PAGE}").as_bytes()).await?;
        Ok(tcp.shutdown().await?)
    })
    .await?;
    let (file, live) = (bench.path("kept.wacz"), server.as_live_web());
    let record = ["record", "http://kept.test/", "--delay=0", &live, "-o"];
    bench.succeed(&[&record[..], &[bench.path("bare.wacz").as_str()]].concat())?;
    let output = bench.run(&[&record[..], &[file.as_str(), "--state"]].concat())?;
    ensure!(output.status.success(), "{output:?}");
    ensure!(crate::harness::text(&output.stderr).contains("1 cookie or token"), "{output:?}");

    let counts = |file: &str| -> Result<Value> {
        let report: Value =
            serde_json::from_str(&bench.succeed(&["snapshot", "inspect", file, "--json"])?)?;
        Ok(report["browser_state"].clone())
    };
    ensure!(counts(bench.path("bare.wacz").as_str())?.is_null(), "nobody asked for it");
    let kept = json!({
        "cookies": { "kept.test": 1 },
        "local_storage": { "http://kept.test": 1 },
        "session_storage": { "http://kept.test": 1 },
    });
    ensure!(counts(file.as_str())? == kept, "{}", counts(file.as_str())?);

    std::fs::write(bench.path("suite.yaml"), SUITE)?;
    std::fs::write(bench.path("kept.yaml"), TASK)?;
    let suite = bench.path("");
    let (out, attached) = (bench.path("out"), bench.path("attached"));
    let run = [
        "run",
        suite.as_str(),
        "--agent=oracle",
        "--repeat=3",
        "--check",
        "--json",
        "--output",
        out.as_str(),
    ];
    let summary: Value = serde_json::from_str(&bench.succeed(&run)?)?;
    ensure!(summary["score"] == 1.0 && summary["deterministic"] == true, "{summary:#}");
    bench.succeed(&[
        "attach",
        suite.as_str(),
        "kept",
        "--check",
        "--output",
        attached.as_str(),
        "--",
        "true",
    ])?;

    let checked = bench.run(&["replay", file.as_str(), "--check", "--json"])?;
    let checked: Value = serde_json::from_slice(&checked.stdout)?;
    ensure!(checked["pages"][0]["verdict"] == "shown-with-holes", "{checked:#}");
    let holes = checked["pages"][0]["holes"].to_string();
    ensure!(holes.contains("GET http://kept.test/as/pears"), "{checked:#}");
    Ok(())
}
