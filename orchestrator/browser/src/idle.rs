//! Whether the pages' processes are idle, as the machine's kernel tells it.
//!
//! A page needs several tasks for what it is given: a script arrives, runs, and asks for more. A
//! question to the page does not tell that they are over, as Chromium answers it before the page's
//! own tasks. But a thread that has a task is runnable, and the kernel shows that.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{cdp::Cdp, watch::Watch};

/// How long a main thread may run before it is waited for no longer.
const SCRIPT: Duration = Duration::from_secs(5);
/// How often other threads are looked at before they are waited for no longer.
const LOOKS: u32 = 100;

/// The processes that show pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Processes {
    ids: Vec<u64>,
    /// Only main threads are waited for: another one, such as a worker's, is never idle.
    main_only: bool,
    /// How many documents had come when the browser was asked for the processes.
    documents: Option<u64>,
}

/// Waits until the pages' processes have been idle for as long as the browser needs to answer a
/// question.
pub(crate) async fn wait(watch: &Watch, cdp: &Cdp) {
    let mut processes = find(watch, cdp).await;
    let began = Instant::now();
    let mut looks = 0;
    let mut before = processes.cpu_time();
    while began.elapsed() < SCRIPT {
        ask_browser(watch, cdp).await;
        let (idle, main_idle) = (processes.are_idle(), processes.are_main_idle());
        let now = processes.cpu_time();
        if idle && now == before {
            return;
        }
        looks += u32::from(main_idle && now == before);
        if looks == LOOKS && !processes.main_only {
            tracing::debug!("a thread of a page is never idle");
            processes.main_only = true;
            watch.lock().processes.main_only = true;
        }
        before = now;
    }
    tracing::debug!("a page is not idle");
}

/// Does so unless they are idle at this moment.
pub(crate) async fn wait_if_busy(watch: &Watch, cdp: &Cdp) {
    if !find(watch, cdp).await.are_idle() {
        wait(watch, cdp).await;
    }
}

/// A question that the browser answers itself, without the page.
pub(crate) async fn ask_browser(watch: &Watch, cdp: &Cdp) {
    let Ok(page) = watch.lock().active() else { return };
    let params = json!({ "urls": ["http://127.0.0.1/"] });
    // A tab that has gone in the meantime refuses to answer, and that is answer enough.
    let _ = cdp.call(Some(&page.session), "Network.getCookies", params).await;
}

/// The processes; the browser is asked for them where there may be others by now.
async fn find(watch: &Watch, cdp: &Cdp) -> Processes {
    let documents = {
        let state = watch.lock();
        if state.processes.documents == Some(state.documents) {
            return state.processes.clone();
        }
        Some(state.documents)
    };
    // A browser that does not tell is about to end.
    let told = cdp.call(None, "SystemInfo.getProcessInfo", json!({})).await.unwrap_or_default();
    let processes = told.get("processInfo").and_then(Value::as_array).into_iter().flatten();
    let renderers = processes.filter(|process| process["type"] == "renderer");
    let ids: Vec<u64> = renderers.filter_map(|process| process["id"].as_u64()).collect();
    // What the browser has not told it is asked for again.
    let documents = documents.filter(|_| !ids.is_empty());
    let processes = Processes { ids, documents, main_only: false };
    watch.lock().processes = processes.clone();
    processes
}

impl Processes {
    /// Whether no thread is runnable.
    fn are_idle(&self) -> bool {
        self.ids.iter().all(|&id| is_idle(id, self.main_only))
    }

    fn are_main_idle(&self) -> bool {
        self.ids.iter().all(|&id| is_idle(id, true))
    }

    /// The CPU time of the main threads so far, in nanoseconds.
    fn cpu_time(&self) -> u64 {
        self.ids.iter().map(|&id| cpu_time(id)).sum()
    }
}

/// The same of one process; one that has gone is idle.
fn is_idle(id: u64, main_only: bool) -> bool {
    let folder = PathBuf::from(format!("/proc/{id}/task"));
    let threads = if main_only { vec![folder.join(id.to_string())] } else { threads(&folder) };
    threads.iter().all(|thread| fs::read(thread.join("stat")).map_or(true, |stat| !is_runnable(&stat)))
}

/// The same of one process; 0 for one that has gone.
fn cpu_time(id: u64) -> u64 {
    let times = fs::read_to_string(format!("/proc/{id}/task/{id}/schedstat")).unwrap_or_default();
    times.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or_default()
}

fn threads(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|thread| thread.path()).collect()
}

/// Whether a thread has something to do, or waits for a disk, by its `stat`: the state comes after
/// the name, which is in parentheses and may hold any.
fn is_runnable(stat: &[u8]) -> bool {
    let name = stat.iter().rposition(|&byte| byte == b')');
    matches!(name.and_then(|end| stat.get(end + 2)), Some(b'R' | b'D'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_state_comes_after_a_name_that_may_look_like_one() {
        assert!(!is_runnable(b"7 (a) R b) S 1 2"));
        assert!(is_runnable(b"7 (a) S b) R 1 2"));
        assert!(is_runnable(b"7 (a) D 1 2"));
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
        while !is_idle(cat, false) || is_idle(shell, false) || cpu_time(cat) == 0 {
            assert!(Instant::now() < end, "{} {}", is_idle(cat, false), is_idle(shell, false));
            std::thread::yield_now();
        }
        let before = cpu_time(cat);
        assert!(is_idle(cat, true));
        assert_eq!(cpu_time(cat), before, "nothing has happened meanwhile");
        assert!(!Processes { ids: vec![cat, shell], ..Processes::default() }.are_idle());
        for child in [&mut waiting, &mut busy] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(is_idle(cat, false), "it has gone");
    }
}
