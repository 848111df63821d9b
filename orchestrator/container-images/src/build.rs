//! Builds an image from a folder under `images/`.
//!
//! ```text
//!   folder, common files, program ── digest equals the image's label? ── yes ──> up to date
//!                             no │
//!               bases, wheels ── tar stream ──> the engine's classic builder ──> sandbox/<name>:1
//! ```
//!
//! The digest covers the folder, the files of `images/common` that its Dockerfile copies, and the
//! program if the folder is a package. It does not cover the base image or `lock.txt`; `force`
//! rebuilds with newer ones. If the locked Debian packages no longer fit together, the image is
//! built with the current versions.

use std::collections::{HashMap, VecDeque};

use bollard::query_parameters::{BuildImageOptionsBuilder, BuilderVersion};
use camino::{Utf8Path, Utf8PathBuf};
use futures_util::StreamExt;

use crate::context::Context;
use crate::engine::UNHURRIED;
use crate::image_lock::Difference;
use crate::{
    Engine, Error, Event, ImageLock, OnEvent, Recipe, bases, cargo, error, image_lock, log,
    program, wheels,
};

/// The label with the digest of the image's inputs.
pub const INPUTS: &str = "sandbox.inputs";

/// The folders and settings of builds.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder with the recipes and `base.sh`.
    pub images: Utf8PathBuf,
    /// The folder for downloaded wheels, built programs and logs.
    pub cache: Utf8PathBuf,
    /// Whether to rebuild images that are up to date, without the engine's cache.
    pub force: bool,
    /// Whether to use the newest Debian packages instead of those in `lock.txt`.
    pub newest: bool,
}

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Built {
    /// There is a new image.
    New {
        /// Where the image differs from its `lock.txt` and `requirements.txt`.
        differs: Vec<Difference>,
    },
    /// The existing image has the same inputs.
    UpToDate,
}

/// Builds one image, unless it is up to date. Dropping the future stops the engine's build, and the
/// engine removes its containers.
///
/// # Errors
/// When a step of the Dockerfile fails, the image's program does not compile, a required program is
/// not installed, or the disk is full.
pub async fn build(
    engine: &Engine,
    recipe: &Recipe,
    options: &Options,
    on: &OnEvent,
) -> Result<Built, Error> {
    let log = options.cache.join("logs").join(format!("{}.log", recipe.name));
    let built = steps(engine, recipe, options, &log::to_file(&log, on)).await;
    built.map_err(|error| error.logged(&log))
}

async fn steps(
    engine: &Engine,
    recipe: &Recipe,
    options: &Options,
    on: &OnEvent,
) -> Result<Built, Error> {
    let mut context = Context::of(&recipe.folder)?;
    for (name, path) in recipe.common_files()? {
        context = context.with_file(&name, &path)?;
    }
    let locked = ImageLock::of_recipe(recipe)?;
    let machine = machine(engine).await?;
    let context = match cargo::program(recipe, &options.cache, &machine, on).await? {
        Some(program) => context.with_file("program", &program)?,
        None => context,
    };
    let inputs = context.digest().map_err(Error::of_file("read", &recipe.folder))?;
    let before = engine.image(&recipe.tag()).await?;
    let label =
        before.as_ref().and_then(|image| image.config.as_ref()?.labels.as_ref()?.get(INPUTS));
    if label == Some(&inputs) && !options.force {
        return Ok(Built::UpToDate);
    }
    for base in recipe.bases()? {
        bases::provide(engine, &base, &options.images, on).await?;
    }
    let (context, mut differs) = match wheels::fetch(recipe, &options.cache, &machine, on).await? {
        Some(folder) => with_wheels(recipe, context, &folder)?,
        None => (context, Vec::new()),
    };
    let run = async |locked: Option<&ImageLock>| {
        run(engine, recipe, &context, locked, &inputs, options.force, on).await
    };
    let preferred = locked.as_ref().filter(|_| !options.newest);
    match run(preferred).await {
        Err(Error::Step { instruction, .. })
            if preferred.is_some() && instruction.contains("apt-get ") =>
        {
            on(Event::Doing(
                "building with current versions, as those of lock.txt no longer fit together",
            ));
            run(None).await?;
        }
        done => done?,
    }
    // Remove the replaced image, which would otherwise stay without a name. It does stay if a
    // container uses it.
    if let Some(id) = before.and_then(|image| image.id) {
        forget(engine, &recipe.tag(), &id).await?;
    }
    if let Some(locked) = locked {
        differs.extend(locked.differences(&ImageLock::of_image(engine, recipe).await?));
    }
    Ok(Built::New { differs })
}

/// Adds the wheels to the context. Also returns where they differ from the pinned ones.
fn with_wheels(
    recipe: &Recipe,
    context: Context,
    wheels: &Utf8Path,
) -> Result<(Context, Vec<Difference>), Error> {
    let context = context.with("wheels", wheels)?;
    let differs = wheels::differences(recipe, wheels)?;
    match differs.is_empty() {
        true => Ok((context, differs)),
        false => Ok((
            context.instead(wheels::REQUIREMENTS, &wheels.join(wheels::REQUIREMENTS))?,
            differs,
        )),
    }
}

