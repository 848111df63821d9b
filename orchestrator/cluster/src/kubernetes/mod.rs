//! Writes a run as a manifest for Kubernetes, which the user applies. Its parts are not followed.

mod manifest;
mod waiting;

use std::collections::BTreeSet;

use agents::AgentSpec;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
pub use manifest::{EngineSidecar, Manifest, job_name};
use object_files::is_address;
use play::{Options, parts};
use results::mirror;
use results::parts::input_files;
use serde_json::json;
use sites::Site;
use sites::manifest::DriverSpec;
use tasks::{Suite, Task};
use url::Url;
pub use waiting::waiting;

use crate::{Error, PartOptions};

/// The default limit of the number of parts: the size of the cluster is not known here.
const MOST_PARTS: usize = 32;
/// Memory of the program itself and of one worker, in MiB.
const PROGRAM: u64 = 512;
const WORKER: u64 = 700;

/// The port of a model's API, unless its address says another.
const HTTPS: u16 = 443;

/// The options of a run in pods, besides those of any run.
#[derive(Debug, Clone)]
pub struct PodOptions {
    /// Image with sandbox and Chromium.
    pub image: Option<String>,
    /// PersistentVolumeClaim that holds a copy of the working folder.
    pub claim: String,
    /// Secret with the variables of models' servers, object stores and agents.
    pub secret: Option<String>,
    /// Image with a container engine.
    pub engine_image: Option<String>,
    /// The options of its parts.
    pub parts: PartOptions,
    /// The address for the results, if there is one.
    pub address: Option<Utf8PathBuf>,
    /// All files, folders and addresses that the command line names.
    pub paths: Vec<Utf8PathBuf>,
}

/// A run whose options are valid in pods.
#[derive(Debug)]
pub struct PodRun {
    told: PodOptions,
    image: String,
    address: Option<Utf8PathBuf>,
}

/// A manifest that was written.
#[derive(Debug)]
pub struct WrittenManifest {
    /// The file.
    pub file: Utf8PathBuf,
    /// The folder of the run, below the working folder.
    pub folder: Utf8PathBuf,
    /// Its content.
    pub manifest: Manifest,
    /// The number of episodes that its parts play.
    pub episodes: usize,
}

impl PodRun {
    /// Checks the options for pods.
    ///
    /// # Errors
    /// When something cannot be told, or means something else in a pod.
    pub fn new(told: PodOptions, agent: &AgentSpec) -> Result<PodRun, Error> {
        let image = told.image.clone().ok_or_else(|| {
            lacks("", "name an image with sandbox and Chromium with --k8s-image".to_owned())
        })?;
        told.parts.check("the manifest", "put the variable into the Secret of --k8s-secret")?;
        if agent.asks_a_server() {
            let needs = "pods cannot reach a server; start the agent in each pod with --agent program:COMMAND";
            return Err(lacks(&format!(" with the agent {agent}"), needs.to_owned()));
        }
        if let Some(address) = &told.address {
            mirror::check_writable(address)?;
        }
        let shortest = |address: &Utf8PathBuf| address.as_str().trim_end_matches('/').into();
        let address = told.address.as_ref().map(shortest);
        told.paths
            .iter()
            .filter(|path| !is_address(path))
            .try_for_each(|path| within_claim(path))?;
        agent.files().into_iter().try_for_each(within_claim)?;
        Ok(PodRun { told, image, address })
    }

    /// Writes `kubernetes.json` into the folder of the run.
    ///
    /// # Errors
    /// When pods would lack something, or the file is there or cannot be written.
    pub fn write(
        self,
        suite: &Suite,
        agent: &AgentSpec,
        options: &Options,
    ) -> Result<WrittenManifest, Error> {
        let mut ports = self.model_ports(agent, options)?;
        let tasks = parts::tasks_of(suite, options)?;
        let inputs = input_files(suite, &tasks).map_err(|source| Error::Inputs { source })?;
        let (at_addresses, files): (Vec<&Utf8PathBuf>, Vec<&Utf8PathBuf>) =
            inputs.keys().partition(|path| is_address(path));
        files.iter().try_for_each(|path| within_claim(&shortened(path)))?;
        ports.extend(self.store_ports(self.address.iter().chain(at_addresses))?);
        ports.sort_unstable();
        ports.dedup();
        let engine = self.engine(suite, &tasks, options.workers)?;
        let folder = parts::folder_of(suite, agent, options);
        let most = self.told.parts.count.map_or(MOST_PARTS, |parts| parts as usize);
        // A part has whole tasks.
        let count = most.min(tasks.len()) as u32;
        let workers = options.workers as u32;
        let manifest = Manifest {
            name: job_name(folder.as_str()),
            image: self.image,
            claim: self.told.claim,
            arguments: self.told.parts.words,
            output: self.address.as_ref().unwrap_or(&folder).to_string(),
            parts: count,
            parallel: count,
            workers,
            memory: PROGRAM + WORKER * u64::from(workers),
            secret: self.told.secret,
            ports,
            engine,
        };
        let file = folder.join("kubernetes.json");
        write_new(&file, &manifest)?;
        let episodes = tasks.len() * options.repeat as usize;
        Ok(WrittenManifest { file, folder, manifest, episodes })
    }

