//! Objects with a common beginning of their keys, as a folder.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::ObjectStoreExt as _;

use crate::store::Place;
use crate::{Address, Error, Reason, wait};

/// The most objects of a folder that are listed.
const MOST: usize = 5_000_000;
/// How long listing may take.
const LISTED: Duration = Duration::from_secs(600);

/// A folder of a store.
#[derive(Debug, Clone)]
pub struct RemoteFolder {
    place: Place,
}

/// An object in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Its path in the folder, such as `episodes/tea-1/episode.json`.
    pub path: String,
    /// Its length in bytes.
    pub length: u64,
    /// What tells this state of it from others: its entity tag, or else its date.
    pub version: String,
}

impl RemoteFolder {
    /// The folder at an address. It needs no objects.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn at(address: &Address) -> Result<RemoteFolder, Error> {
        Ok(RemoteFolder { place: Place::of(address)? })
    }

    /// Its address.
    pub fn address(&self) -> &Address {
        &self.place.address
    }

    /// The address of an object in it.
    ///
    /// # Errors
    /// When the path cannot be in an address.
    pub fn object(&self, path: &str) -> Result<Address, Error> {
        let key = format!("{}/{path}", self.place.path);
        let encoded: String =
            url::form_urlencoded::byte_serialize(key.trim_start_matches('/').as_bytes()).collect();
        let encoded = encoded.replace("%2F", "/").replace('+', "%20");
        Address::parse(&format!("{}/{encoded}", self.place.address.origin()))
    }

    /// All objects in it, sorted by their paths.
    ///
    /// # Errors
    /// When the server does not answer or allow it.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let place = self.place.clone();
        let listed = wait::block_on(async move {
            let listed = place.store.list(Some(&place.path)).take(MOST + 1).try_collect::<Vec<_>>();
            match tokio::time::timeout(LISTED, listed).await {
                Ok(Ok(found)) if found.len() > MOST => {
                    let why = Reason::Other(format!("it has more than {MOST} objects"));
                    Err(Error::Server { doing: "list", address: place.address.to_string(), why })
                }
                Ok(found) => found.map_err(place.failed("list")),
                Err(_) => {
                    let why = Reason::Other(format!(
                        "the server has not sent all names within {} s",
                        LISTED.as_secs()
                    ));
                    Err(Error::Server { doing: "list", address: place.address.to_string(), why })
                }
            }
        });
        let mut listed: Vec<Listed> = listed
            .map_err(Error::local("start", "a request"))??
            .into_iter()
            .filter_map(|object| {
                let path =
                    object.location.as_ref().strip_prefix(self.place.path.as_ref())?.to_owned();
                let version = object.e_tag.unwrap_or_else(|| object.last_modified.to_rfc3339());
                Some(Listed {
                    path: path.trim_start_matches('/').to_owned(),
                    length: object.size,
                    version,
                })
            })
            .collect();
        listed.sort();
        Ok(listed)
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// When the server does not answer or allow it.
    pub fn remove(&self, path: &str) -> Result<(), Error> {
        let place = Place::of(&self.object(path)?)?;
        let removed = wait::block_on(async move {
            match place.store.delete(&place.path).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                other => other.map_err(place.failed("remove")),
            }
        });
        removed.map_err(Error::local("start", "a request"))?
    }
}
