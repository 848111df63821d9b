//! `sandbox images save`: images out of the container engine into a file.

use std::sync::Arc;

use camino::Utf8PathBuf;
use container_images::{Error, Event, Recipe, save};

use crate::engine;
use crate::failure::{Failure, Outcome};
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// Save images to a file, for machines without a registry
///
/// The file is written completely or not at all. `sandbox images load` reads it.
#[derive(clap::Args)]
pub(crate) struct Save {
    /// Images: names of folders under images/, or any images of the engine
    #[arg(value_name = "IMAGE", required_unless_present = "all", requires = "output")]
    names: Vec<String>,
    /// File to write
    #[arg(short, long, value_name = "FILE.tar")]
    output: Option<Utf8PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Save all images that `sandbox images build` builds into this file
    #[arg(long, value_name = "FILE.tar", conflicts_with_all = ["names", "output"])]
    all: Option<Utf8PathBuf>,
    /// Folder that has a folder for each image
    #[arg(long, value_name = "DIR", default_value = "images")]
    images: Utf8PathBuf,
}

impl Save {
    /// Writes the file and prints what is in it.
    pub(crate) async fn run(self) -> Outcome {
        interrupt::unless_interrupted(self.save(), "interrupted; no file was written").await
    }

    async fn save(&self) -> Outcome {
        let (names, output) = match (&self.all, &self.output) {
            (Some(output), _) => (self.built()?, output),
            (None, Some(output)) => (self.names.clone(), output),
            (None, None) => return Err(no_output()),
        };
        out::is_a_path(output)?;
        let engine = engine::connect().await?;
        let resolved = save::resolve(&engine, &names).await;
        let (images, size) = resolved.map_err(|error| self.failure(error))?;
        let bar = progress::bytes(size, output.as_str());
        let shown = bar.clone();
        let on: container_images::OnEvent = Arc::new(move |event| {
            if let Event::Bytes(written) = event {
                shown.set_position(written);
            }
        });
        let written = save::save(&engine, &images, output, self.force, &on).await;
        bar.finish_and_clear();
        println!("{output}: {}, {} bytes", images.join(", "), written?);
        Ok(())
    }

    /// The images of all folders with a recipe.
    fn built(&self) -> Result<Vec<String>, Failure> {
        let recipes = Recipe::find(&self.images, &[])?;
        match recipes.is_empty() {
            true => Err(engine::no_recipe(&self.images)),
            false => Ok(recipes.iter().map(Recipe::tag).collect()),
        }
    }

    /// A set with a hole is not saved as the whole.
    fn failure(&self, error: Error) -> Failure {
        match error {
            Error::Unknown { name, .. } if self.all.is_some() => Failure::Environment(format!(
                "failed to save {name}: it is not built; build it with `sandbox images build`, or name the images to save"
            )),
            error => error.into(),
        }
    }
}

fn no_output() -> Failure {
    Failure::Input("failed to save: no file is named; name it with --output".to_owned())
}
