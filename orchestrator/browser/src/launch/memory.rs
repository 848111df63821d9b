//! A bound on the memory of a browser.
//!
//! A page may not take the machine. A thread looks at the browser's processes every [`LOOK`]. When
//! their own memory together is over the limit, it ends the largest renderer. The page in it has
//! then crashed, and its episode goes on with an empty page.
//!
//! What is counted is memory that a process does not share with files: pages, WebAssembly, buffers,
//! canvases. The program's own code, which all processes share, is not counted several times.

use std::{
    collections::HashSet,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// In every so many looks, all threads are asked for new processes. In the others only the first
/// thread of each process is, which is the one that starts renderers.
const THOROUGH: u32 = 10;

/// Watches the memory of a browser until it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryWatch {
    shared: Arc<Shared>,
    limit: u64,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    ends: AtomicBool,
    exceeded: AtomicBool,
}

impl MemoryWatch {
    /// Watches the process with this id and all that it starts. `limit` is in bytes.
    pub(crate) fn start(leader: u32, limit: u64) -> MemoryWatch {
        let shared = Arc::new(Shared::default());
        let watched = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("memory".to_owned());
        let thread = thread.spawn(move || watch(leader, limit, &watched));
        if let Err(error) = &thread {
            tracing::warn!(%error, "the memory of a browser is not bounded");
        }
        MemoryWatch { shared, limit, thread: thread.ok() }
    }

    /// The limit in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether a page was ended for its memory since the last call.
    pub(crate) fn take_exceeded(&self) -> bool {
        self.shared.exceeded.swap(false, Ordering::SeqCst)
    }
}

impl Drop for MemoryWatch {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // It looks once more at most.
            thread.thread().unpark();
        }
    }
}

fn watch(leader: u32, limit: u64, shared: &Shared) {
    let mut known = HashSet::from([leader]);
    let mut look = 0;
    while !shared.ends.load(Ordering::SeqCst) {
        let sizes = sizes(&mut known, look % THOROUGH == 0);
        if sizes.iter().map(|(_, size)| size).sum::<u64>() > limit
            && let Some(id) = largest_page(sizes)
        {
            shared.exceeded.store(true, Ordering::SeqCst);
            tracing::warn!(
                limit_mb = limit >> 20,
                "a page was ended, because its browser takes too much memory"
            );
            end(id);
        }
        look += 1;
        std::thread::park_timeout(LOOK);
    }
}

/// The processes that still run, with their own memory in bytes. New ones are added to `known`.
fn sizes(known: &mut HashSet<u32>, thorough: bool) -> Vec<(u32, u64)> {
    let mut waiting: Vec<u32> = known.iter().copied().collect();
    let mut sizes = Vec::new();
    while let Some(id) = waiting.pop() {
        let Some(size) = own_memory(id) else {
            known.remove(&id);
            continue;
        };
        sizes.push((id, size));
        waiting.extend(children(id, thorough).into_iter().filter(|child| known.insert(*child)));
    }
    sizes
}

/// The memory of a process that is no copy of a file, in bytes. `None` if it has ended.
fn own_memory(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()
    };
    // A process that has ended and was not reaped has no such line.
    let anonymous = kilobytes("RssAnon:")?;
    Some((anonymous + kilobytes("RssShmem:").unwrap_or(0)) << 10)
}

fn children(id: u32, thorough: bool) -> Vec<u32> {
    let of_thread = |thread: &str| {
        let listed = fs::read_to_string(format!("/proc/{id}/task/{thread}/children")).unwrap_or_default();
        listed.split_whitespace().filter_map(|child| child.parse().ok()).collect::<Vec<u32>>()
    };
    if !thorough {
        return of_thread(&id.to_string());
    }
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| thread.file_name().into_string().ok())
        .flat_map(|name| of_thread(&name))
        .collect()
}

/// The process to end: the largest that draws or runs pages. The browser itself is none.
fn largest_page(mut sizes: Vec<(u32, u64)>) -> Option<u32> {
    sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    sizes.into_iter().map(|(id, _)| id).find(|id| is_page(*id))
}

fn is_page(id: u32) -> bool {
    let has = |line: &[u8], word: &[u8]| line.windows(word.len()).any(|piece| piece == word);
    let of_pages: [&[u8]; 2] = [b"--type=renderer", b"--type=gpu-process"];
    fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|line| of_pages.iter().any(|word| has(&line, word)))
}

fn end(id: u32) {
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
    // It may have ended by itself.
    let _ = kill_process(pid, Signal::KILL);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader},
        os::unix::process::CommandExt as _,
        process::{Command, Stdio},
        time::Instant,
    };

    use super::*;

    /// A program that starts one "renderer", which takes so many megabytes.
    fn program(megabytes: u32) -> std::process::Child {
        let page = format!("import time; a = bytearray({megabytes} << 20); time.sleep(600)");
        let script = format!("python3 -c '{page}' --type=renderer & echo $!; sleep 600 & wait $!; sleep 600");
        Command::new("bash").args(["-c", &script]).stdout(Stdio::piped()).process_group(0).spawn().unwrap()
    }

    fn first_line(child: &mut std::process::Child) -> u32 {
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    fn until(condition: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !holds() {
            assert!(Instant::now() < deadline, "waited 30 s for {condition}");
            std::thread::yield_now();
        }
    }

    fn close(mut child: std::process::Child) {
        let mut group = processes::Group::of(Some(child.id()));
        group.kill();
        child.wait().unwrap();
    }

    #[test]
    fn a_page_over_the_limit_is_ended_and_its_browser_is_not() {
        let mut child = program(200);
        let page = first_line(&mut child);
        let watch = MemoryWatch::start(child.id(), 100 << 20);
        assert_eq!(watch.limit(), 100 << 20);
        until("the page to be ended", || own_memory(page).is_none());
        until("the event", || watch.take_exceeded());
        assert!(own_memory(child.id()).is_some() && !watch.take_exceeded());
        close(child);
    }

    #[test]
    fn a_page_below_the_limit_stays() {
        let mut child = program(50);
        let page = first_line(&mut child);
        until("the page to be that large", || own_memory(page).is_some_and(|size| size > 50 << 20));
        let mut known = HashSet::from([child.id()]);
        let total: u64 = sizes(&mut known, true).iter().map(|(_, size)| size).sum();
        assert!(known.contains(&page) && (50 << 20..400 << 20).contains(&total), "{total}");
        let watch = MemoryWatch::start(child.id(), 400 << 20);
        drop(watch);
        assert!(own_memory(page).is_some());
        close(child);
    }
}
