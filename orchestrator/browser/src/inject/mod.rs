//! The scripts that make pages and workers of a world repeat. They run before any script of the
//! page, in every document and worker.
//!
//! ```text
//! disguise       replaces the browser's functions without a trace
//! place          where a document is
//! frozen         the clock of a frozen world
//! running        the clock of attach mode, where time runs on
//! measured       the browser's measurements of itself
//! realm          date and randomness
//! awaited        replies of other threads and processes
//! replies        the functions that have them
//! numbers        large numbers
//! randomised     what is signed or encrypted with chance
//! keys           generated keys
//! peers          the names of connections between peers, and of streams
//! lifecycle      `DOMContentLoaded` and `load`, behind what is awaited
//! arrivals       what servers say over sockets and streams, behind all that is awaited
//! bodies         the pieces of a body
//! stored_files   the files that an origin keeps
//! timers         timers by the page's own acts
//! page, worker   frames, timers and messages that follow the frozen clock
//! playback       media elements that follow the frozen clock
//! video_frames   their frames
//! media          what they load, and what scripts append
//! sound          audio contexts that follow the frozen clock
//! timeline       animations that follow the frozen clock
//! declined       prompts for the user
//! logged         lines of the console, for the order of events
//! reported       uncaught errors, for the console
//! ```
//!
//! Pages see no other change than time, randomness, the machine's properties and prompts. But
//! events that are held are let in as copies, whose `isTrusted` is false.

use serde_json::json;

use crate::Determinism;
use crate::cdp::bad_ports::BAD_PORTS;
use crate::clock::virtual_time;
use crate::observe::console::ERROR_MARK;
use crate::order::MARK;

const DISGUISE: &str = include_str!("disguise.js");
const PLACE: &str = include_str!("place.js");
const FROZEN: &str = include_str!("frozen.js");
const MEASURED: &str = include_str!("measured.js");
const AWAITED: &str = include_str!("awaited.js");
const NUMBERS: &str = include_str!("numbers.js");
const RANDOMISED: &str = include_str!("randomised.js");
const REPLIES: &str = include_str!("replies.js");
const KEYS: &str = include_str!("keys.js");
const PEERS: &str = include_str!("peers.js");
const LIFECYCLE: &str = include_str!("lifecycle.js");
const ARRIVALS: &str = include_str!("arrivals.js");
const BODIES: &str = include_str!("bodies.js");
const STORED_FILES: &str = include_str!("stored_files.js");
const RUNNING: &str = include_str!("running.js");
const REALM: &str = include_str!("realm.js");
const TIMERS: &str = include_str!("timers.js");
const PAGE: &str = include_str!("page.js");
const PLAYBACK: &str = include_str!("playback.js");
const VIDEO_FRAMES: &str = include_str!("video_frames.js");
const MEDIA: &str = include_str!("media.js");
const SOUND: &str = include_str!("sound.js");
const TIMELINE: &str = include_str!("timeline.js");
const DECLINED: &str = include_str!("declined.js");
const REPORTED: &str = include_str!("reported.js");
const LOGGED: &str = include_str!("logged.js");
const WORKER: &str = include_str!("worker.js");

/// The parts for documents and workers of a frozen world, in their order.
const SHARED_PARTS: [&str; 10] =
    [FROZEN, MEASURED, REALM, AWAITED, NUMBERS, RANDOMISED, REPLIES, BODIES, STORED_FILES, KEYS];
/// The further parts for documents, behind the shared ones.
const DOCUMENT_PARTS: [&str; 12] = [
    PEERS,
    LIFECYCLE,
    ARRIVALS,
    TIMERS,
    PAGE,
    PLAYBACK,
    VIDEO_FRAMES,
    MEDIA,
    SOUND,
    TIMELINE,
    DECLINED,
    REPORTED,
];

