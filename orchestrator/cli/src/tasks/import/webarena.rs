//! WebArena and what was made of it: their tasks, with the addresses of their sites.

use std::collections::{BTreeSet, HashSet};
use std::fs;

use anyhow::{Context as _, anyhow, bail, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use tasks::WorldSpec;
use tasks::import::webarena::{Place, published, webarena, world};
use tasks::import::{
    Import, ImportError, Skipped, only_lite, visualwebarena, webarena_verified, webchorearena,
};

use super::Written;
use super::published::{Manifests, Published};
use crate::failure::{Failure, OrFail, Outcome};

/// Where the sites of the tasks are.
#[derive(clap::Args)]
pub(in crate::tasks) struct Sites {
    /// Folder with the manifests of the sites [default: the folder below sites/ with the benchmark's name; if there is
    /// none, the published manifests, which are written into the suite's folder]
    #[arg(long, value_name = "DIR")]
    sites: Option<Utf8PathBuf>,
    /// Replace a published site by one of yours: its name in the tasks, its manifest and those of other sites that its
    /// pages load, its address, and the account of tasks that are logged in; can be repeated
    #[arg(long = "site", value_name = "NAME=SITE[+SITE],URL[,ACCOUNT]", value_parser = read_place)]
    places: Vec<Place>,
    /// Time on the clocks when an episode begins
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
    /// All tasks of the file
    All,
    /// The 165 tasks of WebArena-Lite
    Lite,
}

/// Writes the suite of WebArena's file, and says what is in it.
pub(super) fn import(file: &Utf8Path, subset: Subset, sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) = sites.resolve(Published::WebArena, published())?;
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
    write(name, world(manifests.folder(), clock), &manifests, import, output)
}

/// Writes the suite of WebChoreArena's files, and says what is in it.
pub(super) fn import_chores(files: &[Utf8PathBuf], sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) = sites.resolve(Published::WebArena, published())?;
    let import = read_all(files, |text| webchorearena(text, &places)).or_input("import WebChoreArena")?;
    write("webchorearena", world(manifests.folder(), clock), &manifests, import, output)
}

/// Writes the suite of WebArena-Verified's file, and says what is in it.
pub(super) fn import_verified(file: &Utf8Path, sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) = sites.resolve(Published::Verified, webarena_verified::published())?;
    let import = read(file, |text| webarena_verified::webarena_verified(text, &places))
        .or_input("import WebArena-Verified")?;
    write("webarena-verified", world(manifests.folder(), clock), &manifests, import, output)
}

/// Writes the suite of VisualWebArena's files, and says what is in it.
pub(super) fn import_visual(files: &[Utf8PathBuf], sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) = sites.resolve(Published::VisualWebArena, visualwebarena::published())?;
    let import = read_all(files, |text| visualwebarena::visualwebarena(text, &places))
        .or_input("import VisualWebArena")?;
    write("visualwebarena", visualwebarena::world(manifests.folder(), clock), &manifests, import, output)
}

impl Sites {
    /// The manifests, the places of the tasks, and what clocks show.
    fn resolve(
        self,
        of: Published,
        published: Vec<Place>,
    ) -> Result<(Manifests, Vec<Place>, jiff::Timestamp), Failure> {
        let own: Vec<String> = self.places.iter().map(|place| place.name.clone()).collect();
        let rest = published.into_iter().filter(|place| !own.contains(&place.name));
        let places: Vec<Place> = self.places.into_iter().chain(rest).collect();
        let usual = Utf8Path::new("sites").join(of.folder());
        let folder = self.sites.or_else(|| usual.is_dir().then_some(usual));
        let manifests = match folder {
            Some(folder) => Manifests::Folder(find_sites(&folder).or_input("find the sites of the tasks")?),
            None => Manifests::Built(of),
        };
        Ok((manifests, places, self.clock))
    }
}

fn read(file: &Utf8Path, import: impl Fn(&str) -> Result<Import, ImportError>) -> anyhow::Result<Import> {
    let text = fs::read_to_string(file).with_context(|| file.to_string())?;
    import(&text).with_context(|| file.to_string())
}

fn read_all(
    files: &[Utf8PathBuf],
    import: impl Fn(&str) -> Result<Import, ImportError>,
) -> anyhow::Result<Import> {
    let mut all = Import::default();
    for file in files {
        all.extend(read(file, &import)?);
    }
    let mut ids = HashSet::new();
    match all.tasks.iter().find(|task| !ids.insert(&task.id)) {
        Some(task) => Err(anyhow!("{} is there twice; name each file once", task.id)),
        None => Ok(all),
    }
}

fn write(
    name: &str,
    world: WorldSpec,
    manifests: &Manifests,
    mut import: Import,
    output: &Utf8Path,
) -> Outcome {
    leave_out_without_site(manifests, &mut import);
    let (at, texts) = match manifests {
        Manifests::Folder(folder) => (folder.to_string(), Vec::new()),
        Manifests::Built(published) => {
            let names: BTreeSet<&str> =
                import.tasks.iter().flat_map(|task| &task.sites).map(String::as_str).collect();
            let text = |name| Some((name, published.manifest(name)?.to_owned()));
            (format!("{output}/sites"), names.into_iter().filter_map(text).collect())
        }
    };
    let suite = Written { name, world, manifests: texts, files: Vec::new(), import: &import };
    suite.write(output).or_input("write the suite")?;
    println!("{output}: {}, on the sites of {at}", counted(import.tasks.len(), "task"));
    suite.say_rest(output);
    Ok(())
}

/// A task on a site that nothing describes could not be played.
fn leave_out_without_site(manifests: &Manifests, import: &mut Import) {
    let reason = |site: &str| match manifests {
        Manifests::Folder(folder) => format!("its site {site} has no manifest in {folder}"),
        Manifests::Built(_) => {
            format!(
                "its site {site} is none of the published ones; name the folder of its manifest with --sites"
            )
        }
    };
    import.tasks.retain(|task| match task.sites.iter().find(|site| !manifests.has(site)) {
        Some(site) => {
            import.skipped.push(Skipped { id: task.id.clone(), reason: reason(site) });
            false
        }
        None => true,
    });
}

fn find_sites(folder: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    if !folder.is_dir() {
        bail!("{folder} is no folder with manifests of sites; name it with --sites");
    }
    Ok(folder.canonicalize_utf8()?)
}
