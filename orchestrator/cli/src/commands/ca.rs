//! `sandbox ca`: the local certificate authority that the gateway signs with.

use gateway::CertificateAuthority;

use crate::failure::{OrFail, Outcome};
use crate::options::DataFolder;

/// Print the certificate of the local certificate authority; make it on first use
///
/// Clients of `sandbox replay` and `sandbox record --listen` must trust this certificate. It is
/// made on this machine, and its key never leaves it. No command adds it to the store of a system
/// or a browser, and neither should you: it can sign for every name. It ends after 90 days, and
/// commands make it anew before that. Remove the folder of --path for another key.
#[derive(clap::Args)]
pub(crate) struct Ca {
    /// Print the path of the certificate file only
    #[arg(long)]
    path: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Ca {
    /// Prints the certificate in PEM form, or its path.
    pub(crate) fn run(self) -> Outcome {
        let folder = self.data.ca()?;
        let ca = CertificateAuthority::load_or_create(&folder)
            .or_environment("load the certificate authority")?;
        if self.path {
            println!(
                "{}",
                ca.certificate_path()
                    .expect("an authority kept in a folder has its certificate there")
            );
        } else {
            print!("{}", ca.certificate_pem());
        }
        Ok(())
    }
}
