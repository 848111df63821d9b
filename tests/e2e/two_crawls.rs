//! A site that was crawled on two days: a page has the frames, data, scripts and workers of its own
//! day, however the crawls were put together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Result, ensure};
use camino::Utf8PathBuf;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::harness::Bench;
use crate::server::Server;

/// Says of which day everything is that it is made of.
const PAGE: &str =
    "<!doctype html><title>-</title><a href=/>Again</a><script src=/classic.js></script><script>
const parts = {page: 'DAY', script: classic};
const told = (name, day) => { parts[name] = day; document.title = Object.keys(parts).sort()
    .map(name => `${name} ${parts[name]}`).join(', ') };
onmessage = event => told('frame', event.data);
fetch('/data').then(answer => answer.text()).then(text => told('data', text));
import('/module.js').then(module => told('module', module.day));
const worker = new Worker('/worker.js', {type: 'module'});
worker.onmessage = event => { told('worker', event.data[0]); told('asked', event.data[1]); };
</script><iframe src=/frame></iframe>";
const FRAME: &str = "<!doctype html><script>fetch('/data').then(answer => answer.text())
    .then(text => parent.postMessage(`DAY ${text}`, '*'))</script>";
const WORKER: &str = "import {day} from './module.js';
fetch('/data').then(answer => answer.text()).then(text => postMessage(['DAY ' + day, text]));";

/// The site, on the day that the number says.
async fn site(day: Arc<AtomicU32>) -> Result<Server> {
    Server::start(move |path, mut tcp| {
        let day = day.load(Ordering::Relaxed).to_string();
        async move {
            let (kind, body) = match path.as_str() {
                "/" => ("text/html", PAGE),
                "/frame" => ("text/html", FRAME),
                "/classic.js" => ("text/javascript", "const classic = 'DAY'"),
                "/module.js" => ("text/javascript", "export const day = 'DAY'"),
                "/worker.js" => ("text/javascript", WORKER),
                _ => ("text/plain", "DAY"),
            };
            let body = body.replace("DAY", &day);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            tcp.write_all(format!("{head}{body}").as_bytes()).await?;
            Ok(tcp.shutdown().await?)
        }
    })
    .await
}

/// A suite whose world stands at the first or the second day, and whose page is loaded three times.
fn suite(bench: &Bench, name: &str, snapshots: &str, day: u32) -> Result<Utf8PathBuf> {
    let folder = bench.path(name);
    std::fs::create_dir(&folder)?;
    let year = if day == 1 { 2020 } else { 2040 };
    let world = format!("world: {{snapshots: [{snapshots}], clock: {year}-01-01T00:00:00Z}}\n");
    std::fs::write(folder.join("suite.yaml"), world)?;
    let shown = format!(
        "asked {day}, data {day}, frame {day} {day}, module {day}, page {day}, script {day}, worker {day} {day}"
    );
    let again = "- click: {role: link, name: Again}\n";
    let task = format!(
        "id: look\ngoal: Look.\nstart_url: http://days.test/\nscorer:\n  warcbench:\n    \
         js_matcher: document.title === '{shown}'\noracle:\n{again}{again}"
    );
    std::fs::write(folder.join("look.yaml"), task)?;
    Ok(folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_of_one_crawl_with_its_frames_workers_and_data() -> Result<()> {
    let bench = Bench::new()?;
    let day = Arc::new(AtomicU32::new(1));
    let server = site(Arc::clone(&day)).await?;
    let live = server.as_live_web();
    let crawls = [1, 2].map(|number| bench.path(&format!("day{number}.wacz")));
    for (number, crawl) in crawls.iter().enumerate() {
        day.store(number as u32 + 1, Ordering::Relaxed);
        bench.succeed(&[
            "record",
            "http://days.test/",
            "--delay=0",
            &live,
            "-o",
            crawl.as_str(),
        ])?;
    }
    drop(server);
    let both = bench.path("both.wacz");
    let [first, second] = crawls.each_ref().map(|crawl| crawl.as_str());
    bench.succeed(&["snapshot", "merge", first, second, "-o", both.as_str()])?;
    for (name, snapshots) in [
        ("merged", "../both.wacz"),
        ("listed", "../day1.wacz, ../day2.wacz"),
        ("turned", "../day2.wacz, ../day1.wacz"),
    ] {
        for day in [1, 2] {
            let suite = suite(&bench, &format!("{name}{day}"), snapshots, day)?;
            let out = bench.path(&format!("{name}{day}-run"));
            let run = ["run", suite.as_str(), "--agent=oracle", "--json", "--output", out.as_str()];
            let output = bench.run(&run)?;
            let summary: Value = serde_json::from_slice(&output.stdout)?;
            ensure!(
                summary["passed"] == 1 && summary["requests"]["miss"] == 0,
                "{name} {day}: {summary:#}"
            );
        }
    }
    Ok(())
}
