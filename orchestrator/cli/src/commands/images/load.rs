//! `sandbox images load`: images out of a file into the container engine.

use std::sync::Arc;

use camino::Utf8PathBuf;
use container_images::Event;

use crate::engine;
use crate::failure::{OrFail, Outcome};
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// Load images from a file of `sandbox images save` or `docker save`
///
/// The file can be compressed with gzip, bzip2 or xz. It is streamed, so memory use does not depend
/// on its size.
#[derive(clap::Args)]
pub(crate) struct Load {
    /// Files to load, in order
    #[arg(value_name = "FILE.tar", required = true)]
    files: Vec<Utf8PathBuf>,
    /// Print the names of the images as one JSON document
    #[arg(long)]
    json: bool,
}

impl Load {
    /// Loads the files and prints what was in them.
    pub(crate) async fn run(self) -> Outcome {
        interrupt::unless_interrupted(self.load(), "interrupted; nothing of the file is loaded")
            .await
    }

    async fn load(&self) -> Outcome {
        let mut loaded = Vec::new();
        for file in &self.files {
            let size = std::fs::metadata(file).or_input(format!("read {file}"))?.len();
            let engine = engine::connect().await?;
            let bar = progress::bytes(size, file.as_str());
            let shown = bar.clone();
            let on: container_images::OnEvent = Arc::new(move |event| {
                if let Event::Bytes(sent) = event {
                    shown.set_position(sent);
                }
            });
            let images = container_images::load::load(&engine, file, &on).await;
            bar.finish_and_clear();
            let images = images?;
            if !self.json {
                images.iter().for_each(|image| println!("{image}: loaded"));
            }
            loaded.extend(images);
        }
        if self.json {
            out::json(&loaded);
        }
        Ok(())
    }
}
