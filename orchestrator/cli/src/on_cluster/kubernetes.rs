//! `sandbox run --scheduler kubernetes`: writes a manifest, and prints what to do with it.

use camino::Utf8Path;
use cluster::kubernetes::{Manifest, PodOptions, PodRun, WrittenManifest, waiting};
use results::counted;
use snapshots::is_address;

use crate::commands::run::Run;
use crate::failure::Outcome;
use crate::on_cluster::arguments;
use crate::terminal::out;

/// Options that name files and folders, all of which parts read or write.
const PATHS: [&str; 6] =
    ["suite", "output", "model_settings", "judge_settings", "cassette", "site_images"];

/// Writes `kubernetes.json` into the folder of the run.
pub(super) fn write(mut run: Run) -> Outcome {
    let options = &run.cluster;
    let told = PodOptions {
        image: options.k8s_image.clone(),
        claim: options.k8s_claim.clone(),
        secret: options.k8s_secret.clone(),
        engine_image: options.engine_image.clone(),
        parts: super::part_options(&run, arguments::of_pod()?),
        address: run.output.take_if(|output| is_address(output)),
        paths: arguments::paths(&PATHS)?,
    };
    let pods = PodRun::new(told, &run.agent)?;
    let suite = run.load()?;
    let judge = run.connect()?;
    let written = pods.write(&suite, &run.agent, &run.options_with(judge, None)?)?;
    println!("{}", next_steps(&written));
    Ok(())
}

/// What the user does with the manifest.
fn next_steps(written: &WrittenManifest) -> String {
    let WrittenManifest { file, folder, manifest, episodes } = written;
    let Manifest { name, claim, output, .. } = manifest;
    let at_address = is_address(Utf8Path::new(output));
    // A shell fills in the parts: the pattern is outside of what is quoted.
    let (parts, whole) =
        (out::command_line([output.as_str()]), out::command_line([folder.as_str()]));
    let pattern = if at_address { "" } else { "/*" };
    let merge = format!("sandbox merge {parts}/parts{pattern} -o {whole}/whole");
    let then = if at_address { "Then" } else { "Then, with the results copied back" };
    let apply = out::command_line(["kubectl", "apply", "-f", file.as_str()]);
    let episodes = counted(*episodes, "episode");
    let parts = counted(manifest.parts as usize, "part");
    let wait = waiting(name);
    format!(
        "{file}: {episodes} in {parts}\n\nWith a copy of this folder in the claim {claim}:\n\n    {apply}\n    {wait}\n\n\
         {then}:\n\n    {merge}"
    )
}
