//! Keeps the end of Chromium's standard error, for the error when it does not start.

use std::collections::VecDeque;
use std::io::Read;
use std::process::ChildStderr;
use std::sync::Arc;

use parking_lot::Mutex;

use super::programs::CHROMIUM_SANDBOX_VARIABLE;

/// The number of bytes that are kept.
const KEPT: usize = 2000;
/// The message of Chromium on systems that forbid its sandbox.
const NO_SANDBOX: &str = "No usable sandbox!";

/// The end of what a program writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<u8>>>);

impl LastWords {
    /// Reads all that comes, until the last process that can write has ended.
    pub(crate) fn listen_to(&self, stream: Option<ChildStderr>) {
        let Some(mut stream) = stream else { return };
        let kept = Arc::clone(&self.0);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                let mut kept = kept.lock();
                kept.extend(&chunk[..count]);
                let surplus = kept.len().saturating_sub(KEPT);
                kept.drain(..surplus);
            }
        });
    }

    /// The last line that is not empty; where Chromium has no sandbox, what to do about it.
    pub(crate) fn last_line(&self) -> Option<String> {
        let kept: Vec<u8> = self.0.lock().iter().copied().collect();
        let text = String::from_utf8_lossy(&kept).into_owned();
        if text.contains(NO_SANDBOX) {
            return Some(format!(
                "Chromium cannot have its own sandbox here; let users have namespaces, or, in a container \
                 that forbids them, set {CHROMIUM_SANDBOX_VARIABLE}=off"
            ));
        }
        text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
    }
}
