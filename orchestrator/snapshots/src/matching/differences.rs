//! Lists the differences between a request and a recorded one, in words for the miss page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use url::Url;

use super::ReplayRequest;
use super::leaves::{Leaf, Place, leaves};

/// The maximum number of listed differences.
const MAX_DIFFERENCES: usize = 24;
/// The maximum length of a displayed value.
const MAX_SHOWN: usize = 80;

/// One difference. `requested` and `recorded` are `None` if that side lacks the item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Difference {
    /// What differs: `method`, `scheme`, `host`, `port`, `path`, `parameter NAME`, `body field
    /// NAME`, `body`.
    pub what: String,
    /// The requested value.
    #[serde(rename = "asked")]
    pub requested: Option<String>,
    /// The recorded value.
    pub recorded: Option<String>,
}

/// The differences between two requests, the coarsest first. Empty if they are equal at the
/// normalised level.
pub fn differences(request: &ReplayRequest<'_>, recorded: &ReplayRequest<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |what: &str, a: Option<&str>, b: Option<&str>| {
        if a != b && found.len() < MAX_DIFFERENCES {
            found.push(Difference {
                what: what.to_owned(),
                requested: a.map(shorten),
                recorded: b.map(shorten),
            });
        }
    };
    differ("method", Some(request.method), Some(recorded.method));
    match (
        Url::parse(&super::normalised_url(request.url)),
        Url::parse(&super::normalised_url(recorded.url)),
    ) {
        (Ok(a), Ok(b)) => {
            differ("scheme", Some(a.scheme()), Some(b.scheme()));
            differ("host", a.host_str(), b.host_str());
            let port = |url: &Url| url.port().map(|port| port.to_string());
            differ("port", port(&a).as_deref(), port(&b).as_deref());
            differ("path", Some(a.path()), Some(b.path()));
        }
        _ => differ("url", Some(request.url), Some(recorded.url)),
    }
    let (left, right) = (by_name(leaves(request)), by_name(leaves(recorded)));
    let mut names: Vec<_> = left.keys().chain(right.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let what = match (name.0, name.1.as_str()) {
            (Place::Query, name) => format!("parameter {name}"),
            (Place::Body, "") => "body".to_owned(),
            (Place::Body, name) => format!("body field {name}"),
        };
        differ(&what, left.get(name).map(String::as_str), right.get(name).map(String::as_str));
    }
    found
}

/// Values by name. Several values of one name are joined by `, `.
fn by_name(leaves: Vec<Leaf>) -> BTreeMap<(Place, String), String> {
    let mut map = BTreeMap::new();
    for leaf in leaves {
        map.entry((leaf.place, leaf.name))
            .and_modify(|all: &mut String| {
                all.push_str(", ");
                all.push_str(&leaf.value);
            })
            .or_insert(leaf.value);
    }
    map
}

fn shorten(value: &str) -> String {
    match value.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
