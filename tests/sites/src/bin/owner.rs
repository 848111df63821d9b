//! A process that owns a group, for tests that kill it: `owner FOLDER SITE-FOLDER` starts the site,
//! says so, and stays. `owner sweep` removes what everybody has on its engine. `owner relay` and
//! `owner begin-site` are the relay of tests, and what waits for it.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use sites::{Options, Site, SiteGroup};

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [command, _, program @ ..] = words.as_slice()
        && command == sites::relay::BEGIN
    {
        return Ok(sites::relay::begin(program));
    }
    if let [command, process, port] = words.as_slice()
        && command == sites::relay::COMMAND
    {
        return Ok(sites::relay::run(process, port.parse()?));
    }
    own(words).map(|()| ExitCode::SUCCESS)
}

#[tokio::main]
async fn own(words: Vec<String>) -> anyhow::Result<()> {
    let mut arguments = words.into_iter();
    let folder = arguments.next().context("a folder")?;
    if folder == "sweep" {
        let swept =
            sites::sweep(&container_images::Engine::connect().await?, sites::SweepScope::All)
                .await?;
        println!("{} containers, {} networks", swept.containers, swept.networks);
        return Ok(());
    }
    let folder = folder.into();
    let site = Site::load(arguments.next().context("the folder of a site")?.as_str().into())?;
    let name = site.name.clone();
    let helper = std::env::current_exe().ok().and_then(|path| path.try_into().ok());
    let options = Options { helper, ..Options::new("owner", folder) };
    let events = Arc::new(|event: &sites::Event| eprintln!("{event:?}"));
    let group = SiteGroup::start(vec![site], options, events).await?;
    group.ready(Duration::from_secs(60)).await?;
    println!("ready");
    // Whoever speaks to us wants to know whether a copy can be had.
    for _ in std::io::stdin().lines() {
        match group.lease(&name, Duration::from_secs(60)).await {
            Ok(lease) => println!("leased {}", lease.upstream()),
            Err(error) => println!("failed to {error}"),
        }
    }
    group.stop().await?;
    Ok(())
}
