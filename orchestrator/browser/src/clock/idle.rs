//! Whether the processes of the browser are idle, as the machine's kernel reports it.
//!
//! A page needs several tasks for one response: a script arrives, runs, and requests more. A
//! DevTools command to the page does not tell that they are over, because Chromium answers it
//! before the page's own tasks. But a thread with a task is runnable, and the kernel shows that.
//! The same holds for the network process and a request on its way.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};

use crate::cdp::connection::Cdp;
use crate::cdp::cpu_time;
use crate::cdp::tracker::Tracker;
use crate::clock::state::ClockState;

/// How long to wait for a main thread that runs.
const MAX_WAIT: Duration = Duration::from_secs(5);
/// How many polls processes that reply get. They may have work that has nothing to do with a page.
const MAX_REPLY_POLLS: u32 = 300;
/// How often to check a main thread that runs.
const POLL: Duration = Duration::from_millis(1);
/// How many checks the other threads get before only main threads count.
const MAX_CHECKS: u32 = 100;

/// How many checks in a row must find no replying thread at work. One thread wakes another, so a
/// single check, which looks at one after the other, may miss both.
const MIN_CHECKS: u32 = 20;

/// The processes of a browser.
#[derive(Debug, Clone, Default)]
pub(crate) struct BrowserProcesses {
    renderers: Vec<u64>,
    /// The network process.
    network: Vec<u64>,
    /// The browser's own process, and that of storage where it has one.
    storage: Vec<u64>,
    /// Only main threads count: another thread, such as a worker's, is never idle.
    main_only: bool,
    /// Those that reply are not waited for: they are never all idle.
    never_rest: bool,
    /// The document count when the browser was asked for its processes.
    documents: Option<u64>,
}

/// Waits until the renderers have been idle for one round trip to the browser. Returns false if
/// they were not within [`MAX_WAIT`].
pub(crate) async fn wait_until_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    let mut processes = find_processes(tracker, cdp).await;
    let start = Instant::now();
    let mut checks = 0;
    let mut polls = interval(POLL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while start.elapsed() < MAX_WAIT {
        if processes.main_are_idle() {
            let before = processes.cpu_time();
            ping_browser(tracker, cdp).await;
            if processes.main_are_idle() && processes.cpu_time() == before {
                // The other threads are many, so they come last.
                if processes.others_are_idle() && processes.cpu_time() == before {
                    return true;
                }
                checks += 1;
            }
            if checks == MAX_CHECKS && !processes.main_only {
                tracing::debug!("a thread of a page is never idle");
                processes.main_only = true;
                tracker.lock().part_mut::<ClockState>().processes.main_only = true;
            }
        } else {
            polls.tick().await;
        }
    }
    tracing::debug!("a page did not become idle");
    false
}

/// The same, and until no other process has a reply for the pages: what they store, and what they
/// ask the browser for, is answered in real time. Processes that never rest are not waited for
/// again until there is another document.
pub(crate) async fn wait_until_answered(tracker: &Tracker, cdp: &Cdp) {
    let mut polls = interval(POLL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    wait_until_idle(tracker, cdp).await;
    for _ in 0..MAX_REPLY_POLLS {
        if tracker.lock().part::<ClockState>().processes.never_rest {
            return;
        }
        if are_repliers_idle(tracker, cdp).await {
            // What one of them has sent may have been with the browser at the first look.
            ping_browser(tracker, cdp).await;
            if are_repliers_idle(tracker, cdp).await {
                if are_main_threads_idle(tracker, cdp).await {
                    return;
                }
                wait_until_idle(tracker, cdp).await;
            }
        }
        polls.tick().await;
    }
    tracing::debug!("a process that pages ask is never idle");
    tracker.lock().part_mut::<ClockState>().processes.never_rest = true;
}

async fn are_main_threads_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    find_processes(tracker, cdp).await.main_are_idle()
}

/// Waits only if the renderers are busy at this moment.
pub(crate) async fn ensure_idle(tracker: &Tracker, cdp: &Cdp) {
    if !find_processes(tracker, cdp).await.are_idle() {
        wait_until_idle(tracker, cdp).await;
    }
}

/// Whether the network process has nothing to do: no request is on its way through it.
pub(crate) async fn is_network_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    let network = find_processes(tracker, cdp).await.network;
    network.iter().all(|&id| are_threads_idle(id))
}

