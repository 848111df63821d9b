//! The store that an address belongs to.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use parking_lot::Mutex;

use crate::connector::{Client, Connector};
use crate::{Address, Error, Reason};

/// How often a request is sent again, and for how long.
const RETRY: (usize, Duration) = (4, Duration::from_secs(60));

/// A store, and the place of an object in it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    pub(crate) address: Address,
}

/// One store for each bucket and origin, so that objects share connections and credentials.
static STORES: LazyLock<Mutex<HashMap<String, Arc<dyn ObjectStore>>>> =
    LazyLock::new(Mutex::default);

impl Place {
    pub(crate) fn of(address: &Address) -> Result<Place, Error> {
        let origin = address.origin();
        let mut stores = STORES.lock();
        let store = match stores.get(&origin) {
            Some(store) => Arc::clone(store),
            None => {
                let store = make(address, &origin)?;
                stores.insert(origin, Arc::clone(&store));
                store
            }
        };
        drop(stores);
        let path = Path::from_url_path(address.key())
            .map_err(|error| failed("use", address)(error.into()))?;
        Ok(Place { store, path, address: address.clone() })
    }

    /// The error of an operation on the object.
    pub(crate) fn failed(&self, doing: &'static str) -> impl FnOnce(object_store::Error) -> Error {
        failed(doing, &self.address)
    }
}

fn failed(doing: &'static str, address: &Address) -> impl FnOnce(object_store::Error) -> Error {
    let address = address.to_string();
    move |error| Error::Server { doing, address, why: Reason::from(error) }
}

/// The server of S3 that the environment names instead of AWS's.
pub(crate) fn endpoint() -> Option<String> {
    ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
}

fn make(address: &Address, origin: &str) -> Result<Arc<dyn ObjectStore>, Error> {
    let retry = RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: RETRY.0,
        retry_timeout: RETRY.1,
    };
    let reached = if address.is_s3() { endpoint() } else { Some(origin.to_owned()) };
    let route =
        http_client::Route::from_environment(reached.as_deref().unwrap_or("https://amazonaws.com"));
    let http = http_client::client(&route)?;
    let connector = Connector(Client { http, follows: !address.is_s3() });
    if !address.is_s3() {
        let builder =
            HttpBuilder::new().with_url(origin).with_retry(retry).with_http_connector(connector);
        return Ok(Arc::new(builder.build().map_err(failed("use", address))?));
    }
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(address.host())
        .with_retry(retry)
        .with_http_connector(connector);
    if let Some(endpoint) = endpoint() {
        builder = builder.with_endpoint(endpoint);
    }
    Ok(Arc::new(builder.build().map_err(failed("use", address))?))
}
