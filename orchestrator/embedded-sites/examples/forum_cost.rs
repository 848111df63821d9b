//! Measures the forum's cost: `cargo run --release -p embedded-sites --example forum_cost`.

use std::error::Error;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use embedded_sites::{Clock, EmbeddedInstance, Golden, Options, forum};
use tower::ServiceExt;

const PAGES: [&str; 9] = [
    "/",
    "/all/top?t=all",
    "/f/books",
    "/f/books/new",
    "/all/hot?page=100",
    "/search?q=winter",
    "/forums",
    "/user/MarvelsGrantMan136",
    "/f/news/most_commented?t=all",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let bytes = forum::generate()?;
    println!("golden database  {:>9.1?}  {} KB", begun.elapsed(), bytes.len() / 1024);
    let folder = tempfile::tempdir()?;
    let golden = Golden::open(folder.path())?;
    let options = Options::new(Clock::fixed("2023-06-15T09:00:00Z".parse()?));
    let copy = forum::start(&golden, &options)?;
    println!("                    median      best");
    report("start a copy", times(|| forum::start(&golden, &options).map(drop))?);
    report("reset", times(|| copy.reset())?);
    report("digest", times(|| copy.digest().map(drop))?);
    for page in PAGES.into_iter().chain([longest(&copy)?.as_str()]) {
        let mut took = Vec::new();
        for _ in 0..21 {
            let begun = Instant::now();
            let answer = copy.router().oneshot(Request::get(page).body(Body::empty())?).await?;
            axum::body::to_bytes(answer.into_body(), usize::MAX).await?;
            took.push(begun.elapsed());
        }
        report(page, took);
    }
    let before = resident()?;
    let copies = (0..20).map(|_| forum::start(&golden, &options)).collect::<Result<Vec<_>, _>>()?;
    println!(
        "memory per copy  {:>6} KB over {} copies",
        (resident()? - before) / copies.len() as u64,
        copies.len()
    );
    Ok(())
}

/// The URL of the submission with the most comments.
fn longest(copy: &EmbeddedInstance) -> Result<String, Box<dyn Error>> {
    let sql = "select '/f/' || f.name || '/' || s.id || '/' || s.slug as path from submissions s \
               join forums f on f.id = s.forum order by s.comments desc limit 1";
    let rows = copy.query(sql, &[])?;
    Ok(rows[0]["path"].as_str().unwrap_or("/").to_owned())
}

fn times<E>(mut job: impl FnMut() -> Result<(), E>) -> Result<Vec<Duration>, E> {
    let mut took = Vec::new();
    for _ in 0..31 {
        let begun = Instant::now();
        job()?;
        took.push(begun.elapsed());
    }
    Ok(took)
}

/// Prints the median and the best. The best shows the cost without other load on the machine.
fn report(what: &str, mut took: Vec<Duration>) {
    took.sort();
    println!("{what:<16} {:>9.1?} {:>9.1?}", took[took.len() / 2], took[0]);
}

/// The resident memory of this process in KB.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or("VmRSS: 0");
    Ok(line.split_whitespace().nth(1).unwrap_or("0").parse()?)
}
