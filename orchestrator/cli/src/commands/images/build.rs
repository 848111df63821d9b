//! `sandbox images build`: the folders under `images/` into container images.

use std::sync::Arc;
use std::time::Instant;

use camino::Utf8PathBuf;
use container_images::build::{self, Built, Options};
use container_images::{Engine, Event, ImageLock, OnEvent, Recipe};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::engine;
use crate::failure::{Failure, Outcome};
use crate::options::CacheFolder;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// Build the container images of the sites
///
/// Each folder under images/ becomes the image sandbox/NAME:1. Unchanged images are not built
/// again. The build needs a container engine and a Debian mirror. Base images come from a registry,
/// or from the mirror if no registry answers. The versions in a folder's lock.txt are preferred. If
/// one is gone, the newest is used, and the difference is printed. An image that fails does not
/// stop the others.
#[derive(clap::Args)]
pub(crate) struct Build {
    /// Images to build [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Build every image from its first step, even if it is up to date
    #[arg(long)]
    force: bool,
    /// Build with the newest versions, and write them into each folder's lock.txt
    #[arg(long)]
    lock: bool,
    /// Folder that has a folder for each image
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
struct ImageReport {
    image: String,
    built: bool,
    seconds: f64,
    /// Packages that have another version than the one locked, and the golden state if it is
    /// another one.
    differs: Vec<String>,
    /// Why there is no image, and where the log is.
    error: Option<String>,
}

/// How many packages with other versions are named.
const NAMED: usize = 8;

impl Build {
    /// Builds one image after another. What fails is told at once, and named again at the end.
    pub(crate) async fn run(self) -> Outcome {
        let recipes = Recipe::find(&self.images, &self.names)?;
        let options = Options {
            images: self.images.clone(),
            cache: self.cache.path()?,
            force: self.force,
            newest: self.lock,
        };
        let work = self.build(&recipes, &options);
        interrupt::unless_interrupted(
            work,
            "interrupted; the same command continues after the last finished step",
        )
        .await
    }

    async fn build(&self, recipes: &[Recipe], options: &Options) -> Outcome {
        let engine = engine::connect().await?;
        let (mut lines, mut failed) = (Vec::new(), Vec::new());
        for recipe in recipes {
            let began = Instant::now();
            let bar = progress::spinner(&recipe.name);
            let built = self.one(&engine, recipe, options, &bar).await;
            bar.finish_and_clear();
            let mut line = ImageReport {
                image: recipe.tag(),
                built: matches!(built, Ok(Built::New { .. })),
                seconds: began.elapsed().as_secs_f64(),
                differs: Vec::new(),
                error: None,
            };
            match built {
                Ok(Built::New { differs }) => {
                    line.differs = differs.iter().map(ToString::to_string).collect();
                }
                Ok(Built::UpToDate) => {}
                Err(error) => {
                    line.error = Some(error.to_string());
                    let failure = Failure::from(error);
                    failure.print();
                    failed.push((recipe.name.as_str(), failure.code()));
                }
            }
            if !self.json {
                line.print();
            }
            lines.push(line);
        }
        if self.json {
            out::json(&lines);
        }
        if lines.is_empty() {
            return Err(engine::no_recipe(&self.images));
        }
        outcome(&failed, lines.len())
    }

    async fn one(
        &self,
        engine: &Engine,
        recipe: &Recipe,
        options: &Options,
        bar: &ProgressBar,
    ) -> Result<Built, container_images::Error> {
        let built = build::build(engine, recipe, options, &show(&recipe.name, bar)).await?;
        if self.lock {
            ImageLock::of_image(engine, recipe).await?.write(recipe)?;
        }
        Ok(built)
    }
}

/// Names the images that failed, where there were several. Why each failed is printed already. The
/// exit code is that of the failures where they agree, and "no" otherwise.
fn outcome(failed: &[(&str, u8)], images: usize) -> Outcome {
    let Some((_, first)) = failed.first() else { return Ok(()) };
    if images > 1 {
        let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
        out::error(&format!(
            "failed to build {} of {images} images: {}",
            names.len(),
            names.join(", ")
        ));
    }
    let agreed = failed.iter().all(|(_, code)| code == first);
    Err(Failure::Reported(if agreed { *first } else { 1 }))
}

impl ImageReport {
    fn print(&self) {
        match (&self.error, self.built) {
            (Some(_), _) => return,
            (None, true) => println!("{}: built in {:.0} s", self.image, self.seconds),
            (None, false) => println!("{}: up to date", self.image),
        }
        if !self.differs.is_empty() {
            let (named, more) = self.differs.split_at(self.differs.len().min(NAMED));
            let more = match more.len() {
                0 => String::new(),
                more => format!(", and {more} more (--json names all)"),
            };
            println!("  not as it was locked: {}{more}", named.join(", "));
        }
    }
}

/// A line that shows the step, and behind it what the step prints.
fn show(name: &str, bar: &ProgressBar) -> OnEvent {
    let (name, bar) = (name.to_owned(), bar.clone());
    let doing = parking_lot::Mutex::new(String::new());
    Arc::new(move |event| {
        let mut doing = doing.lock();
        match event {
            Event::Doing(what) => {
                tracing::info!(image = name, "{what}");
                *doing = format!("{name}: {what}");
                progress::say(&bar, doing.clone());
            }
            Event::Step { at, of, instruction } => {
                tracing::info!(image = name, "step {at} of {of}: {instruction}");
                *doing = format!("{name} {at}/{of} {instruction}");
                progress::say(&bar, doing.clone());
            }
            Event::Output(line) => {
                tracing::debug!(image = name, "{line}");
                progress::say(&bar, format!("{doing}: {line}"));
            }
            Event::Layer { id, doing: what, bytes } => {
                let count = bytes.map_or(String::new(), |(done, all)| format!(" {done}/{all}"));
                progress::say(&bar, format!("{doing}: layer {id}: {what}{count}"));
            }
            Event::Bytes(_) => {}
        }
    })
}
