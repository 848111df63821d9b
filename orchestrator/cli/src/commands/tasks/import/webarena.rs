//! WebArena and what was made of it: their tasks, with the addresses of their sites.

use anyhow::{Context as _, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use results::counted;
use tasks::import::webarena::{Place, published, webarena, world};
use tasks::import::{
    NewSuite, SiteManifests, SiteSet, only_lite, read_file, read_files, visualwebarena,
    webarena_verified, webchorearena,
};

use super::{say_rest, write};
use crate::failure::{Failure, OrFail, Outcome};

/// Where the sites of the tasks are.
#[derive(clap::Args)]
pub(in crate::commands::tasks) struct Sites {
    /// Folder with the manifests of the sites [default: the folder below sites/ with the
    /// benchmark's name; if there is none, the published manifests, which are written into the
    /// suite's folder]
    #[arg(long, value_name = "DIR")]
    sites: Option<Utf8PathBuf>,
    /// Replace a published site by one of yours: its name in the tasks, its manifest and those of
    /// other sites that its pages load, its address, and the account of tasks that are logged in;
    /// can be repeated
    #[arg(long = "site", value_name = "NAME=SITE[+SITE],URL[,ACCOUNT]", value_parser = read_place)]
    places: Vec<Place>,
    /// Time on the clocks when an episode begins
    #[arg(long, value_name = "TIME", default_value = "2023-07-20T12:00:00Z")]
    clock: jiff::Timestamp,
}

fn read_place(text: &str) -> anyhow::Result<Place> {
    let (name, rest) = text.split_once('=').context("it has no `=`")?;
    let mut parts = rest.split(',');
    let (sites, url) =
        (parts.next().unwrap_or_default(), parts.next().context("it has no address")?);
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
pub(in crate::commands::tasks) enum Subset {
    /// All tasks of the file
    All,
    /// The 165 tasks of WebArena-Lite
    Lite,
}

/// Writes the suite of WebArena's file, and says what is in it.
pub(super) fn import(file: &Utf8Path, subset: Subset, sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) = sites.resolve(SiteSet::WebArena, published())?;
    let read_subset = |text: &str| {
        let import = webarena(text, &places)?;
        match subset {
            Subset::All => Ok(import),
            Subset::Lite => only_lite(import),
        }
    };
    let import = read_file(file, read_subset).or_input("import WebArena")?;
    let name = match subset {
        Subset::All => "webarena",
        Subset::Lite => "webarena-lite",
    };
    finish(&manifests, manifests.suite(name, world(manifests.folder(), clock), import), output)
}

/// Writes the suite of WebChoreArena's files, and says what is in it.
pub(super) fn import_chores(files: &[Utf8PathBuf], sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) = sites.resolve(SiteSet::WebArena, published())?;
    let import = read_files(files, |_, text| webchorearena(text, &places))
        .or_input("import WebChoreArena")?;
    finish(
        &manifests,
        manifests.suite("webchorearena", world(manifests.folder(), clock), import),
        output,
    )
}

/// Writes the suite of WebArena-Verified's file, and says what is in it.
pub(super) fn import_verified(file: &Utf8Path, sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) =
        sites.resolve(SiteSet::WebArenaVerified, webarena_verified::published())?;
    let import = read_file(file, |text| webarena_verified::webarena_verified(text, &places))
        .or_input("import WebArena-Verified")?;
    finish(
        &manifests,
        manifests.suite("webarena-verified", world(manifests.folder(), clock), import),
        output,
    )
}

/// Writes the suite of VisualWebArena's files, and says what is in it.
pub(super) fn import_visual(files: &[Utf8PathBuf], sites: Sites, output: &Utf8Path) -> Outcome {
    let (manifests, places, clock) =
        sites.resolve(SiteSet::VisualWebArena, visualwebarena::published())?;
    let import = read_files(files, |_, text| visualwebarena::visualwebarena(text, &places))
        .or_input("import VisualWebArena")?;
    finish(
        &manifests,
        manifests.suite("visualwebarena", visualwebarena::world(manifests.folder(), clock), import),
        output,
    )
}

impl Sites {
    /// The manifests, the places of the tasks, and what clocks show.
    fn resolve(
        self,
        of: SiteSet,
        published: Vec<Place>,
    ) -> Result<(SiteManifests, Vec<Place>, jiff::Timestamp), Failure> {
        let own: Vec<String> = self.places.iter().map(|place| place.name.clone()).collect();
        let rest = published.into_iter().filter(|place| !own.contains(&place.name));
        let places: Vec<Place> = self.places.into_iter().chain(rest).collect();
        let manifests =
            SiteManifests::find(self.sites, of).or_input("find the sites of the tasks")?;
        Ok((manifests, places, self.clock))
    }
}

/// Writes the suite, and says where its sites are.
fn finish(manifests: &SiteManifests, suite: NewSuite, output: &Utf8Path) -> Outcome {
    write(&suite, output)?;
    let at = match manifests {
        SiteManifests::Folder(folder) => folder.to_string(),
        SiteManifests::Built(_) => format!("{output}/sites"),
    };
    println!("{output}: {}, on the sites of {at}", counted(suite.import.tasks.len(), "task"));
    say_rest(&suite.import, output);
    Ok(())
}
