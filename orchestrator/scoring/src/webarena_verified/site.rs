//! The sites of the benchmark.

use serde::{Deserialize, Deserializer};

/// One of the seven.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Site {
    Gitlab,
    Map,
    Reddit,
    ShoppingAdmin,
    Shopping,
    Wikipedia,
    Homepage,
}

const SITES: [(Site, &str); 7] = [
    (Site::Gitlab, "gitlab"),
    (Site::Map, "map"),
    (Site::Reddit, "reddit"),
    (Site::ShoppingAdmin, "shopping_admin"),
    (Site::Shopping, "shopping"),
    (Site::Wikipedia, "wikipedia"),
    (Site::Homepage, "homepage"),
];

impl Site {
    pub(super) fn name(self) -> &'static str {
        SITES.iter().find(|(site, _)| *site == self).map_or("", |(_, name)| name)
    }

    /// Returns the placeholder for its address in tasks: `__GITLAB__`.
    pub(super) fn placeholder(self) -> String {
        format!("__{}__", self.name().to_uppercase())
    }
}

/// By its name in small or capital letters, with or without underscores around.
impl<'de> Deserialize<'de> for Site {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Site, D::Error> {
        let text = String::deserialize(input)?;
        let name = text.trim_matches('_');
        let found = SITES.iter().find(|(_, known)| name == *known || name == known.to_uppercase());
        found
            .map(|(site, _)| *site)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown site `{text}`")))
    }
}
