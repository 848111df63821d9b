//! Measures the cost of a group: `cargo run -p sites --example measure -- [ROUNDS] [SITE...]`, with
//! images built and an engine.
//!
//! Prints how long each site took until it was ready, a lease with a spare ready, how long
//! instances took to be made pristine, and the memory of each instance.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use parking_lot::Mutex;
use sites::{Event, Events, Options, Site, SiteGroup};

const SOON: Duration = Duration::from_secs(120);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(20), |rounds| rounds.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let manifests = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites");
    let mut all = Site::load_all(&manifests)?;
    all.retain(|site| wanted.is_empty() || wanted.contains(&site.name));

    let began = Instant::now();
    let resets: Arc<Mutex<BTreeMap<String, Vec<Duration>>>> = Arc::default();
    let heard = Arc::clone(&resets);
    let events: Events = Arc::new(move |event| match event {
        Event::Ready { site, instance, took } => {
            println!(
                "{:>6.2} s  {site} instance {instance} ready after {took:.2?}",
                began.elapsed().as_secs_f64()
            )
        }
        Event::Recycled { site, took, .. } => {
            let mut heard = heard.lock();
            heard.entry(site.clone()).or_default().push(*took);
        }
        Event::Starting { .. } | Event::Waiting { .. } => {}
        other => println!("{:>6.2} s  {other:?}", began.elapsed().as_secs_f64()),
    });
    let folder = std::env::temp_dir().join("sandbox-measure");
    let folder =
        camino::Utf8PathBuf::from_path_buf(folder).map_err(|_| "a folder with a plain name")?;
    let group = SiteGroup::start(all, Options::new("measure", folder), events).await?;
    println!("{:>6.2} s  started", began.elapsed().as_secs_f64());
    if let Err(error) = group.ready(SOON).await {
        group.stop().await?;
        return Err(error.into());
    }
    println!("{:>6.2} s  every site ready", began.elapsed().as_secs_f64());
    let names: Vec<String> = group.sites().iter().map(|site| site.name.clone()).collect();
    for name in &names {
        let mut leases = Vec::new();
        for round in 0..rounds {
            // A reset is over when all instances are idle again.
            group.reset(name).await?;
            let requested_at = Instant::now();
            let lease = group.lease(name, SOON).await?;
            leases.push(requested_at.elapsed());
            if round == 0 {
                println!("{name}: {} accounts", lease.site().login.len());
            }
            // Everybody once, then the first again and again.
            let accounts = if round == 0 { usize::MAX } else { 1 };
            for account in lease.site().login.keys().take(accounts) {
                if let Err(error) = lease.login(account).await {
                    println!("{name}: failed to {error}");
                }
            }
            if let Some(difference) = lease.difference().await?.filter(|_| round == 1) {
                println!("{name}: {difference} once logged in");
            }
            lease.hand_back(true).await;
        }
        let mut resets = resets.lock().remove(name).unwrap_or_default();
        println!(
            "{name}: lease {}, pristine again {}",
            quantiles(&mut leases),
            quantiles(&mut resets)
        );
    }
    group.measure().await;
    group.reset(&names[0]).await?;
    for status in group.status() {
        let memory: Vec<String> = status
            .instances
            .iter()
            .map(|instance| {
                instance.memory.map_or("?".to_owned(), |bytes| format!("{} MiB", bytes >> 20))
            })
            .collect();
        println!("{}: {} per instance, {} drifts", status.name, memory.join(", "), status.drifts);
    }
    let stopping = Instant::now();
    group.stop().await?;
    println!("stopped in {:.2?}", stopping.elapsed());
    Ok(())
}

fn quantiles(times: &mut [Duration]) -> String {
    times.sort();
    let at = |part: usize| times.get((times.len() * part / 100).min(times.len().saturating_sub(1)));
    match (at(50), at(99)) {
        (Some(half), Some(most)) => format!("p50 {half:.2?} p99 {most:.2?} of {}", times.len()),
        _ => "not measured".to_owned(),
    }
}
