//! WebArena: its tasks, with the addresses of its sites.

use std::fs;

use anyhow::{Context as _, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use tasks::import::webarena::{Place, published, webarena, world};

use super::Written;
use crate::failure::{OrFail, Outcome};

/// Where the sites of the tasks are.
#[derive(clap::Args)]
pub(in crate::tasks) struct Sites {
    /// The folder with their manifests
    #[arg(long, value_name = "DIR", default_value = "sites/webarena")]
    sites: Utf8PathBuf,
    /// A site of yours in place of a published one: its name in the tasks, its manifest and those of what its pages ask for besides, its
    /// address, and who is logged in where a task asks for it; may be given several times
    #[arg(long = "site", value_name = "NAME=SITE[+SITE],URL[,ACCOUNT]", value_parser = read_place)]
    places: Vec<Place>,
    /// What clocks show when an episode begins
    #[arg(long, value_name = "TIME", default_value = "2023-07-20T12:00:00Z")]
    clock: jiff::Timestamp,
}

fn read_place(text: &str) -> anyhow::Result<Place> {
    let (name, rest) = text.split_once('=').context("it has no `=`")?;
    let mut parts = rest.split(',');
    let (sites, url) = (parts.next().unwrap_or_default(), parts.next().context("it has no address")?);
    let sites = sites.split('+').map(str::to_owned).collect();
    ensure!(
        url.starts_with("http://") || url.starts_with("https://"),
        "`{url}` is no address, such as https://shop.test"
    );
    let account = parts.next().map(str::to_owned);
    Ok(Place { name: name.to_uppercase(), url: url.to_owned(), sites, account })
}

/// Writes the suite, and says what is in it.
pub(super) fn import(file: &Utf8Path, sites: Sites, output: &Utf8Path) -> Outcome {
    let Sites { sites, places, clock } = sites;
    let own: Vec<String> = places.iter().map(|place| place.name.clone()).collect();
    let rest = published().into_iter().filter(|place| !own.contains(&place.name));
    let places: Vec<Place> = places.into_iter().chain(rest).collect();
    let folder = find_sites(&sites).or_input("import WebArena")?;
    let text = fs::read_to_string(file).with_context(|| file.to_string()).or_input("import WebArena")?;
    let import = webarena(&text, &places).with_context(|| file.to_string()).or_input("import WebArena")?;
    let suite =
        Written { name: "webarena", world: world(folder, clock), manifests: Vec::new(), import: &import };
    suite.write(output).or_input("write the suite")?;
    println!("{output}: {} tasks, on the sites of {sites}", import.tasks.len());
    suite.say_rest(output);
    Ok(())
}

fn find_sites(folder: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    if !folder.is_dir() {
        bail!("{folder} is no folder with manifests of sites; name it with --sites");
    }
    Ok(folder.canonicalize_utf8()?)
}
