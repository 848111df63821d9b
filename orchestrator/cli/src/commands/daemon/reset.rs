//! `sandbox reset`: sites as on the first day.

use crate::failure::Outcome;
use crate::options::DataFolder;

/// Reset sites: browsers get a pristine instance at once, and the used one is reset in the
/// background
#[derive(clap::Args)]
pub(crate) struct Reset {
    /// Sites to reset [default: all that are up]
    #[arg(value_name = "SITE")]
    names: Vec<String>,
    #[command(flatten)]
    data: DataFolder,
}

impl Reset {
    /// Resets one after the other, and says how long each took.
    pub(crate) async fn run(self) -> Outcome {
        let client = super::client(&self.data)?;
        let names = if self.names.is_empty() {
            let status = client.status().await?;
            status.sites.into_iter().map(|site| site.name).collect()
        } else {
            self.names
        };
        for name in names {
            let took = client.reset(&name).await?;
            println!("{name}  {took:.1} ms");
        }
        Ok(())
    }
}
