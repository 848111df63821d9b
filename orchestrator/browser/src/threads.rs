//! Whether the pages' threads have anything left to do, as the machine's kernel tells it.
//!
//! What a page is given takes it several tasks: a script comes, is run, and asks for more; the load
//! of a page ends, and it is told so. Nothing that the page is asked tells whether they are over, as
//! the browser's questions go before its tasks. But a thread that has a task does not sleep.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{cdp::Cdp, watch::Watch};

/// How often the threads of a page that do not come to sleep are looked at.
const LOOKS: u32 = 100;

/// The processes that show pages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Processes {
    ids: Vec<u64>,
    /// A thread beside the main ones never rests, a worker's perhaps: these are not waited for.
    restless: bool,
    /// How many documents had come when the browser was asked for them.
    documents: Option<u64>,
}

/// Waits until the threads of the pages sleep, and have done so for as long as it takes the browser
/// to answer a question.
pub(crate) async fn sleep(watch: &Watch, cdp: &Cdp) {
    let processes = find(watch, cdp).await;
    let mut before = processes.run();
    for _ in 0..LOOKS {
        alive(watch, cdp).await;
        if processes.are_asleep() && processes.run() == before {
            return;
        }
        before = processes.run();
    }
    tracing::debug!("the threads of a page do not come to rest");
    watch.lock().processes.restless = true;
}

/// Does so unless they sleep at this moment.
pub(crate) async fn sleep_if_awake(watch: &Watch, cdp: &Cdp) {
    if !find(watch, cdp).await.are_asleep() {
        sleep(watch, cdp).await;
    }
}

/// A question that the browser answers itself, without the page.
pub(crate) async fn alive(watch: &Watch, cdp: &Cdp) {
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
    let ids = renderers.filter_map(|process| process["id"].as_u64()).collect();
    let processes = Processes { ids, documents, restless: false };
    watch.lock().processes = processes.clone();
    processes
}

impl Processes {
    /// Whether no thread runs, or is about to.
    fn are_asleep(&self) -> bool {
        self.ids.iter().all(|&id| is_asleep(id, self.restless))
    }

    /// For how many nanoseconds the main threads have run so far.
    fn run(&self) -> u64 {
        self.ids.iter().map(|&id| run(id)).sum()
    }
}

/// The same of one process; one that has gone is asleep.
fn is_asleep(id: u64, main_only: bool) -> bool {
    let folder = PathBuf::from(format!("/proc/{id}/task"));
    let threads = if main_only { vec![folder.join(id.to_string())] } else { threads(&folder) };
    threads.iter().all(|thread| fs::read(thread.join("stat")).map_or(true, |stat| sleeps(&stat)))
}

/// Of one process; 0 for one that has gone.
fn run(id: u64) -> u64 {
    let run = fs::read_to_string(format!("/proc/{id}/task/{id}/schedstat")).unwrap_or_default();
    run.split(' ').next().and_then(|run| run.parse().ok()).unwrap_or_default()
}

fn threads(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|thread| thread.path()).collect()
}

/// Whether a thread waits for something, by its `stat`: the state comes after the name, which is in
/// parentheses and may hold any.
fn sleeps(stat: &[u8]) -> bool {
    let name = stat.iter().rposition(|&byte| byte == b')');
    !matches!(name.and_then(|end| stat.get(end + 2)), Some(b'R' | b'D'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{
        process::{Command, Stdio},
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn the_state_comes_after_a_name_that_may_look_like_one() {
        assert!(sleeps(b"7 (a) R b) S 1 2"));
        assert!(!sleeps(b"7 (a) S b) R 1 2"));
        assert!(!sleeps(b"7 (a) D 1 2"));
    }

    #[test]
    fn a_process_sleeps_while_none_of_its_threads_has_anything_to_do() {
        // `cat` waits for its input; the loop never ends.
        let start = |command: &str| {
            let mut shell = Command::new("sh");
            shell.args(["-c", command]).stdin(Stdio::piped()).spawn().unwrap()
        };
        let (mut waiting, mut busy) = (start("exec cat"), start("while :; do :; done"));
        let (cat, shell) = (u64::from(waiting.id()), u64::from(busy.id()));
        let end = Instant::now() + Duration::from_secs(20);
        while !is_asleep(cat, false) || is_asleep(shell, false) || run(cat) == 0 {
            assert!(Instant::now() < end, "{} {}", is_asleep(cat, false), is_asleep(shell, false));
            std::thread::yield_now();
        }
        let before = run(cat);
        assert!(is_asleep(cat, true));
        assert_eq!(run(cat), before, "nothing has happened meanwhile");
        assert!(!Processes { ids: vec![cat, shell], ..Processes::default() }.are_asleep());
        for child in [&mut waiting, &mut busy] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(is_asleep(cat, false), "it has gone");
    }
}