/// The script for documents. Without a `shift` the clock is the page's virtual one, in steps of
/// [`virtual_time::STEP`]. With one it is the machine's, shifted by that many milliseconds.
pub(crate) fn page(determinism: &Determinism, shift: Option<f64>, keeps_order: bool) -> String {
    let seed = seed(determinism);
    match shift {
        Some(shift) => format!(
            "(() => {{ 'use strict';\nconst seed = {seed}, shift = {shift};\n{DISGUISE}\n{PLACE}\n{RUNNING}\n{REALM}\n}})();"
        ),
        None => format!(
            "(() => {{ 'use strict';\nconst seed = {seed}, STEP = {step}, ERROR_MARK = {mark}, ORDER_MARK = {order_mark}, BAD_PORTS = {BAD_PORTS:?};\nconst nativeNow = Date.now;\nconst timeOrigin = Object.getOwnPropertyDescriptor(Performance.prototype, 'timeOrigin').get;\nconst nativeTimeOrigin = () => Reflect.apply(timeOrigin, performance, []);\nconst clock = () => {{ const time = nativeNow(); return time - ((time - {start}) % STEP + STEP) % STEP; }};\n{parts}\n{logged}\n}})();",
            parts = [&[DISGUISE, PLACE][..], &SHARED_PARTS, &DOCUMENT_PARTS].concat().join("\n"),
            logged = if keeps_order { LOGGED } else { "" },
            order_mark = json!(MARK),
            start = virtual_time::start_millis(*determinism),
            step = virtual_time::STEP,
            mark = json!(ERROR_MARK),
        ),
    }
}

/// The script for a worker of one `kind` (`worker`, `shared_worker`, `service_worker`), the
/// `ordinal`-th of the episode with its URL. Its value is an object whose `tick(milliseconds)`
/// moves the worker's clock.
pub(crate) fn worker(
    determinism: &Determinism,
    kind: &str,
    url: &str,
    ordinal: usize,
    start: f64,
) -> String {
    format!(
        "(() => {{ 'use strict';\nconst kind = {kind}, BAD_PORTS = {BAD_PORTS:?};\nlet current = {start};\nconst clock = () => current;\n{who}\n{parts}\nreturn {{ tick }};\n}})()",
        parts = [&[DISGUISE][..], &SHARED_PARTS, &[WORKER]].concat().join("\n"),
        kind = json!(kind),
        who = who(determinism, url, ordinal),
    )
}

/// The script for a worklet. Its clock stands at `start`; with a `shift` it is the machine's,
/// shifted by that many milliseconds.
pub(crate) fn worklet(
    determinism: &Determinism,
    url: &str,
    start: f64,
    shift: Option<f64>,
) -> String {
    let clock = match shift {
        None => format!("const clock = () => {start};\n{FROZEN}"),
        Some(shift) => {
            format!("const nativeNow = Date.now, origin = '', now = () => nativeNow() + {shift};")
        }
    };
    let who = who(determinism, url, 0);
    format!("(() => {{ 'use strict';\n{who}\n{DISGUISE}\n{clock}\n{REALM}\n}})()")
}

/// The script for a worker in attach mode, `shift` milliseconds from the machine's time.
pub(crate) fn running_worker(
    determinism: &Determinism,
    url: &str,
    ordinal: usize,
    shift: f64,
) -> String {
    format!(
        "(() => {{ 'use strict';\nconst shift = {shift};\n{who}\n{DISGUISE}\n{RUNNING}\n{REALM}\n}})()",
        who = who(determinism, url, ordinal),
    )
}

/// The worker's identity. It comes from outside, because Chromium crashes if a worker that has not
/// started yet is asked for its `location`.
fn who(determinism: &Determinism, url: &str, ordinal: usize) -> String {
    format!("const seed = {}, place = {};", seed(determinism), json!(format!("{url}|{ordinal}")))
}

/// The seed as a JavaScript string.
fn seed(determinism: &Determinism) -> String {
    json!(format!("{:016x}", determinism.seed)).to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A second function of the same name silently replaces the first.
    #[test]
    fn no_name_stands_for_two_things_in_a_script() {
        let determinism =
            Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
        let scripts = [
            page(&determinism, None, true),
            page(&determinism, Some(0.0), false),
            worker(&determinism, "worker", "https://a.test/w.js", 1, 0.0),
            running_worker(&determinism, "https://a.test/w.js", 1, 0.0),
            worklet(&determinism, "https://a.test/w.js", 0.0, None),
        ];
        for script in scripts {
            let mut declared: BTreeMap<&str, usize> = BTreeMap::new();
            for line in script.lines() {
                let words: Vec<&str> =
                    line.split(['(', ' ', ',']).filter(|word| *word != "async").collect();
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
