//! Times our scorers on reference vectors, for `make bench`: one JSON object on standard output, seconds of one round by metric.
//!
//!     score_vectors FOLDER SECONDS METRIC...

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tasks::vectors::score_line;

fn main() -> Result<(), Box<dyn Error>> {
    const USAGE: &str = "usage: score_vectors FOLDER SECONDS METRIC...";
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or(USAGE)?;
    let least = Duration::from_secs_f64(arguments.next().ok_or(USAGE)?.parse()?);
    let mut timed: BTreeMap<String, Value> = BTreeMap::new();
    for metric in arguments {
        let path = format!("{folder}/{metric}.jsonl");
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        let seconds = quickest(&lines, least)?;
        timed.insert(metric, json!({ "vectors": lines.len(), "seconds": seconds }));
    }
    println!("{}", serde_json::to_string(&timed)?);
    Ok(())
}

/// How long the quickest round takes, from JSON to scores; there are rounds for so long.
fn quickest(lines: &[&[u8]], least: Duration) -> Result<f64, serde_json::Error> {
    let (mut best, began) = (f64::INFINITY, Instant::now());
    while began.elapsed() < least {
        let start = Instant::now();
        for line in lines {
            let _ = black_box(score_line(black_box(line))?);
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
