//! `sandbox down`: ends the town, and clears away what dead ones have left.

use std::time::{Duration, Instant};

use images::Engine;
use runs::counted;
use sites::Whose;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;

/// How long a town may take to end.
const WITHIN: Duration = Duration::from_secs(120);
const ASK: Duration = Duration::from_millis(50);

/// End the town: no container, network, process or folder of its sites is left
#[derive(clap::Args)]
pub(crate) struct Down {
    /// End every other town and run on this machine that has containers too, and remove what they leave
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Down {
    /// Ends it; nothing being up is no error.
    pub(crate) async fn run(self) -> Outcome {
        let was_up = end(&self.data).await?;
        println!("{}", if was_up { "the town is down" } else { "no town was up" });
        super::folder(&self.data).sweep().await.map_err(super::failure)?;
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            // Without an engine there is nothing of it.
            Err(_) => return Ok(()),
        };
        let whose = if self.all { Whose::All } else { Whose::Orphans };
        let swept = match sites::sweep(&engine, whose).await {
            // What others have left does not make this town any less down.
            Err(error) if !self.all => {
                tracing::warn!(%error, "what dead towns have left could not be removed");
                return Ok(());
            }
            swept => swept.or_environment("remove what was left")?,
        };
        if swept != sites::Swept::default() {
            println!(
                "removed {} and {}",
                counted(swept.containers, "container"),
                counted(swept.networks, "network")
            );
        }
        Ok(())
    }
}

/// Ends a town and waits until nothing is left of it; whether there was one.
pub(super) async fn end(data: &DataFolder) -> Result<bool, Failure> {
    let folder = super::folder(data);
    let mut was_up = false;
    let began = Instant::now();
    let mut ask = tokio::time::interval(ASK);
    while folder.is_held().map_err(super::failure)? {
        was_up = true;
        match super::client(data).stop().await {
            // It has heard, cannot hear yet, or hears no more.
            Ok(()) | Err(::town::Error::NotUp | ::town::Error::Talk(_)) => {}
            Err(error) => return Err(super::failure(error)),
        }
        if began.elapsed() > WITHIN {
            return Err(Failure::Environment(anyhow::anyhow!("the town was not down within {WITHIN:?}")));
        }
        ask.tick().await;
    }
    Ok(was_up)
}
