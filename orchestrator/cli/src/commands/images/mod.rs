//! `sandbox images`: the container images of the sites.

mod build;
mod load;
mod pull;
mod save;

pub(crate) use build::Build;
pub(crate) use load::Load;
pub(crate) use pull::Pull;
pub(crate) use save::Save;

use crate::failure::Outcome;

/// Container images of the sites: build, pull, save and load them
#[derive(clap::Args)]
pub(crate) struct Images {
    #[command(subcommand)]
    command: ImagesCommand,
}

#[derive(clap::Subcommand)]
enum ImagesCommand {
    Build(Build),
    Pull(Pull),
    Save(Save),
    Load(Load),
}

impl Images {
    /// Runs the command.
    pub(crate) async fn run(self) -> Outcome {
        match self.command {
            ImagesCommand::Build(build) => build.run().await,
            ImagesCommand::Pull(pull) => pull.run().await,
            ImagesCommand::Save(save) => save.run().await,
            ImagesCommand::Load(load) => load.run().await,
        }
    }

    /// Whether all that it makes is for other people to read.
    pub(crate) fn is_public(&self) -> bool {
        matches!(self.command, ImagesCommand::Build(_) | ImagesCommand::Save(_))
    }
}
