//! `sandbox images pull`: images from a registry, pinned by content.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use container_images::lock::Lock;
use container_images::{Event, OnEvent, pull};
use indicatif::{MultiProgress, ProgressBar};
use parking_lot::Mutex;
use serde::Serialize;

use crate::engine;
use crate::failure::{Failure, Outcome};
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// Pull container images, and pin their content
///
/// The first pull of an image writes its digest to the lock file. Later pulls, here and elsewhere,
/// refuse any other content under its name. Broken downloads are resumed.
#[derive(clap::Args)]
pub(crate) struct Pull {
    /// Images to pull [default: all that are pinned]
    #[arg(value_name = "IMAGE")]
    images: Vec<String>,
    /// Accept changed images, and pin their new content
    #[arg(long)]
    update: bool,
    /// Lock file with the digests
    #[arg(long, value_name = "FILE", default_value = "sites/images.lock")]
    lock: Utf8PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// One line of the report.
#[derive(Serialize)]
struct ImageReport {
    image: String,
    digest: String,
    pulled: bool,
}

impl Pull {
    /// Pulls one image after another; layers of one come side by side.
    pub(crate) async fn run(self) -> Outcome {
        interrupt::unless_interrupted(
            self.pull(),
            "interrupted; the same command fetches what is missing",
        )
        .await
    }

    async fn pull(&self) -> Outcome {
        let mut lock = Lock::open(&self.lock)?;
        let images = match self.images.is_empty() {
            true => lock.images().map(str::to_owned).collect(),
            false => self.images.clone(),
        };
        if images.is_empty() {
            return Err(Failure::Input(format!(
                "failed to pull: {} pins no image yet; name one",
                self.lock
            )));
        }
        let engine = engine::connect().await?;
        let mut lines = Vec::new();
        for image in images {
            let bars = MultiProgress::new();
            let pulled =
                pull::pull(&engine, &image, &mut lock, self.update, &show(&image, &bars)).await;
            // Without a terminal there is nothing to clear.
            let _ = bars.clear();
            let pulled = pulled?;
            let line = ImageReport { image, digest: pulled.digest, pulled: !pulled.present };
            if !self.json {
                let what = if line.pulled { "pulled" } else { "up to date" };
                println!("{}: {what}, {}", line.image, line.digest);
            }
            lines.push(line);
        }
        if self.json {
            out::json(&lines);
        }
        Ok(())
    }
}

/// A bar per layer.
fn show(image: &str, bars: &MultiProgress) -> OnEvent {
    let (image, bars) = (image.to_owned(), bars.clone());
    let layers: Mutex<HashMap<String, ProgressBar>> = Mutex::default();
    Arc::new(move |event| {
        let Event::Layer { id, doing, bytes } = event else { return };
        tracing::debug!(image, layer = id, "{doing}");
        let mut layers = layers.lock();
        let bar = layers.entry(id.to_owned()).or_insert_with(|| bars.add(progress::bytes(0, "")));
        progress::say(bar, format!("{id} {doing}"));
        if let Some((done, all)) = bytes {
            bar.set_length(all);
            bar.set_position(done);
        }
    })
}
