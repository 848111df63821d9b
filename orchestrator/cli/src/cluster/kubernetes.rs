//! `sandbox run --on kubernetes`: a run as a manifest, which the user applies.

use std::collections::BTreeSet;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use cluster::kubernetes::{EngineSidecar, Manifest, job_name};
use llm_client::Model;
use results::counted;
use results::parts::input_files;
use runs::parts;
use serde_json::json;
use sites::Site;
use sites::manifest::DriverSpec;
use snapshots::is_address;
use tasks::{Suite, Task};
use url::Url;

use crate::cluster::{arguments, refusals};
use crate::commands::run::Run;
use crate::failure::{Failure, OrFail as _, Outcome};
use crate::remote_run::written_to;
use crate::terminal::out;

/// Parts by default: small ones, on a cluster whose size is not known here.
const MOST_PARTS: usize = 32;
/// Memory of the program itself and of one worker, in MiB.
const PROGRAM: u64 = 512;
const WORKER: u64 = 700;

/// Options that name files and folders, all of which parts read or write.
const PATHS: [&str; 6] =
    ["suite", "output", "model_settings", "judge_settings", "cassette", "site_images"];
/// The port of a model's API, unless its address says another.
const HTTPS: u16 = 443;

/// Writes `kubernetes.json` into the folder of the run, and prints what to do with it.
pub(super) fn write(mut run: Run) -> Outcome {
    let image = run.cluster.image.clone().ok_or_else(|| {
        Failure::Input(
            "failed to run on Kubernetes: name an image with sandbox and Chromium with --image"
                .to_owned(),
        )
    })?;
    refusals::of_parts(&run, "the manifest", "put the variable into the Secret of --secret")?;
    if run.agent.asks_a_server() {
        return Err(Failure::Input(format!(
            "failed to run on Kubernetes with the agent {}: pods cannot reach a server; start the agent in each pod with \
             --agent program:COMMAND",
            run.agent
        )));
    }
    let address = run.output.take_if(|output| is_address(output));
    address.iter().try_for_each(|address| written_to(address))?;
    let address = address.map(|address| Utf8PathBuf::from(address.as_str().trim_end_matches('/')));
    let paths = arguments::paths(&PATHS)?;
    paths.iter().filter(|path| !is_address(path)).try_for_each(|path| within_claim(path))?;
    run.agent.files().into_iter().try_for_each(within_claim)?;
    let suite = run.load()?;
    let judge = run.connect()?;
    let mut ports = ports(&run, &judge)?;
    let options = run.options_with(judge, None)?;
    let tasks = parts::tasks_of(&suite, &options)?;
    let inputs = input_files(&suite, &tasks).or_input("read what parts need")?;
    let (at_addresses, files): (Vec<&Utf8PathBuf>, Vec<&Utf8PathBuf>) =
        inputs.keys().partition(|path| is_address(path));
    files.iter().try_for_each(|path| within_claim(&shortened(path)))?;
    ports.extend(store_ports(&run, address.iter().chain(at_addresses))?);
    ports.sort_unstable();
    ports.dedup();
    let engine = engine(&run, &suite, &tasks)?;
    let folder = parts::folder_of(&suite, &run.agent, &options);
    let most = run.cluster.parts.map_or(MOST_PARTS, |parts| parts as usize);
    // A part has whole tasks.
    let count = most.min(tasks.len()) as u32;
    let workers = run.workers.get() as u32;
    let manifest = Manifest {
        name: job_name(folder.as_str()),
        image,
        claim: run.cluster.claim.clone(),
        arguments: arguments::of_pod()?,
        output: address.as_ref().unwrap_or(&folder).to_string(),
        parts: count,
        parallel: count,
        workers,
        memory: PROGRAM + WORKER * u64::from(workers),
        secret: run.cluster.secret.clone(),
        ports,
        engine,
    };
    let file = folder.join("kubernetes.json");
    write_new(&file, &manifest)?;
    println!("{}", next_steps(&file, &folder, &manifest, tasks.len() * options.repeat as usize));
    Ok(())
}

/// The ports that parts must reach: those of the models' servers, where a Secret has what to ask
/// them with. A program may ask a model by itself.
fn ports(run: &Run, judge: &Model) -> Result<Vec<u16>, Failure> {
    let models = run.agent.models().into_iter().chain([judge]);
    let asked: BTreeSet<u16> =
        models.filter_map(|model| Some(model.client.as_ref()?.port())).collect();
    let needs = match (asked.is_empty(), run.agent_variables.is_empty()) {
        (false, _) => Some(
            "a model is asked, and the pods have no key for it; make a Secret with OPENAI_API_KEY and \
                            OPENAI_BASE_URL",
        ),
        (true, false) => Some(
            "pods have no variables of this environment; make a Secret with those of --agent-env",
        ),
        (true, true) => None,
    };
    if run.cluster.secret.is_none() {
        return needs.map_or(Ok(Vec::new()), |needs| {
            Err(Failure::Input(format!(
                "failed to run on Kubernetes: {needs}, and name it with --secret"
            )))
        });
    }
    if !asked.is_empty() {
        return Ok(asked.into_iter().collect());
    }
    // The Secret may be for an object store alone.
    if needs.is_none() && !run.agent.starts_a_program() {
        return Ok(Vec::new());
    }
    let named = std::env::var("OPENAI_BASE_URL").ok().and_then(|text| Url::parse(&text).ok());
    Ok(vec![named.and_then(|url| url.port_or_known_default()).unwrap_or(HTTPS)])
}