/// The engine's architecture, as compilers and Python name it.
async fn machine(engine: &Engine) -> Result<String, Error> {
    Ok(match engine.architecture().await?.as_str() {
        "amd64" => "x86_64".to_owned(),
        "arm64" => "aarch64".to_owned(),
        other => other.to_owned(),
    })
}

/// Runs the engine's builder once and reports its steps.
async fn run(
    engine: &Engine,
    recipe: &Recipe,
    context: &Context,
    locked: Option<&ImageLock>,
    inputs: &str,
    force: bool,
    on: &OnEvent,
) -> Result<(), Error> {
    let apt = image_lock::apt(locked)?;
    let folder = Utf8Path::from_path(apt.path()).unwrap_or(Utf8Path::new("apt"));
    let context = context.clone().with("apt", folder)?;
    let options = BuildImageOptionsBuilder::new()
        .version(BuilderVersion::BuilderV1)
        .dockerfile("Dockerfile")
        .t(&recipe.tag())
        .labels(&HashMap::from([(INPUTS, inputs)]))
        .nocache(force)
        .rm(true)
        .forcerm(true) // also after failed or interrupted builds
        .build();
    let docker = engine.docker().clone().with_timeout(UNHURRIED);
    let body = bollard::body_try_stream(context.stream());
    let mut answer = std::pin::pin!(docker.build_image(options, None, Some(body)));
    let mut log = Log::new(on.clone());
    while let Some(progress) = answer.next().await {
        match progress {
            Ok(progress) => log.push(&progress.stream.unwrap_or_default()),
            Err(failed) => return Err(log.error(recipe, error::words(&failed))),
        }
    }
    Ok(())
}

async fn forget(engine: &Engine, tag: &str, id: &str) -> Result<(), Error> {
    let now = engine.image(tag).await?.and_then(|image| image.id);
    if now.as_deref() != Some(id) {
        let none = None::<bollard::query_parameters::RemoveImageOptions>;
        if let Err(error) = engine.docker().remove_image(id, none, None).await {
            tracing::debug!(id, %error, "the replaced image stays");
        }
    }
    Ok(())
}

/// Splits the builder's output into steps and lines.
struct Log {
    on: OnEvent,
    /// An incomplete line.
    rest: String,
    /// The number of the step, the number of steps, and the instruction.
    step: Option<(u32, u32, Box<str>)>,
    tail: VecDeque<String>,
}

impl Log {
    fn new(on: OnEvent) -> Log {
        Log { on, rest: String::new(), step: None, tail: VecDeque::new() }
    }

    fn push(&mut self, text: &str) {
        self.rest.push_str(text);
        while let Some((line, rest)) = self.rest.split_once('\n') {
            let (line, rest) = (line.trim_end().to_owned(), rest.to_owned());
            self.rest = rest;
            self.line(line);
        }
    }

    fn line(&mut self, line: String) {
        // Skip the builder's messages about its containers.
        if line.is_empty()
            || line.starts_with(" ---> ")
            || line.starts_with("Removing intermediate container")
        {
            return;
        }
        if let Some((at, of, instruction)) = step(&line) {
            (self.on)(Event::Step { at, of, instruction });
            self.step = Some((at, of, instruction.into()));
            self.tail.clear();
            return;
        }
        (self.on)(Event::Output(&line));
        program::keep(&mut self.tail, line);
    }

    fn error(mut self, recipe: &Recipe, why: String) -> Error {
        self.push("\n");
        let doing = format!("build {}", recipe.name);
        match self.step {
            _ if error::is_disk_full(&why)
                || self.tail.iter().any(|line| error::is_disk_full(line)) =>
            {
                Error::DiskFull { doing, why }
            }
            Some((at, of, instruction)) => {
                let image = recipe.name.clone();
                Error::Step { image, at, of, instruction, why, tail: self.tail.into(), log: None }
            }
            None => Error::Refused { doing, why },
        }
    }
}

/// Parses "Step 3/7 : RUN make".
fn step(line: &str) -> Option<(u32, u32, &str)> {
    let (count, instruction) = line.strip_prefix("Step ")?.split_once(" : ")?;
    let (at, of) = count.split_once('/')?;
    Some((at.parse().ok()?, of.parse().ok()?, instruction))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn after(pieces: &[&str]) -> Error {
        let mut log = Log::new(Arc::new(|_| ()));
        pieces.iter().for_each(|piece| log.push(piece));
        let recipe = Recipe { name: "shop".to_owned(), folder: "images/shop".into() };
        log.error(&recipe, "The command returned a non-zero code: 2".to_owned())
    }

    #[test]
    fn an_error_names_the_step_and_shows_what_it_printed() {
        let error = after(&[
            "Step 1/2 : FROM x\n",
            " ---> abc\n",
            "Step 2/",
            "2 : RUN make\n",
            "cc",
            ": no\nbye",
        ]);
        assert_eq!(
            error.to_string(),
            "build shop: step 2 of 2 (RUN make): exit code 2\n  last words: bye"
        );
    }

    #[test]
    fn a_full_disk_within_a_step_is_told_as_such() {
        let error = after(&["Step 1/1 : RUN dd\n", "dd: error writing: No space left on device\n"]);
        assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    }

    #[test]
    fn before_the_first_step_it_is_the_engine_that_refused() {
        let text = after(&[]).to_string();
        assert_eq!(text, "build shop: The command returned a non-zero code: 2");
    }
}
