//! `sandbox save`: images out of the container engine into a file.

use std::sync::Arc;

use camino::Utf8PathBuf;
use images::{Event, save};

use crate::failure::Outcome;
use crate::{engine, interrupt, progress};

/// Save images to a file, for machines that reach no registry
///
/// The file is written whole or not at all, and never over another one. `sandbox load` takes it in.
#[derive(clap::Args)]
pub(crate) struct Save {
    /// The images: names of folders under images/, or any images of the engine
    #[arg(value_name = "IMAGE", required = true)]
    images: Vec<String>,
    /// The file to write
    #[arg(short, long, value_name = "FILE.tar")]
    output: Utf8PathBuf,
}

impl Save {
    /// Writes the file and prints what is in it.
    pub(crate) async fn run(self) -> Outcome {
        interrupt::unless_interrupted(self.save(), "interrupted; no file was written").await
    }

    async fn save(&self) -> Outcome {
        let engine = engine::connect().await?;
        let (images, size) = save::resolve(&engine, &self.images).await.map_err(engine::failure)?;
        let bar = progress::bytes(size, self.output.as_str());
        let told = bar.clone();
        let on: images::OnEvent = Arc::new(move |event| {
            if let Event::Bytes(written) = event {
                told.set_position(written);
            }
        });
        let written = save::save(&engine, &images, &self.output, &on).await;
        bar.finish_and_clear();
        println!("{}: {}, {} bytes", self.output, images.join(", "), written.map_err(engine::failure)?);
        Ok(())
    }
}
