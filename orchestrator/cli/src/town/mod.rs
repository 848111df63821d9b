//! Commands for a town of sites that stays up: `up`, `down`, `status`, `logs`, `reset`, `open`.

mod down;
mod events;
mod logs;
mod open;
mod reset;
mod serve;
mod status;
mod table;
mod up;

use ::town::{Client, Folder};
use camino::{Utf8Path, Utf8PathBuf};
use sites::Site;

use crate::failure::{Failure, OrFail};
use crate::options::DataFolder;

pub(crate) use down::Down;
pub(crate) use events::told;
pub(crate) use logs::Logs;
pub(crate) use open::Open;
pub(crate) use reset::Reset;
pub(crate) use serve::Serve;
pub(crate) use status::Status;
pub(crate) use up::Up;

/// Where the manifests are.
#[derive(clap::Args, Clone)]
pub(crate) struct SitesFolder {
    /// Folder with the manifests of sites
    #[arg(long = "sites", value_name = "DIR", default_value = "sites")]
    path: Utf8PathBuf,
}

impl SitesFolder {
    pub(crate) fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The sites of these names; all of them when none is named.
    pub(crate) fn load(&self, names: &[String]) -> Result<Vec<Site>, Failure> {
        let all = Site::load_all(&self.path).or_input("read the sites")?;
        let known: Vec<&str> = all.iter().map(|site| site.name.as_str()).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(no_site(unknown, &format!("in {}", self.path), &known));
        }
        Ok(all.into_iter().filter(|site| names.is_empty() || names.contains(&site.name)).collect())
    }
}

/// A site of this name is not there; `place` says where.
fn no_site(name: &str, place: &str, known: &[&str]) -> Failure {
    let meant = suggestions::did_you_mean(name, known.iter().copied());
    Failure::Input(anyhow::anyhow!(
        "there is no site `{name}` {place}{meant}; there are: {}",
        known.join(", ")
    ))
}

/// What to do about a container engine that does not answer.
const ENGINE_CURE: &str =
    "start it again, and the sites come up by themselves, or end them with `sandbox down`";

fn folder(data: &DataFolder) -> Result<Folder, Failure> {
    Ok(Folder::new(data.town()?))
}

fn client(data: &DataFolder) -> Result<Client, Failure> {
    Ok(Client::new(&folder(data)?))
}

/// What an error of a town asks of the user.
fn failure(error: ::town::Error) -> Failure {
    use ::town::Error;
    match error {
        Error::NotUp => Failure::Environment(anyhow::anyhow!("no town is up; `sandbox up` starts one")),
        Error::AlreadyUp => {
            Failure::Environment(anyhow::anyhow!("a town is up already; `sandbox down` ends it"))
        }
        Error::Lacks(what) => Failure::Environment(anyhow::anyhow!("failed to {what}; {ENGINE_CURE}")),
        Error::Refused(why) => Failure::No(format!("failed to {why}")),
        Error::Sites(error) => match error.cure() {
            Some(cure) => Failure::Environment(anyhow::anyhow!("failed to {error}; {cure}")),
            None => Failure::Environment(anyhow::anyhow!("failed to {error}")),
        },
        Error::PathTooLong { .. } => Failure::Input(error.into()),
        error => Failure::Environment(error.into()),
    }
}
