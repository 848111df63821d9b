//! Base images of Dockerfiles: present already, pulled, or made locally from a Debian mirror.

use std::time::Duration;

use camino::Utf8Path;
use tokio::process::Command;

use crate::{Engine, Error, Event, OnEvent, program, pull};

/// Time limit for a registry to say that it has an image. An unreachable registry often does not
/// answer at all.
const REGISTRY_ANSWERS_WITHIN: Duration = Duration::from_secs(8);

/// Makes sure that the engine has `base`. `images` is the folder with `base.sh`.
///
/// The engine pulls bases other than Debian's itself, during the build.
pub(crate) async fn provide(
    engine: &Engine,
    base: &str,
    images: &Utf8Path,
    on: &OnEvent,
) -> Result<(), Error> {
    let Some(suite) = base.strip_prefix("debian:").and_then(|tag| tag.strip_suffix("-slim")) else {
        return Ok(());
    };
    if engine.image(base).await?.is_some() {
        return Ok(());
    }
    on(Event::Doing(&format!("asking the registry for {base}")));
    let answer = tokio::time::timeout(REGISTRY_ANSWERS_WITHIN, pull::digest_of(engine, base)).await;
    if let Ok(Ok(_)) = answer {
        on(Event::Doing(&format!("pulling {base}")));
        return pull::fetch(engine, base, on).await;
    }
    tracing::info!(?answer, "no registry answers for {base}");
    make(engine, suite, images, on).await
}

/// Makes the base with `base.sh`, which needs mmdebstrap and a Debian mirror.
async fn make(engine: &Engine, suite: &str, images: &Utf8Path, on: &OnEvent) -> Result<(), Error> {
    let doing = format!("make debian:{suite}-slim from a Debian mirror, as no registry answers");
    on(Event::Doing(&format!("making debian:{suite}-slim from a Debian mirror")));
    let script = images.join("base.sh");
    let mut command = Command::new("sh");
    command.arg(&script).arg(suite).env("DOCKER_HOST", engine.host());
    let ended = program::run(&mut command, on).await.map_err(Error::of_file("run", &script))?;
    match ended.status.code() {
        Some(0) => Ok(()),
        Some(3) => Err(Error::Missing {
            program: "mmdebstrap or docker, which images/base.sh needs",
            install: "sudo apt-get install -y mmdebstrap docker.io",
        }),
        _ => Err(Error::Program {
            doing,
            program: "images/base.sh",
            status: ended.status,
            tail: ended.tail,
            log: None,
        }),
    }
}
