//! The rules of normalised matching, and the names of parameters that never select a page's
//! content.

use serde::{Deserialize, Serialize};

/// One kind of difference between two requests that are equal at the normalised level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Query parameters in a different order; those of one name keep theirs.
    QueryOrder,
    /// Different click and campaign identifiers: `utm_*`, `gclid`, `fbclid`, `msclkid` and similar.
    TrackingParameters,
    /// A parameter with the name of a cache buster (`_`, `cb`, `nocache`, ...) and a different
    /// random or time token.
    CacheBusters,
    /// `%7E` for `~`, `%2f` for `%2F`.
    PercentSpelling,
    /// A question mark with an empty query.
    EmptyQuery,
    /// White space between the tokens of a JSON body, and the order of its keys.
    JsonSpelling,
    /// Form fields in a different order; those of one name keep theirs.
    FormOrder,
    /// The boundary between the parts of a multipart body.
    MultipartBoundary,
}

impl Rule {
    /// All rules.
    pub const ALL: [Rule; 8] = [
        Rule::QueryOrder,
        Rule::TrackingParameters,
        Rule::CacheBusters,
        Rule::PercentSpelling,
        Rule::EmptyQuery,
        Rule::JsonSpelling,
        Rule::FormOrder,
        Rule::MultipartBoundary,
    ];

    /// The name in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Rule::QueryOrder => "query-order",
            Rule::TrackingParameters => "tracking-parameters",
            Rule::CacheBusters => "cache-busters",
            Rule::PercentSpelling => "percent-spelling",
            Rule::EmptyQuery => "empty-query",
            Rule::JsonSpelling => "json-spelling",
            Rule::FormOrder => "form-order",
            Rule::MultipartBoundary => "multipart-boundary",
        }
    }
}

/// A set of rules; sixteen bits in the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules(u16);

impl Rules {
    /// The rules that concern the body.
    pub const OF_THE_BODY: Rules = Rules(
        1 << Rule::JsonSpelling as u16
            | 1 << Rule::FormOrder as u16
            | 1 << Rule::MultipartBoundary as u16,
    );

    /// Adds a rule.
    pub fn add(&mut self, rule: Rule) {
        self.0 |= 1 << rule as u16;
    }

    /// The union of two sets.
    pub fn or(self, other: Rules) -> Rules {
        Rules(self.0 | other.0)
    }

    /// The intersection of two sets.
    pub fn and(self, other: Rules) -> Rules {
        Rules(self.0 & other.0)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The set as stored in the index.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The set from the index; unknown bits are dropped.
    pub fn from_bits(bits: u16) -> Rules {
        Rules(bits & ((1 << Rule::ALL.len()) - 1))
    }

    /// The rules in the set, in the order of [`Rule::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.into_iter().filter(move |rule| self.0 & (1 << *rule as u16) != 0)
    }

    /// The names of the rules in the set.
    pub fn names(self) -> Vec<String> {
        self.iter().map(|rule| rule.name().to_owned()).collect()
    }
}

/// Parameters with which advertisers and mailers track a click. Sorted, lower case.
const TRACKING: &[&str] = &[
    "__hsfp",
    "__hssc",
    "__hstc",
    "_branch_match_id",
    "_ga",
    "_gac",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_kx",
    "_openstat",
    "dclid",
    "epik",
    "fb_action_ids",
    "fb_action_types",
    "fbclid",
    "gad_campaignid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsctatracking",
    "igsh",
    "igshid",
    "irclickid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "ml_subscriber",
    "ml_subscriber_hash",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "rb_clickid",
    "sccid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_conv",
    "vero_id",
    "wbraid",
    "wickedid",
    "yclid",
];

/// Parameters that scripts add to bypass a cache. Sorted, lower case. `t`, `ts`, `time` and `v` are
/// excluded: on a timetable or a versioned file they select the content.
const CACHE_BUSTERS: &[&str] = &[
    "_",
    "__t",
    "_cb",
    "_dc",
    "_nocache",
    "_r",
    "_rand",
    "_rnd",
    "_t",
    "_ts",
    "bust",
    "buster",
    "cache-bust",
    "cache-buster",
    "cache_bust",
    "cache_buster",
    "cachebust",
    "cachebuster",
    "cb",
    "no-cache",
    "no_cache",
    "nocache",
    "rand",
    "random",
    "rnd",
    "uncache",
];

/// Whether a query parameter of this name only tracks a click.
pub(super) fn is_tracking(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.starts_with("utm_") || TRACKING.binary_search(&lower.as_str()).is_ok()
}

/// Whether a query parameter only bypasses a cache: the name indicates it, and the value looks like
/// a random or time token. `_=true` and `cb=renderList` do not qualify.
pub(super) fn is_cache_buster(name: &str, value: &str) -> bool {
    CACHE_BUSTERS.binary_search(&name.to_ascii_lowercase().as_str()).is_ok() && is_token(value)
}

/// At least eight digits; a fraction in the format of `Math.random()`; or letters mixed with
/// digits.
fn is_token(value: &str) -> bool {
    let bytes = value.as_bytes();
    let digits = |bytes: &[u8]| bytes.iter().all(u8::is_ascii_digit);
    if let Some((whole, fraction)) = value.split_once('.') {
        return whole.len() <= 13
            && digits(whole.as_bytes())
            && digits(fraction.as_bytes())
            && whole.len() + fraction.len() >= 8;
    }
    bytes.len() >= 8
        && bytes.len() <= 64
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_and_lower_case() {
        for table in [TRACKING, CACHE_BUSTERS] {
            assert!(table.is_sorted());
            assert!(table.iter().all(|name| name.to_ascii_lowercase() == *name));
        }
    }

    #[test]
    fn a_cache_buster_needs_a_token_for_its_value() {
        for value in
            ["1767225600000", "0.8442374823", "a8f3k2m9x1", "8c4a1f0e-5b7d-4e0a-9d0c-1f2e3d4c5b6a"]
        {
            assert!(is_cache_buster("_", value), "{value}");
        }
        for value in ["", "1", "true", "renderList", "2", "12.50", "page-two", "a.b.c", "1.2.3"] {
            assert!(!is_cache_buster("cb", value), "{value}");
        }
        assert!(!is_cache_buster("page", "1767225600000"));
        assert!(!is_cache_buster("t", "1767225600000"));
    }

    #[test]
    fn rules_survive_the_index() {
        let mut rules = Rules::default();
        rules.add(Rule::QueryOrder);
        rules.add(Rule::MultipartBoundary);
        assert_eq!(Rules::from_bits(rules.bits()), rules);
        assert_eq!(rules.names(), ["query-order", "multipart-boundary"]);
        assert_eq!(Rules::from_bits(u16::MAX).iter().count(), Rule::ALL.len());
    }
}
