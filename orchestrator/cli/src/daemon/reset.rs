//! `sandbox reset`: sites as on the first day.

use crate::failure::Outcome;
use crate::options::DataFolder;

/// Make sites pristine: browsers get another copy at once, and the used one is put back
#[derive(clap::Args)]
pub(crate) struct Reset {
    /// Sites to reset; all that are up when none is named
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
