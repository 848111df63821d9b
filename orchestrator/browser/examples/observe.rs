//! Measures how long observations take: one line of JSON a page.
//!
//!     cargo run --release -p browser --example observe -- PROXY TIMES URL...
//!
//! PROXY is the address of a gateway, such as `sandbox replay` prints. Each page is observed TIMES
//! times in full: the tree, the properties of all elements, a screenshot, the tabs. `make
//! bench ONLY=observe` compares this with BrowserGym.

use std::time::{Duration, Instant};

use actions::Action;
use browser::{Determinism, Launch, ObservationOptions, Session};
use in_flight::InFlight;

const SETTLE: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: observe PROXY TIMES URL...";
    let proxy: std::net::SocketAddr = arguments.next().ok_or(usage)?.parse()?;
    let times: u32 = arguments.next().ok_or(usage)?.parse()?;
    let world = Determinism { clock_start: "2026-03-12T08:30:00Z".parse()?, seed: 7 };
    let mut session =
        Session::start(&Launch { determinism: Some(world), ..Launch::new(proxy, "") }).await?;
    let options = ObservationOptions { properties: true, ..ObservationOptions::default() };
    let in_flight = InFlight::default();
    for url in arguments {
        session.act(&Action::Goto { url: url.clone() }).await?;
        session.settle(&in_flight, SETTLE).await?;
        let mut observe_ms = Vec::new();
        let mut elements = 0;
        for _ in 0..times {
            let began = Instant::now();
            elements = session.observe_with(&options).await?.properties.len();
            session.screenshot().await?;
            observe_ms.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        let mut steps = Vec::new();
        for _ in 0..times {
            let began = Instant::now();
            // When the page has settled, everything that follows from a click has happened, timers
            // included.
            session
                .act(&Action::MouseClick(
                    actions::Point { x: 5.0, y: 5.0 },
                    actions::Press::default(),
                ))
                .await?;
            session.settle(&in_flight, SETTLE).await?;
            session.observe_with(&options).await?;
            session.screenshot().await?;
            steps.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        println!(
            "{}",
            serde_json::json!({ "url": url, "elements": elements, "looks_ms": observe_ms, "steps_ms": steps })
        );
    }
    session.close().await?;
    Ok(())
}
