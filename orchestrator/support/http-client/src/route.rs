//! How a server is reached.

use camino::Utf8PathBuf;

/// How a server is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The HTTP proxy for `https` servers, such as `http://proxy.test:3128`.
    pub proxy: Option<String>,
    /// A PEM file of certificates to trust in addition to the public ones.
    pub certificates: Option<Utf8PathBuf>,
}

impl Route {
    /// What the environment says for this address, under the names that other programs read:
    /// `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY` and `SSL_CERT_FILE`.
    pub fn from_environment(url: &str) -> Route {
        Route { proxy: proxy(url), certificates: variable("SSL_CERT_FILE").map(Utf8PathBuf::from) }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn proxy(url: &str) -> Option<String> {
    let either = |name: &str| variable(&name.to_lowercase()).or_else(|| variable(name));
    let host = url::Url::parse(url).ok()?.host_str()?.to_owned();
    let spared = either("NO_PROXY").is_some_and(|list| is_spared(&host, &list));
    either("HTTPS_PROXY").or_else(|| either("ALL_PROXY")).filter(|_| !spared)
}

/// Whether a host is in a list of those that are reached without the proxy: by its name, or the end
/// of it.
fn is_spared(host: &str, list: &str) -> bool {
    list.split(',').map(|entry| entry.trim().trim_start_matches("*.").trim_start_matches('.')).any(
        |entry| {
            let ends = || host.strip_suffix(entry).is_some_and(|before| before.ends_with('.'));
            !entry.is_empty() && (entry == "*" || host == entry || ends())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_spared_by_their_ends() {
        for (list, expect) in [
            ("models.test", true),
            (".test, a.example", true),
            ("*.test", true),
            ("*", true),
            ("dels.test", false),
            ("other.test", false),
            ("", false),
        ] {
            assert_eq!(is_spared("models.test", list), expect, "{list}");
        }
    }
}