/// Whether no thread of the pages runs.
pub(crate) async fn are_renderers_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    find_processes(tracker, cdp).await.are_idle()
}

/// Whether nothing runs in the pages, the network, the browser itself, and what draws.
pub(crate) async fn are_all_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    let processes = find_processes(tracker, cdp).await;
    let others = processes.network.iter().chain(&processes.storage);
    processes.are_idle() && others.chain(&cdp.graphics()).all(|&id| are_threads_idle(id))
}

/// Whether what pages store is written: no thread that does so runs or waits for a disk.
async fn is_storage_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    let storage = find_processes(tracker, cdp).await.storage;
    storage.iter().all(|&id| are_threads_idle(id))
}

/// Whether no thread runs that may reply to a page or worker: one of the pages' own, or one that
/// stores.
async fn are_repliers_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    find_processes(tracker, cdp).await.others_are_idle() && is_storage_idle(tracker, cdp).await
}

/// Whether [`MIN_CHECKS`] checks in a row find no replying thread at work.
pub(crate) async fn repliers_stay_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    for _ in 0..MIN_CHECKS {
        if !are_repliers_idle(tracker, cdp).await {
            return false;
        }
    }
    true
}

/// Whether they are idle within [`MAX_CHECKS`] polls. A thread that has just been asked something
/// is at work for a moment.
pub(crate) async fn repliers_become_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    let mut polls = interval(POLL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for _ in 0..MAX_CHECKS {
        polls.tick().await;
        if repliers_stay_idle(tracker, cdp).await {
            return true;
        }
    }
    false
}

/// Waits until no thread of the pages and none that stores is at work, and none is after a round
/// trip to the browser: what has not been answered by then is not about to be. While one is always
/// at work this does not end.
pub(crate) async fn wait_for_all_threads(tracker: &Tracker, cdp: &Cdp) {
    let mut polls = interval(POLL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        polls.tick().await;
        if all_threads_stay_idle(tracker, cdp).await {
            ping_browser(tracker, cdp).await;
            if all_threads_stay_idle(tracker, cdp).await {
                return;
            }
        }
    }
}

/// Whether [`MIN_CHECKS`] checks in a row find none of those threads at work.
async fn all_threads_stay_idle(tracker: &Tracker, cdp: &Cdp) -> bool {
    for _ in 0..MIN_CHECKS {
        let processes = find_processes(tracker, cdp).await;
        if !processes.renderers.iter().chain(&processes.storage).all(|&id| are_threads_idle(id)) {
            return false;
        }
    }
    true
}

/// A round trip to the browser process, without the page.
pub(crate) async fn ping_browser(tracker: &Tracker, cdp: &Cdp) {
    let Ok(page) = tracker.lock().active() else { return };
    let params = json!({ "urls": ["http://127.0.0.1/"] });
    // A tab that has just gone refuses the command. That is a reply, too.
    let _ = cdp.call(Some(&page.session), "Network.getCookies", params).await;
}

/// Asks the browser for its processes if there may be new ones.
async fn find_processes(tracker: &Tracker, cdp: &Cdp) -> BrowserProcesses {
    let documents = {
        let state = tracker.lock();
        let processes = &state.part::<ClockState>().processes;
        if processes.documents == Some(state.document_count) {
            return processes.clone();
        }
        Some(state.document_count)
    };
    // A browser that does not reply is about to end.
    let reply = cdp.call(None, "SystemInfo.getProcessInfo", json!({})).await.unwrap_or_default();
    let of_type = |kind: &str| -> Vec<u64> {
        let processes = reply.get("processInfo").and_then(Value::as_array).into_iter().flatten();
        processes
            .filter(|process| process["type"] == kind)
            .filter_map(|process| process["id"].as_u64())
            .collect()
    };
    let renderers = of_type("renderer");
    if let Some(&graphics) = of_type("GPU").first() {
        cdp.set_graphics(graphics);
    }
    // An empty list is not kept, so the browser is asked again.
    let documents = documents.filter(|_| !renderers.is_empty());
    let processes = BrowserProcesses {
        renderers,
        network: of_type("network.mojom.NetworkService"),
        storage: [of_type("browser"), of_type("storage.mojom.StorageService")].concat(),
        documents,
        main_only: false,
        never_rest: false,
    };
    tracker.lock().part_mut::<ClockState>().processes = processes.clone();
    processes
}

