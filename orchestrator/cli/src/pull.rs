//! `sandbox pull`: images from a registry, pinned by content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use camino::Utf8PathBuf;
use images::lock::Lock;
use images::{Event, OnEvent, pull};
use indicatif::{MultiProgress, ProgressBar};
use serde::Serialize;

use crate::failure::{Failure, Outcome};
use crate::{engine, interrupt, progress};

/// Pull container images, and hold them to their content
///
/// The digest of an image is written down when it is first pulled. Later pulls, here and elsewhere, refuse anything
/// else under its name. Broken connections are taken up again.
#[derive(clap::Args)]
pub(crate) struct Pull {
    /// Which [default: all that are pinned]
    #[arg(value_name = "IMAGE")]
    images: Vec<String>,
    /// Accept that an image has changed, and pin its new content
    #[arg(long)]
    update: bool,
    /// Where the digests are kept
    #[arg(long, value_name = "FILE", default_value = "sites/images.lock")]
    lock: Utf8PathBuf,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// One line of the report.
#[derive(Serialize)]
struct Line {
    image: String,
    digest: String,
    pulled: bool,
}

impl Pull {
    /// Pulls one image after another; layers of one come side by side.
    pub(crate) async fn run(self) -> Outcome {
        interrupt::unless_interrupted(self.pull(), "interrupted; the same command fetches what is missing")
            .await
    }

    async fn pull(&self) -> Outcome {
        let mut lock = Lock::open(&self.lock)?;
        let images = match self.images.is_empty() {
            true => lock.images().map(str::to_owned).collect(),
            false => self.images.clone(),
        };
        if images.is_empty() {
            return Err(Failure::Input(format!("failed to pull: {} pins no image yet; name one", self.lock)));
        }
        let engine = engine::connect().await?;
        let mut lines = Vec::new();
        for image in images {
            let bars = MultiProgress::new();
            let pulled = pull::pull(&engine, &image, &mut lock, self.update, &show(&image, &bars)).await;
            // Without a terminal there is nothing to clear.
            let _ = bars.clear();
            let pulled = pulled?;
            let line = Line { image, digest: pulled.digest, pulled: !pulled.present };
            if !self.json {
                let what = if line.pulled { "pulled" } else { "up to date" };
                println!("{}: {what}, {}", line.image, line.digest);
            }
            lines.push(line);
        }
        if self.json {
            println!("{}", serde_json::to_string_pretty(&lines).expect("lines are plain data"));
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
        let mut layers = layers.lock().expect("no holder panics");
        let bar = layers.entry(id.to_owned()).or_insert_with(|| bars.add(progress::bytes(0, "")));
        bar.set_message(format!("{id} {doing}"));
        if let Some((done, all)) = bytes {
            bar.set_length(all);
            bar.set_position(done);
        }
    })
}