/// The ports of the servers that these addresses are on.
fn store_ports<'a>(
    run: &Run,
    addresses: impl Iterator<Item = &'a Utf8PathBuf>,
) -> Result<BTreeSet<u16>, Failure> {
    let mut found = BTreeSet::new();
    for address in addresses {
        if address.as_str().starts_with("s3://") && run.cluster.secret.is_none() {
            return Err(Failure::Input(format!(
                "failed to run on Kubernetes with {address}: the pods have no credentials for it; make a Secret with \
                 AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL for a server that is not AWS's, and \
                 name it with --secret"
            )));
        }
        let parsed =
            object_files::Address::parse(address.as_str()).or_input("run on Kubernetes")?;
        let server = Some(object_files::server(&parsed)).filter(|server| !server.is_empty());
        let server = Url::parse(server.as_deref().unwrap_or(address.as_str())).ok();
        found.insert(server.and_then(|url| url.port_or_known_default()).unwrap_or(HTTPS));
    }
    Ok(found)
}

/// The engine for the sites of these tasks, where one of them runs in a container.
fn engine(run: &Run, suite: &Suite, tasks: &[Task]) -> Result<Option<EngineSidecar>, Failure> {
    if run.cluster.site_images.is_some() && run.cluster.engine_image.is_none() {
        return Err(Failure::Input(
            "failed to run on Kubernetes with --site-images: a pod has no engine to load them; name an image of one \
             with --engine-image"
                .to_owned(),
        ));
    }
    let Some(manifests) = &suite.world.sites else { return Ok(None) };
    let known = Site::load_all(manifests).or_input("read the sites")?;
    let named: BTreeSet<&String> = tasks.iter().flat_map(|task| &task.sites).collect();
    let is_container =
        |site: &&Site| matches!(site.driver, DriverSpec::Docker(_)) && named.contains(&site.name);
    let containers: Vec<&Site> = known.iter().filter(is_container).collect();
    if containers.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = containers.iter().map(|site| site.name.as_str()).collect();
    let image = run.cluster.engine_image.clone().ok_or_else(|| {
        Failure::Input(format!(
            "failed to run on Kubernetes: these sites run in containers, and a pod has no engine: {}; name an image \
             of one with --engine-image, such as docker:dind",
            names.join(", ")
        ))
    })?;
    let images = run.cluster.site_images.as_deref();
    let memory = containers.iter().map(|site| site.memory(run.workers.get())).sum::<u64>() >> 20;
    Ok(Some(EngineSidecar { image, images: images.map(Utf8Path::to_string), memory }))
}

/// The path without `..`, where what is before it is a name.
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

/// Fails for a path that means something else in a pod.
fn within_claim(path: &Utf8Path) -> Outcome {
    if path
        .components()
        .all(|part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir))
    {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "failed to use {path} in a pod: the claim holds a copy of this folder; name it, here and in the suite, by a path \
         that stays below"
    )))
}

fn write_new(file: &Utf8Path, manifest: &Manifest) -> Outcome {
    if file.exists() {
        return Err(Failure::Input(format!(
            "failed to write {file}: it exists; apply it, or name another --output"
        )));
    }
    // In JSON, since readers of YAML differ in what `off` and `no` are without quotes.
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": manifest.objects() });
    let text = format!("{list:#}\n");
    let folder = file.parent().map_or_else(Utf8PathBuf::new, Utf8Path::to_owned);
    std::fs::create_dir_all(&folder).or_environment(format!("create {folder}"))?;
    std::fs::write(file, text).or_environment(format!("write {file}"))
}

/// What the user does with the manifest.
fn next_steps(file: &Utf8Path, folder: &Utf8Path, manifest: &Manifest, episodes: usize) -> String {
    let Manifest { name, claim, output, .. } = manifest;
    let at_address = is_address(Utf8Path::new(output));
    // A shell fills in the parts: the pattern is outside of what is quoted.
    let (parts, whole) =
        (out::command_line([output.as_str()]), out::command_line([folder.as_str()]));
    let pattern = if at_address { "" } else { "/*" };
    let merge = format!("sandbox merge {parts}/parts{pattern} -o {whole}/whole");
    let then = if at_address { "Then" } else { "Then, with the results copied back" };
    let apply = out::command_line(["kubectl", "apply", "-f", file.as_str()]);
    let episodes = counted(episodes, "episode");
    let parts = counted(manifest.parts as usize, "part");
    let wait = waiting(name);
    format!(
        "{file}: {episodes} in {parts}\n\nWith a copy of this folder in the claim {claim}:\n\n    {apply}\n    {wait}\n\n\
         {then}:\n\n    {merge}"
    )
}

/// A line for a shell that ends when the job does, either way, or is gone. One `kubectl wait` waits
/// for one of the ends alone.
fn waiting(job: &str) -> String {
    format!(
        "while kubectl get job/{job} && ! kubectl wait --for=condition=complete --timeout=60s job/{job} && \
         ! kubectl wait --for=condition=failed --timeout=1s job/{job}; do :; done 2>/dev/null"
    )
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

    /// A stand-in for `kubectl` knows a job that is in this state.
    #[test]
    fn the_printed_line_waits_for_both_ends() {
        let folder = tempfile::tempdir().unwrap();
        let script = "#!/bin/sh\ncase $1:$2 in get:*) [ $STATE != gone ] ;; *:--for=condition=$STATE) ;; *) exit 1 ;; esac\n";
        let program = folder.path().join("kubectl");
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        for state in ["complete", "failed", "gone"] {
            let path = format!("{}:/usr/bin:/bin", folder.path().display());
            let mut shell = std::process::Command::new("timeout");
            shell
                .args(["20", "sh", "-c", &waiting("sandbox-runs-demo")])
                .env("PATH", path)
                .env("STATE", state);
            assert!(shell.status().unwrap().success(), "{state}");
        }
    }
}
