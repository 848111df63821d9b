//! Many episodes that change what they can: `cargo run -p sites --example episodes -- [EPISODES]
//! [SITE...]`.
//!
//! In each, an account logs in, and while the application runs, rows of every table of its
//! databases are changed and deleted and files of its trees written, removed and added, as no user
//! could; then pages are asked for, so that the application sees it. What is part of our own
//! process has no files: there, forms are sent. The next lease has to be pristine, by its digest
//! and by the page that it shows. Ends with 1 if one was not.
//!
//! The time of a recycle is the time from handing an instance back until that instance is ready
//! again, proved pristine.

mod spoil;
mod visit;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use parking_lot::Mutex;
use sites::manifest::{DriverSpec, ResetPolicy};
use sites::{Event, Events, Lease, Options, ResetMethod, Site, SiteGroup};

type Outcome<T> = Result<T, Box<dyn Error>>;

const SOON: Duration = Duration::from_secs(180);

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let episodes: usize = arguments.next().map_or(Ok(20), |episodes| episodes.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let mut all = Site::load_all(&Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites"))?;
    all.retain(|site| wanted.is_empty() || wanted.contains(&site.name));
    all.retain(|site| matches!(site.driver, DriverSpec::Docker(_) | DriverSpec::Embedded(_)));
    all.retain(|site| site.reset == ResetPolicy::Restore);
    let folder = Utf8PathBuf::from_path_buf(
        std::env::temp_dir().join(format!("episodes-{}", std::process::id())),
    )
    .map_err(|_| "a folder with a plain name")?;
    let mut bad = 0;
    for site in all {
        let (name, site_path) = (site.name.clone(), site.clone());
        let recycles = Arc::new(Mutex::new(Vec::new()));
        let times = Arc::clone(&recycles);
        let events: Events = Arc::new(move |event| match event {
            Event::Failed { .. } | Event::Drifted { .. } => eprintln!("{event:?}"),
            Event::Recycled { took, how, .. } => {
                times.lock().push((*took, *how));
            }
            _ => {}
        });
        let options = Options::new("episodes", folder.clone());
        let group = SiteGroup::start(vec![site], options, events).await?;
        let began = Instant::now();
        let outcome = run(&group, &site_path, &folder, episodes).await;
        let drifts = group.status().iter().map(|status| status.drifts).sum::<u64>();
        let took = began.elapsed().as_secs_f64();
        group.stop().await?;
        let recycles = summary(&recycles.lock());
        match &outcome {
            Ok(()) => {
                println!("{name}: {episodes} episodes in {took:.1} s, {drifts} drifts, {recycles}")
            }
            Err(error) => println!("{name}: {error}; {drifts} drifts"),
        }
        bad += u64::from(outcome.is_err()) + drifts;
    }
    fs::remove_dir_all(&folder)?;
    if bad > 0 { Err("not every episode began with a pristine instance".into()) } else { Ok(()) }
}

async fn run(group: &SiteGroup, site: &Site, folder: &Utf8Path, episodes: usize) -> Outcome<()> {
    group.ready(SOON).await?;
    let account = site.login.keys().next().cloned();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for episode in 0..episodes {
        let lease = group.lease(&site.name, SOON).await?;
        if let Some(difference) = lease.difference().await? {
            return Err(
                format!("episode {episode} began with an instance in which {difference}").into()
            );
        }
        for condition in site.ready.values().filter_map(|ready| ready.get.as_ref()) {
            let page = visit::words(&visit::ask(&lease, condition).await?);
            let first = seen.entry(condition.clone()).or_insert_with(|| page.clone());
            if *first != page {
                return Err(
                    format!("episode {episode} shows another {condition} than the first").into()
                );
            }
        }
        let mut cookies = String::new();
        if let Some(account) = &account {
            let given = lease
                .login(account)
                .await
                .map_err(|error| format!("episode {episode}: failed to {error}"))?;
            cookies = visit::header(&given);
        }
        match site.driver {
            DriverSpec::Embedded(_) => visit::send_forms(&lease, &cookies, episode).await?,
            _ => spoil::state(&state_of(folder, &lease)?, site, episode)?,
        }
        // Whatever it answers now.
        let _ = visit::ask(&lease, "/").await;
        if lease.difference().await?.is_none() {
            return Err(format!("episode {episode} changed nothing").into());
        }
        lease.hand_back(true).await;
    }
    Ok(())
}

/// The folder of an instance's state on this machine.
fn state_of(folder: &Utf8Path, lease: &Lease) -> Outcome<Utf8PathBuf> {
    let name = format!("{}-{}", lease.site().name, lease.instance());
    for instance in folder.join("copies").read_dir_utf8()? {
        let state = instance?.path().join(&name).join("state");
        if state.is_dir() {
            return Ok(state);
        }
    }
    Err(format!("no folder of {name}").into())
}

/// Of all recycles the middle one and the last but one in a hundred, and by which means.
fn summary(recycles: &[(Duration, ResetMethod)]) -> String {
    let mut times: Vec<Duration> = recycles.iter().map(|(took, _)| *took).collect();
    times.sort();
    let at = |percent: usize| {
        times.get(times.len().saturating_sub(1) * percent / 100).map_or(0.0, Duration::as_secs_f64)
            * 1000.0
    };
    let replaced = recycles.iter().filter(|(_, how)| *how == ResetMethod::Replaced).count();
    format!(
        "{} recycles: p50 {:.0} ms, p99 {:.0} ms, {replaced} by another instance",
        times.len(),
        at(50),
        at(99)
    )
}
