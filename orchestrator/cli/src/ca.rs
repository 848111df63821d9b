//! `sandbox ca`: the local certificate authority that the gateway signs with.

use gateway::CertificateAuthority;

use crate::failure::{OrFail, Outcome};
use crate::options::DataFolder;

/// Show the local certificate authority, making it on first use
///
/// Clients that go through `sandbox replay` or `sandbox record --listen` must trust this certificate. It was made on
/// this machine, its key never leaves it, and nothing here ever adds it to a system or browser store.
#[derive(clap::Args)]
pub(crate) struct Ca {
    /// Print only the path of the certificate file
    #[arg(long)]
    path: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Ca {
    /// Prints the certificate in PEM form, or its path.
    pub(crate) fn run(self) -> Outcome {
        let folder = self.data.ca()?;
        let ca =
            CertificateAuthority::load_or_create(&folder).or_environment("load the certificate authority")?;
        if self.path {
            println!(
                "{}",
                ca.certificate_path().expect("an authority kept in a folder has its certificate there")
            );
        } else {
            print!("{}", ca.certificate_pem());
        }
        Ok(())
    }
}
