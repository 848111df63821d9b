//! What a command line says of a cluster.

use camino::Utf8PathBuf;
use cluster::part::SubmissionId;

/// Options of a run on a cluster, and of one of its parts there.
#[derive(clap::Args)]
pub(crate) struct ClusterOptions {
    /// Play the run in parts: as jobs of `slurm`, which needs a shared file system, and whose
    /// options for `sbatch` follow after `--`; or as pods of `kubernetes`, for which a manifest is
    /// written
    #[arg(long, alias = "on", value_name = "SCHEDULER", conflicts_with = "shard")]
    pub(crate) scheduler: Option<Scheduler>,
    /// With --scheduler, number of parts [default: 4 for each worker that Slurm has CPUs for, at
    /// most one per episode; and 32 for Kubernetes, at most one per task]
    #[arg(long, value_name = "N", requires = "scheduler", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) parts: Option<u32>,
    /// With --scheduler slurm, run whose durations balance the parts [default: the newest beside
    /// --output with the same suite and agent; without one, the tasks' largest numbers of actions]
    #[arg(long, value_name = "RUN", requires = "scheduler")]
    pub(crate) durations: Option<Utf8PathBuf>,
    /// With --scheduler kubernetes, image with sandbox and Chromium
    #[arg(long, alias = "image", value_name = "REF", requires = "scheduler")]
    pub(crate) k8s_image: Option<String>,
    /// With --scheduler kubernetes, PersistentVolumeClaim that holds a copy of the working folder:
    /// suite and results have the same relative paths there. Every node must be able to mount it
    #[arg(
        long,
        alias = "claim",
        value_name = "NAME",
        default_value = "sandbox",
        requires = "scheduler"
    )]
    pub(crate) k8s_claim: String,
    /// With --scheduler kubernetes, Secret with OPENAI_API_KEY and OPENAI_BASE_URL, and the
    /// variables of --agent-env. Pods may then reach DNS and the model's port, which is that of
    /// OPENAI_BASE_URL here, or 443; otherwise nothing
    #[arg(long, alias = "secret", value_name = "NAME", requires = "scheduler")]
    pub(crate) k8s_secret: Option<String>,
    /// With --scheduler kubernetes, image with a container engine for sites in containers, such as
    /// docker:dind. It runs beside each part, privileged
    #[arg(long, value_name = "REF", requires = "scheduler")]
    pub(crate) engine_image: Option<String>,
    /// File of `sandbox images save` with the images of the sites, on the file system that all
    /// nodes share, or in the claim. A machine that lacks one of them loads the file, once; one
    /// that has another image under the same name is refused
    #[arg(long, value_name = "FILE.tar")]
    pub(crate) site_images: Option<Utf8PathBuf>,
    /// Plan of the run that this is a part of
    #[arg(long, value_name = "FILE", hide = true, requires = "shard")]
    pub(crate) part_of: Option<Utf8PathBuf>,
    /// Submission of the part, with the plan's token before it
    #[arg(long, value_name = "TOKEN.N", hide = true, requires = "part_of")]
    pub(crate) submission: Option<SubmissionId>,
    /// With --scheduler slurm, options for `sbatch`, such as --partition or --time
    #[arg(last = true, value_name = "SBATCH-OPTIONS", requires = "scheduler")]
    pub(crate) sbatch: Vec<String>,
}

/// Schedulers that play the parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scheduler {
    /// Slurm's `sbatch` and `squeue`.
    Slurm,
    /// An Indexed Job, as a manifest.
    Kubernetes,
}
