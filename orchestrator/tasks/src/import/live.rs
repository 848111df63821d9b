//! Benchmarks of the live web: their tasks, in a world of recordings.

use camino::Utf8PathBuf;
use jiff::Timestamp;

use crate::WorldSpec;

/// The viewport of BrowserGym.
pub const BROWSERGYM: (u32, u32) = (1280, 720);
/// That of WebCanvas.
pub const WEBCANVAS: (u32, u32) = (1080, 720);

/// The world of such a suite: these recordings, and where agents search that have a search of their
/// own.
pub fn world(
    snapshots: Vec<Utf8PathBuf>,
    clock: Timestamp,
    viewport: (u32, u32),
    search: Option<String>,
) -> WorldSpec {
    WorldSpec { snapshots, viewport, search, ..WorldSpec::new(clock) }
}
