//! `sandbox open`: a browser on a site.

use actions::Action;
use browser::{Cookie, Launch, Session};
use doors::Door;
use gateway::CertificateAuthority;
use processes::desktop;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::gateway_options;
use crate::terminal::interrupt;

/// Open a browser on a site, through the gateway
#[derive(clap::Args)]
pub(crate) struct Open {
    /// Name of the site
    site: String,
    /// Log in as this account of the site's manifest
    #[arg(long, value_name = "ACCOUNT")]
    account: Option<String>,
    #[command(flatten)]
    data: DataFolder,
}

impl Open {
    /// Opens it and waits until the window is closed.
    pub(crate) async fn run(self) -> Outcome {
        let client = super::client(&self.data)?;
        let status = client.status().await?;
        let Some(site) = status.sites.iter().find(|site| site.name == self.site) else {
            let known: Vec<&str> = status.sites.iter().map(|site| site.name.as_str()).collect();
            return Err(super::no_site(&self.site, "among the sites that are up", &known));
        };
        let ca = CertificateAuthority::load_or_create(&self.data.ca()?)
            .or_environment("load the certificate authority")?;
        if !desktop::has_display() {
            return Err(Failure::Environment(format!(
                "failed to open a window: there is no display; to reach {} from a browser elsewhere:\n{}",
                site.url,
                gateway_options::instructions(&status.proxy, &ca)
            )));
        }
        let mut cookies: Vec<(String, Cookie)> = Vec::new();
        if let Some(account) = &self.account {
            let given = client.login(&self.site, account).await?;
            cookies = given.cookies.into_iter().map(|cookie| (site.url.clone(), cookie)).collect();
        }
        let door = Door::at_socket(super::folder(&self.data)?.gateway());
        let launch = Launch { headless: false, ..Launch::new(door, ca.spki_sha256_base64()) };
        let mut session = Session::start(&launch).await.or_environment("start the browser")?;
        session.set_cookies(&cookies).await.or_environment("log in")?;
        let goto = Action::Goto { url: site.url.clone() };
        session.act(&goto).await.or_environment(format!("open {}", site.url))?;
        let stop = interrupt::token();
        tokio::select! {
            () = session.wait_until_closed() => {}
            () = stop.cancelled() => {}
        }
        session.close().await.or_environment("close the browser")
    }
}
