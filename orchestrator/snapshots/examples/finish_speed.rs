//! How long a recording takes to become a snapshot.
//!
//! ```text
//! cargo run --release -p snapshots --example finish_speed -- FOLDER 10000 100
//! ```
//!
//! The numbers are exchanges, of two records each, and kilobytes of text in each response. On one
//! core: `taskset -c 0`.

use std::time::Instant;

use camino::Utf8Path;
use snapshots::{Body, Exchange, Headers, Recording, RecordingOptions, Response, Timestamp};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// 2026-01-01
const START: i64 = 1_767_225_600_000;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, exchanges, kilobytes] = words.as_slice() else {
        return Err("FOLDER EXCHANGES KILOBYTES".into());
    };
    let (exchanges, kilobytes): (u64, usize) = (exchanges.parse()?, kilobytes.parse()?);
    std::fs::create_dir_all(folder)?;
    let path = Utf8Path::new(folder).join("finish.wacz");
    let recording = Recording::create(
        &path,
        RecordingOptions { replace: true, ..RecordingOptions::default() },
    )?;
    for n in 0..exchanges {
        let headers: Headers = [("Content-Type", "text/html")].into_iter().collect();
        let body = Body::from(text(n, kilobytes << 10).into_bytes());
        let response = Response { status: 200, reason: "OK".into(), headers, body };
        let url = format!("https://h{}.bench.test/item?id={n}", n % 20);
        recording.append(&Exchange::get(
            url,
            Timestamp::from_millis(START + n as i64),
            response,
        ))?;
    }
    let bytes = recording.bytes();
    let cores = std::thread::available_parallelism()?;
    let begun = Instant::now();
    let report = recording.finish(&|_| ())?;
    println!(
        "{} records, {} MB into {} MB on {cores} cores: {:.2} s, peak memory {} MB",
        2 * exchanges,
        bytes >> 20,
        report.bytes >> 20,
        begun.elapsed().as_secs_f64(),
        memory("VmHWM")?,
    );
    Ok(std::fs::remove_file(path)?)
}

/// Text that compresses about as pages do.
fn text(seed: u64, length: usize) -> String {
    const WORDS: [&str; 8] =
        ["<div class=", "timetable", "departure", "</div>", "platform", "href=", "lamp", "price"];
    let mut state = seed + 1;
    let mut text = String::with_capacity(length + 32);
    while text.len() < length {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 33) as usize % 8]);
        text.push_str(&format!(" {} ", (state >> 40) % 10_000));
    }
    text
}

/// A line of `/proc/self/status`, in MB.
fn memory(name: &str) -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name)).ok_or("no such line")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse::<u64>()? >> 10)
}
