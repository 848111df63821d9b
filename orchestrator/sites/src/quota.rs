//! What an instance writes to its folder on this machine, held to its `limits.disk`.
//!
//! File systems keep no account of a folder. So it is counted, whenever the file system has become
//! fuller by so much that some instance may be over its limit, and every few seconds in any case,
//! as what others remove meanwhile hides what one writes. An instance that is over its limit is
//! ended.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::content::blocking;
use crate::manifest::Limits;
use crate::state::{self, Golden};

/// How often the file system is asked how full it is.
const LOOK: Duration = Duration::from_millis(250);
/// How often a folder is counted even so.
const COUNT: Duration = Duration::from_secs(5);
/// A folder is counted when its file system has become fuller by this part of the limit.
const PART: u64 = 8;

/// Waits until a folder holds more than `most` bytes.
async fn exceeded(folder: Utf8PathBuf, most: u64) {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut counted: Option<(Instant, u64)> = None;
    loop {
        look.tick().await;
        let used = used(&folder);
        if counted
            .is_some_and(|(when, before)| used.saturating_sub(before) < most / PART && when.elapsed() < COUNT)
        {
            continue;
        }
        counted = Some((Instant::now(), used));
        let counting = folder.clone();
        match blocking(move || Ok(state::disk_usage(&counting, most)?)).await {
            Ok(bytes) if bytes > most => return,
            Ok(_) => {}
            // A folder that cannot be read now is looked at again later.
            Err(error) => tracing::debug!(%error, "counting what an instance has written"),
        }
    }
}

/// The bytes that are in use on the file system of a folder.
fn used(folder: &Utf8Path) -> u64 {
    let Ok(of) = rustix::fs::statvfs(folder.as_std_path()) else { return 0 };
    of.f_blocks.saturating_sub(of.f_bfree).saturating_mul(of.f_frsize)
}

/// The folder that an instance writes to, and how much may stand in it.
#[derive(Debug, Clone)]
pub(crate) struct Quota {
    folder: Utf8PathBuf,
    most: u64,
}

impl Quota {
    /// So much beyond the golden state.
    pub(crate) fn new(folder: Utf8PathBuf, limits: &Limits, golden: Option<&Golden>) -> Quota {
        let size = golden.map_or(0, |golden| golden.digest().size());
        Quota { folder, most: size.saturating_add(limits.disk.0) }
    }

    /// Waits until it is exceeded; how the instance ends then.
    pub(crate) async fn exceeded(&self) -> String {
        exceeded(self.folder.clone(), self.most).await;
        let mib = self.most.div_ceil(1 << 20);
        format!(
            "was ended: its state and log have grown to more than {mib} MiB, which its `limits.disk` allows"
        )
    }
}
