//! Commands for sites that stay up: `up`, `down`, `status`, `logs`, `reset`, `open`.

mod down;
mod events;
mod logs;
mod open;
mod reset;
mod serve;
mod status;
mod table;
mod up;

use camino::{Utf8Path, Utf8PathBuf};
use daemon::{Client, Folder};
pub(crate) use down::Down;
pub(crate) use events::show_sites;
pub(crate) use logs::Logs;
pub(crate) use open::Open;
pub(crate) use reset::Reset;
pub(crate) use serve::Serve;
use sites::Site;
pub(crate) use status::Status;
pub(crate) use up::Up;

use crate::failure::{Failure, OrFail};
use crate::options::DataFolder;

/// Where the manifests are.
#[derive(clap::Args, Clone)]
pub(crate) struct SitesFolder {
    /// Folder with the manifests of sites [default: sites]
    #[arg(long = "sites", value_name = "DIR")]
    named: Option<Utf8PathBuf>,
}

/// The folder that is meant where none is named.
const SITES: &str = "sites";

impl SitesFolder {
    pub(crate) fn path(&self) -> &Utf8Path {
        self.named.as_deref().unwrap_or(Utf8Path::new(SITES))
    }

    /// The full name of the folder. None where none was named and there is none here.
    pub(crate) fn full_path(&self) -> Result<Option<Utf8PathBuf>, Failure> {
        match self.path().canonicalize_utf8() {
            Ok(path) => Ok(Some(path)),
            Err(_) if self.named.is_none() => Ok(None),
            Err(error) => Err(error).or_input(format!("read the sites: read {}", self.path())),
        }
    }
}

/// The sites of these names in a folder of manifests; all of them when none is named.
fn load(folder: &Utf8Path, names: &[String]) -> Result<Vec<Site>, Failure> {
    let all = Site::load_all(folder).or_input("read the sites")?;
    let known: Vec<&str> = all.iter().map(|site| site.name.as_str()).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(no_site(unknown, &format!("in {folder}"), &known));
    }
    Ok(all.into_iter().filter(|site| names.is_empty() || names.contains(&site.name)).collect())
}

/// A site of this name is not there; `place` says where.
fn no_site(name: &str, place: &str, known: &[&str]) -> Failure {
    let meant = suggestions::did_you_mean(name, known.iter().copied());
    Failure::Input(format!(
        "failed to find the site `{name}` {place}{meant}; there are: {}",
        known.join(", ")
    ))
}

fn folder(data: &DataFolder) -> Result<Folder, Failure> {
    Ok(Folder::new(data.town()?))
}

fn client(data: &DataFolder) -> Result<Client, Failure> {
    Ok(Client::new(&folder(data)?))
}
