//! The scripts that make pages and workers of a frozen world repeat. They run before any script of the page, in every document and worker.

use serde_json::json;

use crate::{World, clock};

const REALM: &str = include_str!("inject/realm.js");
const PAGE: &str = include_str!("inject/page.js");
const WORKER: &str = include_str!("inject/worker.js");

/// For every document. The clock is the page's own, which is virtual already, in steps: see [`clock::STEP`].
pub(crate) fn page(world: &World) -> String {
    format!(
        "(() => {{ 'use strict';\nconst seed = {seed};\nconst givenNow = Date.now;\nconst clock = () => {{ const given = givenNow(); return given - ((given - {start}) % {step} + {step}) % {step}; }};\n{REALM}\n{PAGE}\n}})();",
        seed = json!(seed(world)),
        start = clock::milliseconds(*world),
        step = clock::STEP,
    )
}

/// For a worker of one `kind` (`worker`, `shared_worker`, `service_worker`), the `ordinal`-th of the episode with its address. The value of
/// the script is an object whose `tick(milliseconds)` moves the worker's clock.
pub(crate) fn worker(world: &World, kind: &str, url: &str, ordinal: usize, start: f64) -> String {
    format!(
        "(() => {{ 'use strict';\nconst seed = {seed}, kind = {kind}, address = {url}, ordinal = {ordinal};\nlet current = {start};\nconst clock = () => current;\n{REALM}\n{WORKER}\nreturn {{ tick }};\n}})()",
        seed = json!(seed(world)),
        kind = json!(kind),
        url = json!(url),
    )
}

fn seed(world: &World) -> String {
    format!("{:016x}", world.seed)
}
