//! The scripts that make pages and workers of a world repeat. They run before any script of the page, in every document and worker.
//!
//! ```text
//! disguise   how something of the browser's is replaced
//! place      where a document is
//! frozen     the clock where time is moved by us         running   the clock where it runs on
//! measured   what the browser measures of itself
//! realm      the date and randomness
//! awaited, keys  what other threads and processes answer, and the keys that they make
//! page, worker   frames, timers and messages that follow the frozen clock
//! declined   what a browser would ask its user for
//! ```

use serde_json::json;

use crate::{Determinism, clock::virtual_time};

const DISGUISE: &str = include_str!("disguise.js");
const PLACE: &str = include_str!("place.js");
const FROZEN: &str = include_str!("frozen.js");
const MEASURED: &str = include_str!("measured.js");
const AWAITED: &str = include_str!("awaited.js");
const KEYS: &str = include_str!("keys.js");
const RUNNING: &str = include_str!("running.js");
const REALM: &str = include_str!("realm.js");
const PAGE: &str = include_str!("page.js");
const DECLINED: &str = include_str!("declined.js");
const WORKER: &str = include_str!("worker.js");

/// For every document. The clock is the page's own: virtual already, in steps (see [`virtual_time::STEP`]); or, with a `shift` in milliseconds, the
/// machine's, moved by that.
pub(crate) fn page(determinism: &Determinism, shift: Option<f64>) -> String {
    let seed = seed(determinism);
    match shift {
        Some(shift) => format!(
            "(() => {{ 'use strict';\nconst seed = {seed}, shift = {shift};\n{DISGUISE}\n{PLACE}\n{RUNNING}\n{REALM}\n}})();"
        ),
        None => format!(
            "(() => {{ 'use strict';\nconst seed = {seed};\nconst nativeNow = Date.now;\nconst clock = () => {{ const time = nativeNow(); return time - ((time - {start}) % {step} + {step}) % {step}; }};\n{DISGUISE}\n{PLACE}\n{FROZEN}\n{MEASURED}\n{REALM}\n{AWAITED}\n{KEYS}\n{PAGE}\n{DECLINED}\n}})();",
            start = virtual_time::start_millis(*determinism),
            step = virtual_time::STEP,
        ),
    }
}

/// For a worker of one `kind` (`worker`, `shared_worker`, `service_worker`), the `ordinal`-th of the episode with its address. The value of
/// the script is an object whose `tick(milliseconds)` moves the worker's clock.
pub(crate) fn worker(determinism: &Determinism, kind: &str, url: &str, ordinal: usize, start: f64) -> String {
    format!(
        "(() => {{ 'use strict';\nconst kind = {kind};\nlet current = {start};\nconst clock = () => current;\n{who}\n{DISGUISE}\n{FROZEN}\n{MEASURED}\n{REALM}\n{AWAITED}\n{KEYS}\n{WORKER}\nreturn {{ tick }};\n}})()",
        kind = json!(kind),
        who = who(determinism, url, ordinal),
    )
}

/// The same where time runs on, `shift` milliseconds from the machine's.
pub(crate) fn running_worker(determinism: &Determinism, url: &str, ordinal: usize, shift: f64) -> String {
    format!(
        "(() => {{ 'use strict';\nconst shift = {shift};\n{who}\n{DISGUISE}\n{RUNNING}\n{REALM}\n}})()",
        who = who(determinism, url, ordinal),
    )
}

/// Which worker it is. That is told from outside: one that has not started yet must not be asked for its own `location`, Chromium crashes on that.
fn who(determinism: &Determinism, url: &str, ordinal: usize) -> String {
    format!("const seed = {}, place = {};", seed(determinism), json!(format!("{url}|{ordinal}")))
}

/// As a string of JavaScript.
fn seed(determinism: &Determinism) -> String {
    json!(format!("{:016x}", determinism.seed)).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A second function of a name takes the place of the first, without an error.
    #[test]
    fn no_name_stands_for_two_things_in_a_script() {
        let determinism = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
        let scripts = [
            page(&determinism, None),
            page(&determinism, Some(0.0)),
            worker(&determinism, "worker", "https://a.test/w.js", 1, 0.0),
            running_worker(&determinism, "https://a.test/w.js", 1, 0.0),
        ];
        for script in scripts {
            let mut declared: BTreeMap<&str, usize> = BTreeMap::new();
            for line in script.lines() {
                let words: Vec<&str> = line.split(['(', ' ', ',']).filter(|word| *word != "async").collect();
                if let ["function" | "const" | "let" | "class", name, ..] = words[..] {
                    *declared.entry(name).or_default() += 1;
                }
            }
            assert!(declared.len() > 10, "{declared:?}");
            declared.retain(|_, times| *times > 1);
            assert!(declared.is_empty(), "{declared:?}");
        }
    }
}