    /// Returns the ports that parts must reach: those of the models' servers, if a Secret has the
    /// keys for them. A program may call a model by itself.
    fn model_ports(&self, agent: &AgentSpec, options: &Options) -> Result<Vec<u16>, Error> {
        let models = agent.models().into_iter().chain([&options.judge]);
        let asked: BTreeSet<u16> =
            models.filter_map(|model| Some(model.client.as_ref()?.port())).collect();
        let needs = match (asked.is_empty(), options.agent_variables.is_empty()) {
            (false, _) => Some(
                "a model is asked, and the pods have no key for it; make a Secret with OPENAI_API_KEY and \
                            OPENAI_BASE_URL",
            ),
            (true, false) => Some(
                "pods have no variables of this environment; make a Secret with those of --agent-env",
            ),
            (true, true) => None,
        };
        if self.told.secret.is_none() {
            return needs.map_or(Ok(Vec::new()), |needs| {
                Err(lacks("", format!("{needs}, and name it with --k8s-secret")))
            });
        }
        if !asked.is_empty() {
            return Ok(asked.into_iter().collect());
        }
        // The Secret may be for an object store alone.
        if needs.is_none() && !agent.starts_a_program() {
            return Ok(Vec::new());
        }
        let named = std::env::var("OPENAI_BASE_URL").ok().and_then(|text| Url::parse(&text).ok());
        Ok(vec![named.and_then(|url| url.port_or_known_default()).unwrap_or(HTTPS)])
    }

    /// Returns the ports of the servers of these addresses.
    fn store_ports<'a>(
        &self,
        addresses: impl Iterator<Item = &'a Utf8PathBuf>,
    ) -> Result<BTreeSet<u16>, Error> {
        let mut found = BTreeSet::new();
        for address in addresses {
            if address.as_str().starts_with("s3://") && self.told.secret.is_none() {
                let needs = "the pods have no credentials for it; make a Secret with AWS_ACCESS_KEY_ID and \
                         AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL for a server that is not AWS's, and name it \
                         with --k8s-secret";
                return Err(lacks(&format!(" with {address}"), needs.to_owned()));
            }
            let parsed = object_files::Address::parse(address.as_str())
                .map_err(|source| Error::Address { source })?;
            let server = Some(object_files::server(&parsed)).filter(|server| !server.is_empty());
            let server = Url::parse(server.as_deref().unwrap_or(address.as_str())).ok();
            found.insert(server.and_then(|url| url.port_or_known_default()).unwrap_or(HTTPS));
        }
        Ok(found)
    }

    /// Returns the engine for the sites of these tasks, if one of them runs in a container.
    fn engine(
        &self,
        suite: &Suite,
        tasks: &[Task],
        workers: usize,
    ) -> Result<Option<EngineSidecar>, Error> {
        if self.told.parts.site_images.is_some() && self.told.engine_image.is_none() {
            let needs =
                "a pod has no engine to load them; name an image of one with --engine-image";
            return Err(lacks(" with --site-images", needs.to_owned()));
        }
        let Some(manifests) = &suite.world.sites else { return Ok(None) };
        let known =
            Site::load_all(manifests).map_err(|source| play::Error::Manifests { source })?;
        let named: BTreeSet<&String> = tasks.iter().flat_map(|task| &task.sites).collect();
        let is_container = |site: &&Site| {
            matches!(site.driver, DriverSpec::Docker(_)) && named.contains(&site.name)
        };
        let containers: Vec<&Site> = known.iter().filter(is_container).collect();
        if containers.is_empty() {
            return Ok(None);
        }
        let names: Vec<&str> = containers.iter().map(|site| site.name.as_str()).collect();
        let image = self.told.engine_image.clone().ok_or_else(|| {
        let needs = format!(
            "these sites run in containers, and a pod has no engine: {}; name an image of one with --engine-image, \
             such as docker:dind",
            names.join(", ")
        );
        lacks("", needs)
    })?;
        let images = self.told.parts.site_images.as_deref();
        // Each worker of a pod may use an instance of every site at the same time.
        let memory = containers.iter().map(|site| site.memory(workers)).sum::<u64>() >> 20;
        Ok(Some(EngineSidecar { image, images: images.map(Utf8Path::to_string), memory }))
    }
}

/// Returns the error of a manifest that lacks `needs`. `with` names the part of the run that needs
/// it.
fn lacks(with: &str, needs: String) -> Error {
    Error::PodsLack { with: with.to_owned(), needs }
}

/// Returns the path without `..`, if the part before it is a name.
fn shortened(path: &Utf8Path) -> Utf8PathBuf {
    path.components().fold(Utf8PathBuf::new(), |mut short, part| {
        let ends_with_a_name =
            matches!(short.components().next_back(), Some(Utf8Component::Normal(_)));
        match part {
            Utf8Component::ParentDir if ends_with_a_name => {
                short.pop();
            }
            part => short.push(part),
        }
        short
    })
}

/// Fails for a path that means another file in a pod.
fn within_claim(path: &Utf8Path) -> Result<(), Error> {
    if path
        .components()
        .all(|part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir))
    {
        return Ok(());
    }
    Err(Error::OutsideClaim { path: path.to_owned() })
}

fn write_new(file: &Utf8Path, manifest: &Manifest) -> Result<(), Error> {
    if file.exists() {
        return Err(Error::ManifestExists { file: file.to_owned() });
    }
    // In JSON, since readers of YAML differ in what `off` and `no` are without quotes.
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": manifest.objects() });
    let text = format!("{list:#}\n");
    let folder = file.parent().map_or_else(Utf8PathBuf::new, Utf8Path::to_owned);
    std::fs::create_dir_all(&folder)
        .map_err(|source| Error::Machine { doing: format!("create {folder}"), source })?;
    std::fs::write(file, text).map_err(|source| Error::Write { path: file.to_owned(), source })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_pods_are_below_the_working_folder() {
        for (path, is_within) in [
            ("tasks/demo", true),
            ("./tasks/demo", true),
            ("tasks/demo/../../snapshots/demo.wacz", true),
            ("../tasks/demo", false),
            ("tasks/../../demo", false),
            ("/tasks/demo", false),
        ] {
            assert_eq!(within_claim(&shortened(Utf8Path::new(path))).is_ok(), is_within, "{path}");
        }
    }
}
