//! `sandbox logs`: what the instances of a site have printed.

use crate::failure::Outcome;
use crate::options::DataFolder;
use crate::terminal::clean;
use crate::terminal::interrupt;
use crate::terminal::out;

/// Show the last lines that the instances of a site have printed
#[derive(clap::Args)]
pub(crate) struct Logs {
    /// Name of the site
    site: String,
    /// Continue with new lines, also of new instances, until Ctrl-C
    #[arg(long, short)]
    follow: bool,
    /// Number of lines of each instance
    #[arg(long, value_name = "N", default_value_t = 50)]
    lines: usize,
    #[command(flatten)]
    data: DataFolder,
}

impl Logs {
    /// Prints them, each with the number of its instance.
    pub(crate) async fn run(self) -> Outcome {
        let client = super::client(&self.data)?;
        if self.follow {
            let show = |instance: u32, line: &str| self.print(instance, line);
            let stop = interrupt::token();
            return tokio::select! {
                ended = client.follow(&self.site, self.lines, show) => Ok(ended?),
                () = stop.cancelled() => Ok(()),
                () = out::is_shut() => Ok(()),
            };
        }
        let said = client.logs(&self.site, self.lines).await?;
        for (instance, lines) in said {
            lines.iter().for_each(|line| self.print(instance, line));
        }
        Ok(())
    }

    fn print(&self, instance: u32, line: &str) {
        println!("{}-{instance}  {}", self.site, clean::without_colors(line));
    }
}
