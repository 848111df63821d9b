//! A bound on the memory of a browser.
//!
//! A page may not take the machine. A thread looks at the browser's processes every [`LOOK`]. When
//! their own memory together is over the limit, it ends the largest renderer. The page in it has
//! then crashed, and its episode goes on with an empty page. What the graphics process holds for a
//! page it gives back once that has ended. It is ended itself only where no renderer is left.
//!
//! Only memory that a process does not share with files counts: pages, WebAssembly, buffers,
//! canvases. The program's own code, which all processes share, is not counted several times.

use std::collections::HashSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};

use super::control_group::ControlGroup;

/// How often the processes are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// In every so many looks, all threads are asked for new processes. In the others only the first
/// thread of each process is, which is the one that starts renderers.
const THOROUGH: u32 = 10;
/// How often the group of a browser that ends is tried to be removed.
const LAST_LOOKS: u32 = 100;
/// How long the graphics process may take to give back what it held for a page that was ended.
const GIVES_BACK: Duration = Duration::from_secs(2);
/// How much later than the end of its renderer the browser may tell of a page's crash.
const TOLD_WITHIN: Duration = Duration::from_secs(10);

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
    /// When renderers were last ended.
    ended_at: Mutex<Option<Instant>>,
    /// The graphics process that was ended last; 0 is none.
    graphics: AtomicU64,
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

    /// Whether a crash at this time is that of a page which was ended for its memory.
    pub(crate) fn explains(&self, crash: Instant) -> bool {
        let ended = *self.shared.ended_at.lock();
        ended.is_some_and(|ended| crash >= ended && crash - ended < TOLD_WITHIN)
    }

    /// The graphics process that was ended for its memory, if one was.
    pub(crate) fn ended_graphics(&self) -> Option<u64> {
        Some(self.shared.graphics.load(Ordering::SeqCst)).filter(|id| *id > 0)
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
    let mut group = ControlGroup::new(limit);
    while !shared.ends.load(Ordering::SeqCst) {
        let sizes = sizes(&mut known, look % THOROUGH == 0);
        if let Some(group) = &mut group {
            if look == 0 {
                group.take_in(known.iter().copied());
            }
            if group.has_ended_one() {
                *shared.ended_at.lock() = Some(Instant::now());
            }
        }
        let ended_lately = shared.ended_at.lock().is_some_and(|at| at.elapsed() < GIVES_BACK);
        if let Some((id, kind)) = to_end(sizes, limit, ended_lately, kind) {
            // Noted before the browser can tell.
            match kind {
                Kind::Renderer => *shared.ended_at.lock() = Some(Instant::now()),
                Kind::Graphics => shared.graphics.store(id.into(), Ordering::SeqCst),
            }
            tracing::warn!(
                limit_mb = limit >> 20,
                ?kind,
                "a page was ended, because its browser takes too much memory"
            );
            end(id);
        }
        look += 1;
        std::thread::park_timeout(LOOK);
    }
    // The processes are ending.
    for _ in 0..LAST_LOOKS {
        if group.as_ref().is_none_or(ControlGroup::remove) {
            break;
        }
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
        let listed =
            fs::read_to_string(format!("/proc/{id}/task/{thread}/children")).unwrap_or_default();
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

/// A process that runs or draws pages. The browser itself does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Renderer,
    Graphics,
}

/// The process to end where all together are over the limit: the largest renderer, and the graphics
/// process where there is none. If the others are below the limit without the graphics process, it
/// has the time to give back what it held for a renderer that was ended lately.
fn to_end(
    mut sizes: Vec<(u32, u64)>,
    limit: u64,
    ended_lately: bool,
    kind: impl Fn(u32) -> Option<Kind>,
) -> Option<(u32, Kind)> {
    let total: u64 = sizes.iter().map(|(_, size)| size).sum();
    if total <= limit {
        return None;
    }
    sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let of_pages: Vec<(u32, u64, Kind)> =
        sizes.into_iter().filter_map(|(id, size)| Some((id, size, kind(id)?))).collect();
    let graphics = of_pages.iter().find(|(.., kind)| *kind == Kind::Graphics);
    if ended_lately && graphics.is_some_and(|(_, size, _)| total - size <= limit) {
        return None;
    }
    let renderer = of_pages.iter().find(|(.., kind)| *kind == Kind::Renderer);
    renderer.or(graphics).map(|(id, _, kind)| (*id, *kind))
}

fn kind(id: u32) -> Option<Kind> {
    let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
    let has = |word: &[u8]| line.windows(word.len()).any(|piece| piece == word);
    let kinds: [(&[u8], Kind); 2] =
        [(b"--type=renderer", Kind::Renderer), (b"--type=gpu-process", Kind::Graphics)];
    kinds.into_iter().find(|(word, _)| has(word)).map(|(_, kind)| kind)
}

fn end(id: u32) {
    let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
    // It may have ended by itself.
    let _ = kill_process(pid, Signal::KILL);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use super::*;

    /// A program that starts one "renderer", which takes so many megabytes.
    fn program(megabytes: u32) -> std::process::Child {
        let page = format!("import time; a = bytearray({megabytes} << 20); time.sleep(600)");
        let script = format!(
            "python3 -c '{page}' --type=renderer & echo $!; sleep 600 & wait $!; sleep 600"
        );
        Command::new("bash")
            .args(["-c", &script])
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap()
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
            std::thread::park_timeout(std::time::Duration::from_millis(10));
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
        let before = Instant::now();
        let watch = MemoryWatch::start(child.id(), 100 << 20);
        assert_eq!(watch.limit(), 100 << 20);
        until("the page to be ended", || own_memory(page).is_none());
        let crash = Instant::now();
        assert!(watch.explains(crash) && own_memory(child.id()).is_some());
        assert!(!watch.explains(crash + TOLD_WITHIN), "it is another one");
        assert!(!watch.explains(before) && watch.ended_graphics().is_none());
        close(child);
    }

    #[test]
    fn the_graphics_process_is_ended_where_no_page_is_left() {
        let kind = |id: u32| match id {
            1 => None,
            9 => Some(Kind::Graphics),
            _ => Some(Kind::Renderer),
        };
        let to_end = |sizes: &[(u32, u64)], lately| to_end(sizes.to_vec(), 100, lately, kind);
        assert_eq!(to_end(&[(1, 20), (2, 40), (9, 40)], false), None);
        assert_eq!(to_end(&[(1, 20), (2, 5), (3, 8), (9, 90)], false), Some((3, Kind::Renderer)));
        assert_eq!(to_end(&[(1, 20), (2, 5), (9, 90)], true), None, "it gives back the other's");
        assert_eq!(to_end(&[(1, 20), (2, 90), (9, 90)], true), Some((2, Kind::Renderer)));
        assert_eq!(to_end(&[(1, 20), (9, 90)], true), None);
        assert_eq!(to_end(&[(1, 20), (9, 90)], false), Some((9, Kind::Graphics)));
        assert_eq!(to_end(&[(1, 120)], false), None, "the browser itself is no page");
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
