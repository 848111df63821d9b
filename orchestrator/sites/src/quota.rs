//! Enforces `limits.disk`: how much an instance may write to its folder on this machine.
//!
//! File systems do not track the size of a folder, so the folder is measured. A measurement runs
//! when the usage of the file system has grown enough that an instance may be over its limit. It
//! also runs every few seconds, because deletions by others can hide the growth. An instance over
//! its limit is ended.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::content::blocking;
use crate::manifest::Limits;
use crate::state::{self, Golden};

/// How often the usage of the file system is read.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// How often a folder is measured in any case.
const COUNT: Duration = Duration::from_secs(5);
/// A folder is measured when the usage of its file system has grown by this part (1/8) of the
/// limit.
const PART: u64 = 8;

/// Waits until a folder contains more than `most` bytes.
async fn exceeded(folder: Utf8PathBuf, most: u64) {
    let mut polls = interval(POLL_INTERVAL);
    polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut counted: Option<(Instant, u64)> = None;
    loop {
        polls.tick().await;
        let used = used(&folder);
        if counted.is_some_and(|(when, before)| {
            used.saturating_sub(before) < most / PART && when.elapsed() < COUNT
        }) {
            continue;
        }
        counted = Some((Instant::now(), used));
        let counting = folder.clone();
        match blocking(move || Ok(state::disk_usage(&counting, most)?)).await {
            Ok(bytes) if bytes > most => return,
            Ok(_) => {}
            // A folder that cannot be read now is measured again later.
            Err(error) => tracing::debug!(%error, "counting what an instance has written"),
        }
    }
}

/// The used bytes of the file system of a folder.
fn used(folder: &Utf8Path) -> u64 {
    let Ok(of) = rustix::fs::statvfs(folder.as_std_path()) else { return 0 };
    of.f_blocks.saturating_sub(of.f_bfree).saturating_mul(of.f_frsize)
}

/// The folder that an instance writes to, and its maximum size.
#[derive(Debug, Clone)]
pub(crate) struct Quota {
    folder: Utf8PathBuf,
    most: u64,
}

impl Quota {
    /// The limit applies to what is added to the golden state.
    pub(crate) fn new(folder: Utf8PathBuf, limits: &Limits, golden: Option<&Golden>) -> Quota {
        let size = golden.map_or(0, |golden| golden.digest().size());
        Quota { folder, most: size.saturating_add(limits.disk.0) }
    }

    /// Waits until the quota is exceeded. Returns how the instance ends.
    pub(crate) async fn exceeded(&self) -> String {
        exceeded(self.folder.clone(), self.most).await;
        let mib = self.most.div_ceil(1 << 20);
        format!(
            "was ended: its state and log have grown to more than {mib} MiB, which its `limits.disk` allows"
        )
    }
}
