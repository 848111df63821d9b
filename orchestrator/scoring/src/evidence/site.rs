//! The requests that a rule makes of a site's probes.

use std::collections::BTreeMap;

use serde_json::Value;

/// A question about the state of a site.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeQuestion<'a> {
    pub site: &'a str,
    /// A probe of its manifest.
    pub probe: &'a str,
    /// The probe's parameters.
    pub params: &'a BTreeMap<String, Value>,
}
