//! `sandbox run --on kubernetes`: a run as a manifest, which the user applies.

use std::collections::BTreeSet;

use ::cluster::kubernetes::{EngineSidecar, Manifest, job_name};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use runs::counted;
use runs::parts;
use sites::Site;
use sites::manifest::DriverSpec;
use tasks::{Suite, Task};

use crate::cluster::arguments;
use crate::failure::{Failure, OrFail as _, Outcome};
use crate::run::Run;
use crate::{out, tasks as suites};

/// Parts by default: small ones, on a cluster whose size is not known here.
const MOST_PARTS: usize = 32;
/// Memory of the program itself and of one worker, in MiB.
const PROGRAM: u64 = 512;
const WORKER: u64 = 700;

/// Writes `kubernetes.yaml` into the folder of the run, and prints what to do with it.
pub(super) fn write(mut run: Run) -> Outcome {
    let suite = suites::load(&run.suite)?;
    let asks = run.agent.asks_a_model() || run.scoring.names_a_judge();
    if asks && run.cluster.secret.is_none() {
        return Err(Failure::Input(
            "failed to run on Kubernetes: a model is asked, and the pods have no key for it; make a Secret with \
             OPENAI_API_KEY and OPENAI_BASE_URL, and name it with --secret"
                .to_owned(),
        ));
    }
    if !run.cluster.sbatch.is_empty() || run.cluster.durations.is_some() {
        return Err(Failure::Input(
            "failed to run on Kubernetes: options after `--` and --durations are for Slurm".into(),
        ));
    }
    let image = run.cluster.image.clone().ok_or_else(|| {
        Failure::Input(
            "failed to run on Kubernetes: name an image with sandbox and Chromium with --image".to_owned(),
        )
    })?;
    let judge = run.connect()?;
    let options = run.options_with(judge, None)?;
    let tasks = parts::tasks_of(&suite, &options)?;
    let engine = engine(&run, &suite, &tasks)?;
    within_claim(&run.suite)?;
    let folder = parts::folder_of(&suite, &run.agent, &options);
    within_claim(&folder)?;
    let episodes = tasks.len() * options.repeat as usize;
    let count = run.cluster.parts.map_or(episodes.min(MOST_PARTS), |parts| (parts as usize).min(episodes));
    let workers = run.workers.get() as u32;
    let manifest = Manifest {
        name: job_name(folder.as_str()),
        image,
        claim: run.cluster.claim.clone(),
        arguments: arguments::of_part()?,
        output: folder.to_string(),
        parts: count as u32,
        parallel: count as u32,
        workers,
        memory: PROGRAM + WORKER * u64::from(workers),
        secret: run.cluster.secret.clone(),
        engine,
    };
    let file = folder.join("kubernetes.yaml");
    write_new(&file, &manifest)?;
    print(&file, &manifest, episodes);
    Ok(())
}

/// The engine for the sites of these tasks, where one of them runs in a container.
fn engine(run: &Run, suite: &Suite, tasks: &[Task]) -> Result<Option<EngineSidecar>, Failure> {
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
    images.map_or(Ok(()), within_claim)?;
    let memory = containers.iter().map(|site| site.memory(run.workers.get())).sum::<u64>() >> 20;
    Ok(Some(EngineSidecar { image, images: images.map(Utf8Path::to_string), memory }))
}

/// Fails for a path that means something else in a pod.
fn within_claim(path: &Utf8Path) -> Outcome {
    if path.components().all(|part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir)) {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "failed to use {path} in a pod: name it from the working folder down, a copy of which the claim holds"
    )))
}

fn write_new(file: &Utf8Path, manifest: &Manifest) -> Outcome {
    if file.exists() {
        return Err(Failure::Input(format!(
            "failed to write {file}: it exists; apply it, or name another --output"
        )));
    }
    let documents: Result<Vec<String>, _> = manifest.objects().iter().map(serde_yaml::to_string).collect();
    let text = documents.or_environment(format!("write {file}"))?.join("---\n");
    let folder = file.parent().map_or_else(Utf8PathBuf::new, Utf8Path::to_owned);
    std::fs::create_dir_all(&folder).or_environment(format!("create {folder}"))?;
    std::fs::write(file, text).or_environment(format!("write {file}"))
}

fn print(file: &Utf8Path, manifest: &Manifest, episodes: usize) {
    let Manifest { name, claim, output, .. } = manifest;
    let parts = counted(manifest.parts as usize, "part");
    println!("{file}: {} in {parts}\n", counted(episodes, "episode"));
    println!("With a copy of this folder in the claim {claim}:\n");
    let file = out::command_line(["kubectl", "apply", "-f", file.as_str()]);
    println!("    {file}\n    kubectl wait --for=condition=complete --timeout=24h job/{name}\n");
    println!("Then, with the results copied back:\n\n    sandbox merge {output}/parts/* -o {output}/whole");
}