impl BrowserProcesses {
    /// Whether no thread is runnable.
    fn are_idle(&self) -> bool {
        self.main_are_idle() && self.others_are_idle()
    }

    fn main_are_idle(&self) -> bool {
        self.renderers.iter().all(|&id| is_idle(&main_thread(id)))
    }

    /// The same for the other threads; true where only main threads count.
    fn others_are_idle(&self) -> bool {
        self.main_only || self.renderers.iter().all(|&id| are_threads_idle(id))
    }

    /// The CPU time of the main threads so far, in nanoseconds.
    fn cpu_time(&self) -> u64 {
        self.renderers.iter().map(|&id| cpu_time(id)).sum()
    }
}

fn main_thread(id: u64) -> PathBuf {
    PathBuf::from(format!("/proc/{id}/task/{id}"))
}

/// Whether no thread of a process is runnable.
fn are_threads_idle(id: u64) -> bool {
    let threads = fs::read_dir(format!("/proc/{id}/task"));
    threads.into_iter().flatten().flatten().all(|thread| is_idle(&thread.path()))
}

/// Whether a thread is not runnable; true for one that has ended.
fn is_idle(thread: &Path) -> bool {
    fs::read(thread.join("stat")).map_or(true, |stat| !is_runnable(&stat))
}

/// The CPU time of a main thread; 0 for one that has ended.
fn cpu_time(id: u64) -> u64 {
    cpu_time::of_thread(&main_thread(id))
}

/// Whether a thread is running, waits for a disk, or is stopped from outside in the midst of what
/// it does, by its `stat` file. The state follows the name, which is in parentheses and may contain
/// any character.
fn is_runnable(stat: &[u8]) -> bool {
    let name = stat.iter().rposition(|&byte| byte == b')');
    matches!(name.and_then(|end| stat.get(end + 2)), Some(b'R' | b'D' | b'T'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;
    use crate::{Launch, Session};

    /// Otherwise the network would always count as idle.
    #[tokio::test]
    async fn the_network_process_is_found() {
        let launch = Launch::new(std::net::SocketAddr::from(([127, 0, 0, 1], 9)), "");
        let session = Session::start(&launch).await.unwrap();
        let processes = find_processes(&session.tracker, session.cdp()).await;
        assert_eq!(processes.network.len(), 1, "{processes:?}");
        assert!(!processes.renderers.is_empty(), "{processes:?}");
        assert!(session.cdp().graphics().is_some());
        session.close().await.unwrap();
    }

    #[test]
    fn the_state_comes_after_a_name_that_may_look_like_one() {
        assert!(!is_runnable(b"7 (a) R b) S 1 2"));
        assert!(is_runnable(b"7 (a) S b) R 1 2"));
        assert!(is_runnable(b"7 (a) D 1 2"));
        assert!(is_runnable(b"7 (a) T 1 2"));
    }

    #[test]
    fn a_process_is_idle_while_none_of_its_threads_has_anything_to_do() {
        // `cat` waits for its input; the loop never ends.
        let start = |command: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).stdin(Stdio::piped()).spawn().unwrap()
        };
        let (mut waiting, mut busy) = (start("exec cat"), start("while :; do :; done"));
        let (cat, shell) = (u64::from(waiting.id()), u64::from(busy.id()));
        let end = Instant::now() + Duration::from_secs(20);
        let are_idle = |ids: &[u64]| {
            BrowserProcesses { renderers: ids.to_vec(), ..BrowserProcesses::default() }.are_idle()
        };
        while !are_idle(&[cat]) || are_idle(&[shell]) || cpu_time(cat) == 0 {
            assert!(Instant::now() < end, "{} {}", are_idle(&[cat]), are_idle(&[shell]));
            std::thread::yield_now();
        }
        let before = cpu_time(cat);
        assert!(are_idle(&[cat]));
        assert_eq!(cpu_time(cat), before, "nothing has happened meanwhile");
        assert!(!are_idle(&[cat, shell]));
        for child in [&mut waiting, &mut busy] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(are_idle(&[cat]), "it has gone");
    }
}
