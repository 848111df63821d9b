//! WebArena and VisualWebArena: their tasks, with the addresses of their sites.

use std::collections::HashSet;
use std::fs;

use anyhow::{Context as _, anyhow, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use tasks::WorldSpec;
use tasks::import::webarena::{Place, published, webarena, world};
use tasks::import::{Import, ImportError, only_lite, visualwebarena, webarena_verified};

use super::Written;
use crate::failure::{Failure, OrFail, Outcome};

/// Where the sites of the tasks are.
#[derive(clap::Args)]
pub(in crate::tasks) struct Sites {
    /// The folder with their manifests [default: the one below sites/ with the benchmark's name]
    #[arg(long, value_name = "DIR")]
    sites: Option<Utf8PathBuf>,
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

/// Which of WebArena's tasks.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(in crate::tasks) enum Subset {
    /// Those of the file
    All,
    /// The 165 of WebArena-Lite
    Lite,
}

/// Writes the suite of WebArena's file, and says what is in it.
pub(super) fn import(file: &Utf8Path, subset: Subset, sites: Sites, output: &Utf8Path) -> Outcome {
    let (folder, places, clock) = sites.resolve("webarena", published())?;
    let read_subset = |text: &str| {
        let import = webarena(text, &places)?;
        match subset {
            Subset::All => Ok(import),
            Subset::Lite => only_lite(import),
        }
    };
    let import = read(file, read_subset).or_input("import WebArena")?;
    let name = match subset {
        Subset::All => "webarena",
        Subset::Lite => "webarena-lite",
    };
    write(name, world(folder, clock), &import, output)
}

/// Writes the suite of WebArena-Verified's file, and says what is in it.
pub(super) fn import_verified(file: &Utf8Path, sites: Sites, output: &Utf8Path) -> Outcome {
    let (folder, places, clock) = sites.resolve("webarena-verified", webarena_verified::published())?;
    let import = read(file, |text| webarena_verified::webarena_verified(text, &places))
        .or_input("import WebArena-Verified")?;
    write("webarena-verified", world(folder, clock), &import, output)
}

/// Writes the suite of VisualWebArena's files, and says what is in it.
pub(super) fn import_visual(files: &[Utf8PathBuf], sites: Sites, output: &Utf8Path) -> Outcome {
    const DOING: &str = "import VisualWebArena";
    let (folder, places, clock) = sites.resolve("visualwebarena", visualwebarena::published())?;
    let mut all = Import::default();
    for file in files {
        let import = read(file, |text| visualwebarena::visualwebarena(text, &places)).or_input(DOING)?;
        all.tasks.extend(import.tasks);
        all.skipped.extend(import.skipped);
    }
    let mut ids = HashSet::new();
    if let Some(task) = all.tasks.iter().find(|task| !ids.insert(&task.id)) {
        return Err(anyhow!("{} is there twice; name each file once", task.id)).or_input(DOING);
    }
    write("visualwebarena", visualwebarena::world(folder, clock), &all, output)
}

impl Sites {
    /// The folder with the manifests, the places of the tasks, and what clocks show.
    fn resolve(
        self,
        name: &str,
        published: Vec<Place>,
    ) -> Result<(Utf8PathBuf, Vec<Place>, jiff::Timestamp), Failure> {
        let own: Vec<String> = self.places.iter().map(|place| place.name.clone()).collect();
        let rest = published.into_iter().filter(|place| !own.contains(&place.name));
        let places: Vec<Place> = self.places.into_iter().chain(rest).collect();
        let sites = self.sites.unwrap_or_else(|| Utf8Path::new("sites").join(name));
        Ok((find_sites(&sites).or_input("find the sites of the tasks")?, places, self.clock))
    }
}

fn read(file: &Utf8Path, import: impl Fn(&str) -> Result<Import, ImportError>) -> anyhow::Result<Import> {
    let text = fs::read_to_string(file).with_context(|| file.to_string())?;
    import(&text).with_context(|| file.to_string())
}

fn write(name: &str, world: WorldSpec, import: &Import, output: &Utf8Path) -> Outcome {
    let sites = world.sites.clone().unwrap_or_default();
    let suite = Written { name, world, manifests: Vec::new(), files: Vec::new(), import };
    suite.write(output).or_input("write the suite")?;
    println!("{output}: {}, on the sites of {sites}", counted(import.tasks.len(), "task"));
    suite.say_rest(output);
    Ok(())
}

fn find_sites(folder: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    if !folder.is_dir() {
        bail!("{folder} is no folder with manifests of sites; name it with --sites");
    }
    Ok(folder.canonicalize_utf8()?)
}
