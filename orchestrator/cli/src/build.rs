//! `sandbox build`: the folders under `images/` into container images.

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8PathBuf;
use images::build::{self, Built, Options};
use images::{Event, OnEvent, Recipe};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::engine::{self, CacheFolder};
use crate::failure::{Failure, Outcome};
use crate::{interrupt, progress};

/// Build the container images of the sites
///
/// Each folder under images/ becomes the image sandbox/NAME:1. What has not changed is not built again. Needs a
/// container engine and a Debian mirror; base images come from a registry, or from the mirror where none answers.
#[derive(clap::Args)]
pub(crate) struct Build {
    /// Which [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Build what is up to date too, from the first step
    #[arg(long)]
    force: bool,
    /// The folder with a folder per image
    #[arg(long, value_name = "DIR", default_value = "images")]
    images: Utf8PathBuf,
    #[command(flatten)]
    cache: CacheFolder,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// One line of the report.
#[derive(Serialize)]
struct Line {
    image: String,
    built: bool,
    seconds: f64,
}

impl Build {
    /// Builds one image after another and stops at the first that fails.
    pub(crate) async fn run(self) -> Outcome {
        let recipes = Recipe::find(&self.images, &self.names).map_err(engine::failure)?;
        let options = Options { images: self.images.clone(), cache: self.cache.path(), force: self.force };
        let work = self.build(&recipes, &options);
        interrupt::unless_interrupted(
            work,
            "interrupted; the same command goes on after the last finished step",
        )
        .await
    }

    async fn build(&self, recipes: &[Recipe], options: &Options) -> Outcome {
        let engine = engine::connect().await?;
        let mut lines = Vec::new();
        for recipe in recipes {
            let began = Instant::now();
            let bar = progress::spinner(&recipe.name);
            let built = build::build(&engine, recipe, options, &show(&recipe.name, &bar)).await;
            bar.finish_and_clear();
            let built = built.map_err(engine::failure)? == Built::New;
            let line = Line { image: recipe.tag(), built, seconds: began.elapsed().as_secs_f64() };
            if !self.json {
                line.print();
            }
            lines.push(line);
        }
        if self.json {
            println!("{}", serde_json::to_string_pretty(&lines).expect("lines are plain data"));
        }
        if lines.is_empty() {
            return Err(Failure::Input(anyhow::anyhow!("{}: no folder with a Dockerfile", self.images)));
        }
        Ok(())
    }
}

impl Line {
    fn print(&self) {
        match self.built {
            true => println!("{}: built in {:.0} s", self.image, self.seconds),
            false => println!("{}: up to date", self.image),
        }
    }
}

/// A line that shows the step, and behind it what the step prints.
fn show(name: &str, bar: &ProgressBar) -> OnEvent {
    let (name, bar) = (name.to_owned(), bar.clone());
    let doing = std::sync::Mutex::new(String::new());
    Arc::new(move |event| {
        let mut doing = doing.lock().expect("no holder panics");
        match event {
            Event::Doing(what) => {
                tracing::info!(image = name, "{what}");
                *doing = format!("{name}: {what}");
                bar.set_message(doing.clone());
            }
            Event::Step { at, of, instruction } => {
                tracing::info!(image = name, "step {at} of {of}: {instruction}");
                *doing = format!("{name} {at}/{of} {instruction}");
                bar.set_message(doing.clone());
            }
            Event::Output(line) => {
                tracing::debug!(image = name, "{line}");
                bar.set_message(format!("{doing}: {line}"));
            }
            Event::Layer { id, doing: what, bytes } => {
                let count = bytes.map_or(String::new(), |(done, all)| format!(" {done}/{all}"));
                bar.set_message(format!("{doing}: layer {id}: {what}{count}"));
            }
            Event::Bytes(_) => {}
        }
    })
}
