//! Driver for external sites. They run already, and we cannot start, reset or stop them.

use futures_util::FutureExt;
use futures_util::future::{self, BoxFuture};
use url::Url;

use super::{Driver, InstanceRuntime, refuse};
use crate::clock::Clock;
use crate::content::Content;
use crate::instance::Instance;
use crate::manifest::ExternalSpec;
use crate::{Error, Site, SiteTarget};

pub(crate) struct External {
    url: Url,
}

impl External {
    pub(crate) fn new(site: &Site, spec: &ExternalSpec) -> Result<External, Error> {
        let url = spec.url.as_str();
        let inconsistent = |why: String| Error::Senseless { site: site.name.clone(), why };
        let url: Url =
            url.parse().map_err(|error| inconsistent(format!("{url:?} is no URL: {error}")))?;
        if !url.has_host() || !matches!(url.scheme(), "http" | "https") {
            return Err(inconsistent(format!("{url} is no URL of a web server")));
        }
        // Validated here, where an error can name the site.
        let roots: Vec<_> = site.authority_file().into_iter().collect();
        http_client::ClientTls::new(&roots)
            .map_err(|error| inconsistent(format!("failed to {error}")))?;
        Ok(External { url })
    }
}

impl Driver for External {
    fn start(&self, id: u32) -> BoxFuture<'_, Result<Instance, Error>> {
        let upstream = SiteTarget::Url(self.url.clone());
        future::ready(Ok(Instance::new(
            id,
            upstream,
            Clock::Real,
            Content::Elsewhere,
            Box::new(ExternalRuntime),
        )))
        .boxed()
    }
}

struct ExternalRuntime;

impl InstanceRuntime for ExternalRuntime {
    fn exec<'a>(
        &'a self,
        command: &'a [String],
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, Error>> {
        refuse(command, "the site is not on this machine")
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), Error>> {
        future::ready(Ok(())).boxed()
    }
}
