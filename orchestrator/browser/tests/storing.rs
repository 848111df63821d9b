//! Storing takes none of a page's time: while a database or a cache is at work, the page's clock
//! stands still.
//!
//! A program of its own: it starves every browser of its process.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "browser/load/mod.rs"]
mod load;
#[allow(dead_code)]
#[path = "browser/web/mod.rs"]
mod web;

use std::fs;
use std::process::Command;
use std::time::Duration;

use actions::Action;
use browser::{Determinism, Launch, Session};
use in_flight::InFlight;

use crate::load::Load;

const PATIENCE: Duration = Duration::from_secs(60);
/// 10 operations, one after the other, and how many of them a timer of 60 ms has seen.
const WORK: &str = "
    const OPERATIONS = {
      cache: async () => (await caches.open('c')).put('/' + Math.random(), new Response('x'.repeat(5000))),
      database: () => new Promise(done => {
        self.number ??= 0;
        const opening = indexedDB.open('d' + number++ % 5, 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore('s', { autoIncrement: true });
        opening.onsuccess = () => {
          const adding = opening.result.transaction('s', 'readwrite').objectStore('s').add('x'.repeat(5000));
          adding.onsuccess = () => { opening.result.close(); done(); };
        };
      }),
      file: async () => {
        const root = await navigator.storage.getDirectory();
        const file = await root.getFileHandle('f', { create: true });
        const writable = await file.createWritable();
        await writable.write('x'.repeat(5000));
        await writable.close();
        const writer = (await file.createWritable()).getWriter();
        await writer.write('y');
        await writer.close();
        await new Blob(['z']).stream().pipeTo(await file.createWritable());
        for await (const [name] of root) await (await (await root.getFileHandle(name)).getFile()).text();
        await root.removeEntry('f');
      },
    };
    const work = async tell => {
      for (const [name, operation] of Object.entries(OPERATIONS)) {
        let count = 0;
        const timer = new Promise(done => setTimeout(() => done(count), 60));
        for (let n = 0; n < 10; n++) { await operation(); count++; }
        tell(name + ' ' + await timer);
      }
      tell('done');
    };
";

/// Gives the threads that store things for pages very little time, so that they are always late.
fn starve_storage() {
    let mut starved = 0;
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let id = entry.file_name().into_string().unwrap();
        let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        if !is_below(&id, std::process::id())
            || !command.contains("chromium")
            || command.contains("--type=")
        {
            continue;
        }
        for thread in fs::read_dir(entry.path().join("task")).into_iter().flatten().flatten() {
            let name = fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
            if name.starts_with("ThreadPool") || name.starts_with("CacheThread") {
                let thread = thread.file_name();
                let reniced =
                    Command::new("renice").args(["-n", "19", "-p"]).arg(thread).output().unwrap();
                assert!(reniced.status.success(), "{reniced:?}");
                starved += 1;
            }
        }
    }
    assert!(starved > 0, "no thread was found that stores");
}

/// Whether a process has been started by another, or by one that it has started.
fn is_below(id: &str, ancestor: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1));
    parent.is_some_and(|parent| {
        parent == ancestor.to_string() || parent != "0" && is_below(parent, ancestor)
    })
}

fn launch(web: &crate::web::Web) -> Launch {
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    Launch { determinism: Some(world), ..Launch::new(web.address, "") }
}

#[tokio::test]
async fn storage_takes_no_time_of_a_page_or_worker() {
    let page = |script: &str| format!("<!doctype html><p id=p></p><script>{script}</script>");
    let tell = "const tell = line => p.append(line, ', ');";
    let web = crate::web::Web::serve(&[
        ("localhost/page", &page(&format!("{WORK}{tell} work(tell)"))),
        (
            "localhost/worker",
            &page(&format!("{tell} new Worker('/worker.js').onmessage = e => tell(e.data)")),
        ),
        ("localhost/worker.js", &format!("{WORK} work(postMessage)")),
        (
            "localhost/shared",
            &page(&format!("{tell} new SharedWorker('/shared.js').port.onmessage = e => tell(e.data)")),
        ),
        (
            "localhost/shared.js",
            &format!("{WORK} onconnect = e => work(line => e.ports[0].postMessage(line))"),
        ),
        (
            "localhost/service",
            &page(&format!(
                "{tell} navigator.serviceWorker.onmessage = e => tell(e.data);
                navigator.serviceWorker.register('/service.js')"
            )),
        ),
        (
            "localhost/service.js",
            &format!(
                "{WORK} const tell = async line => {{
                  for (const page of await clients.matchAll({{ includeUncontrolled: true }})) page.postMessage(line);
                }};
                oninstall = e => e.waitUntil(work(tell))"
            ),
        ),
    ])
    .await;
    let mut session = Session::start(&launch(&web)).await.unwrap();
    let _load = Load::begin(std::thread::available_parallelism().unwrap().get());
    starve_storage();
    for realm in ["page", "worker", "shared", "service"] {
        session.act(&Action::Goto { url: format!("http://localhost/{realm}") }).await.unwrap();
        session.settle(&InFlight::default(), PATIENCE).await.unwrap();
        let text = session.page_text().await.unwrap();
        assert_eq!(text.trim(), "cache 10, database 10, file 10, done,", "in the {realm}");
    }
    session.close().await.unwrap();
}

/// Scripts ask whether there are caches before they use them.
#[tokio::test]
async fn a_worker_has_caches_where_its_context_is_secure() {
    let page = "<!doctype html><p id=p></p><script>new Worker('/worker.js').onmessage = e => p.append(e.data)</script>";
    let script = "postMessage(`${isSecureContext} ${'caches' in self} ${typeof self.caches}`)";
    let hosts = ["localhost", "sub.localhost", "plain.test"];
    let pages: Vec<(String, &str)> = hosts
        .iter()
        .flat_map(|host| [(format!("{host}/page"), page), (format!("{host}/worker.js"), script)])
        .collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|(place, body)| (&**place, *body)).collect();
    let web = crate::web::Web::serve(&pages).await;
    let mut session = Session::start(&launch(&web)).await.unwrap();
    for (host, expected) in
        hosts.into_iter().zip(["true true object", "true true object", "false false undefined"])
    {
        session.act(&Action::Goto { url: format!("http://{host}/page") }).await.unwrap();
        session.settle(&InFlight::default(), PATIENCE).await.unwrap();
        assert_eq!(session.page_text().await.unwrap().trim(), expected, "{host}");
    }
    session.close().await.unwrap();
}
