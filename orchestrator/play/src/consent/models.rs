//! The needs of a model's settings: a server, and variables that are sent to it.

use agents::llm::ModelSettings;
use processes::Variable;

use super::{Need, NeedKind, NeedList, hosts};

/// The variable with the key of OpenAI's server, or of the server that the user has set instead.
const OWN_KEY: &str = "OPENAI_API_KEY";

/// Returns the needs of a model's settings beyond those of every model, which are the server and
/// the key that the user has set. Variables that are `given` need no consent.
pub fn of_model(settings: &ModelSettings, given: &[Variable]) -> NeedList {
    // Without `..`, so that a new key does not compile before somebody decides whether it needs
    // consent.
    let ModelSettings {
        name: _,
        temperature: _,
        top_p: _,
        max_tokens: _,
        max_prompt_tokens: _,
        extra: _,
        price: _,
        base_url,
        key_variable,
        key_header: _,
        headers,
        request_timeout: _,
        requests_per_minute: _,
        tokens_per_minute: _,
        requests_at_once: _,
    } = settings;
    let by = "the settings of a model";
    let server = match base_url {
        Some(url) => hosts::described(url),
        None => "the server in OPENAI_BASE_URL".to_owned(),
    };
    let mut needs = Vec::new();
    if base_url.is_some() {
        needs.push(Need::new(NeedKind::Reach, server.clone(), by));
    }
    // With an address of the suite's, even the usual key needs consent: somebody else would get it.
    let is_usual = |name: &str| base_url.is_none() && name == OWN_KEY;
    let of_headers =
        headers.values().filter_map(|value| value.strip_prefix('$')).map(str::to_owned);
    let key = key_variable.iter().filter(|name| !is_usual(name)).cloned();
    for name in key.chain(of_headers) {
        if !given.iter().any(|variable| variable.name == name) {
            needs.push(Need::new(
                NeedKind::Variable,
                format!("the variable {name} for {server}"),
                by,
            ));
        }
    }
    NeedList::new(needs)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_what_goes_where() {
        let list = |json: serde_json::Value, given: &[&str]| {
            let settings: ModelSettings = serde_json::from_value(json).unwrap();
            let given: Vec<Variable> =
                given.iter().map(|name| format!("{name}=x").parse().unwrap()).collect();
            of_model(&settings, &given).to_string()
        };
        let evil = serde_json::json!({
            "base_url": "http://evil.test/v1", "key_variable": "AWS_SECRET", "headers": {"x": "$TOKEN", "y": "plain"},
        });
        let by = "(the settings of a model)";
        assert_eq!(
            list(evil.clone(), &[]),
            format!(
                "takes the variable AWS_SECRET for http://evil.test {by}; \
                 takes the variable TOKEN for http://evil.test {by}; reaches http://evil.test {by}"
            )
        );
        assert_eq!(list(evil, &["AWS_SECRET", "TOKEN"]), format!("reaches http://evil.test {by}"));
        assert_eq!(list(serde_json::json!({"name": "m", "temperature": 0.0}), &[]), "");
        assert_eq!(list(serde_json::json!({"key_variable": "OPENAI_API_KEY"}), &[]), "");
        assert_ne!(list(serde_json::json!({"key_variable": "HOME"}), &[]), "");
        let key_elsewhere =
            serde_json::json!({"base_url": "http://e.test", "key_variable": "OPENAI_API_KEY"});
        assert!(list(key_elsewhere, &[]).contains("OPENAI_API_KEY"));
    }

    #[test]
    fn no_preset_needs_anything() {
        for (name, _) in agents::llm::PRESETS {
            let settings = agents::llm::Settings::preset(name).unwrap();
            assert!(of_model(&settings.model, &[]).is_empty(), "{name}");
        }
    }
}
