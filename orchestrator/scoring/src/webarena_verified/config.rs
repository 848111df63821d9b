//! The package's configuration: under which addresses the sites were, and how the files of a run
//! are called.

use serde::Deserialize;

use super::PythonException;
use super::site::Site;

/// A configuration as the package's commands read it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    #[serde(default, deserialize_with = "read_environments")]
    environments: Option<Vec<(Site, Environment)>>,
    /// The file of an agent's answer, in the folder of a task.
    #[serde(default = "agent_response")]
    pub agent_response_file_name: String,
    /// The file of the network's traffic, in the folder of a task.
    #[serde(default = "network")]
    pub trace_file_name: String,
    #[serde(default, rename = "test_data_file")]
    _test_data_file: Option<String>,
    #[serde(default, rename = "eval_result_file_name")]
    _eval_result_file_name: Option<String>,
    #[serde(default, rename = "storage_state_file_name")]
    _storage_state_file_name: Option<String>,
}

/// The addresses of one site.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Environment {
    urls: Vec<String>,
    #[serde(default)]
    active_url_idx: Option<i64>,
    #[serde(default, rename = "use_header_login")]
    _use_header_login: bool,
    #[serde(default, rename = "credentials")]
    _credentials: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(default, rename = "extra")]
    _extra: serde_json::Map<String, serde_json::Value>,
    #[serde(default, rename = "container")]
    _container: Option<serde_json::Value>,
}

fn agent_response() -> String {
    "agent_response.json".to_owned()
}

fn network() -> String {
    "network.har".to_owned()
}

fn read_environments<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> Result<Option<Vec<(Site, Environment)>>, D::Error> {
    let map = Option::<std::collections::BTreeMap<Site, Environment>>::deserialize(input)?;
    Ok(map.map(|map| map.into_iter().collect()))
}

impl Default for Config {
    fn default() -> Config {
        Config {
            environments: None,
            agent_response_file_name: agent_response(),
            trace_file_name: network(),
            _test_data_file: None,
            _eval_result_file_name: None,
            _storage_state_file_name: None,
        }
    }
}

impl Config {
    /// Reads the JSON of a configuration.
    ///
    /// # Errors
    /// When it is no JSON, or has what the package does not know.
    pub fn read(text: &str) -> Result<Config, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The same with one address for each of these sites.
    pub(super) fn with_addresses(&self, addresses: Vec<(Site, String)>) -> Config {
        let environment = |url: String| Environment {
            urls: vec![url],
            active_url_idx: None,
            _use_header_login: false,
            _credentials: None,
            _extra: serde_json::Map::new(),
            _container: None,
        };
        let environments =
            addresses.into_iter().map(|(site, url)| (site, environment(url))).collect();
        Config { environments: Some(environments), ..self.clone() }
    }

    /// Whether all of these sites have an address.
    pub(super) fn knows(&self, sites: &[Site]) -> bool {
        let environments = self.environments.as_deref().unwrap_or_default();
        !environments.is_empty()
            && sites.iter().all(|site| {
                environments
                    .iter()
                    .any(|(other, environment)| other == site && !environment.urls.is_empty())
            })
    }

    fn of_sites(&self, sites: &[Site]) -> Result<Vec<(Site, &Environment)>, PythonException> {
        let Some(environments) = &self.environments else {
            return Err(PythonException::new("No environments configured"));
        };
        let find = |site: &Site| environments.iter().find(|(other, _)| other == site);
        let missing: Vec<String> = sites
            .iter()
            .filter(|site| find(site).is_none())
            .map(|site| format!("'{}'", site.name().to_uppercase()))
            .collect();
        if !missing.is_empty() {
            return Err(PythonException(format!(
                "Sites [{}] not found in environments",
                missing.join(", ")
            )));
        }
        Ok(sites
            .iter()
            .filter_map(|site| find(site).map(|(_, environment)| (*site, environment)))
            .collect())
    }

    /// `render_url`: from the name of a site to its address.
    pub(super) fn render(
        &self,
        template: &str,
        sites: &[Site],
        strict: bool,
    ) -> Result<String, PythonException> {
        for (site, environment) in self.of_sites(sites)? {
            let name = site.placeholder();
            if !template.starts_with(&name) {
                continue;
            }
            let index = environment.active_url_idx.or((!environment.urls.is_empty()).then_some(0));
            let url = index.and_then(|index| environment.urls.get(usize::try_from(index).ok()?));
            let Some(url) = url else {
                let index = index.map_or_else(|| "None".to_owned(), |index| index.to_string());
                let site = site.name();
                return Err(PythonException(format!(
                    "Invalid environment URL index {index} for site {}. Verify that config file has url for {site}.",
                    site.to_uppercase()
                )));
            };
            let rendered = template.replace(&name, url);
            if rendered != template {
                return Ok(rendered);
            }
        }
        if strict {
            let sites = names(sites);
            return Err(PythonException(format!(
                "No site in {sites} matched template: {template}"
            )));
        }
        Ok(template.to_owned())
    }
}

/// `derender_url` for the sites of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Derender<'a> {
    pub(super) config: &'a Config,
    pub(super) sites: &'a [Site],
    /// Whether an address of no site is an error.
    pub(super) strict: bool,
}

impl Derender<'_> {
    /// Renders an address; one that belongs to no site stays as it is.
    pub(super) fn leniently(&self, url: &str) -> Result<String, PythonException> {
        Derender { strict: false, ..*self }.apply(url)
    }

    /// From the address of a site to its name; the longest address goes first.
    pub(super) fn apply(&self, url: &str) -> Result<String, PythonException> {
        let mut environments = self.config.of_sites(self.sites)?;
        if environments.iter().any(|(_, environment)| environment.urls.is_empty()) {
            return Err(PythonException::new("max() arg is an empty sequence"));
        }
        let longest = |environment: &Environment| {
            environment.urls.iter().map(|url| url.chars().count()).max()
        };
        environments.sort_by_key(|(_, environment)| std::cmp::Reverse(longest(environment)));
        for (site, environment) in environments {
            if let Some(address) =
                environment.urls.iter().find(|address| url.contains(address.as_str()))
            {
                return Ok(url.replace(address.trim_end_matches('/'), &site.placeholder()));
            }
        }
        if self.strict {
            let sites = names(self.sites);
            return Err(PythonException(format!(
                "URL '{url}' does not match any configured URLs for sites {sites}"
            )));
        }
        Ok(url.to_owned())
    }
}

fn names(sites: &[Site]) -> String {
    let names: Vec<String> =
        sites.iter().map(|site| format!("'{}'", site.name().to_uppercase())).collect();
    format!("[{}]", names.join(", "))
}
