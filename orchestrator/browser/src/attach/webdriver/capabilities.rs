//! Matches the capabilities that a client requests with those of the running browser.
//!
//! The browser runs already. So a wish is for how commands behave, which chromedriver takes, or it
//! agrees with the browser that there is, or it has no session. Options of a browser's start have
//! no effect where they change nothing that pages see, and are refused otherwise.

use serde_json::{Map, Value, json};

type Capabilities = Map<String, Value>;

/// The capabilities for the behaviour of commands. A client chooses them.
const BEHAVIOUR: &[&str] =
    &["pageLoadStrategy", "strictFileInteractability", "timeouts", "unhandledPromptBehavior"];

/// Wishes that this browser grants in any case, or that only have a further capability as answer,
/// which clients look for.
const GRANTED: &[&str] = &["acceptInsecureCerts", "setWindowRect", "webSocketUrl"];

/// The browser's names, in the words of its kinds and of clients.
const NAMES: &[&str] = &["chrome", "chromium", "chrome-headless-shell"];

/// Chromium's own wishes that change nothing that pages see. `args` are of a command line that is
/// past.
const WITHOUT_EFFECT: &[&str] = &["args", "detach", "excludeSwitches", "perfLoggingPrefs", "w3c"];

/// The behaviour that the body of a request for a session asks for. The error is the reason for
/// which there is no such session.
pub(super) fn wanted(body: &Value, version: &str) -> Result<Capabilities, String> {
    let Some(Value::Object(asked)) = body.get("capabilities") else {
        return Err("the request has no `capabilities`".to_owned());
    };
    let always = match asked.get("alwaysMatch") {
        None => Map::new(),
        Some(Value::Object(always)) => always.clone(),
        Some(_) => return Err("`alwaysMatch` is not an object".to_owned()),
    };
    let one = vec![json!({})];
    let first = match asked.get("firstMatch") {
        None => &one,
        Some(Value::Array(first)) if !first.is_empty() => first,
        Some(_) => return Err("`firstMatch` is not a list of alternatives".to_owned()),
    };
    let mut why = None;
    for alternative in first {
        let Value::Object(alternative) = alternative else {
            return Err("`firstMatch` is not a list of objects".to_owned());
        };
        let merged: Capabilities = always.clone().into_iter().chain(alternative.clone()).collect();
        match check(&merged, version) {
            Ok(()) => return Ok(behaviour(merged)),
            // The first alternative is the one that the client prefers.
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    Err(why.unwrap_or_else(|| "nothing fits".to_owned()))
}

fn behaviour(mut capabilities: Capabilities) -> Capabilities {
    capabilities.retain(|name, value| BEHAVIOUR.contains(&name.as_str()) && !value.is_null());
    capabilities
}

/// Compares wishes with the browser that there is.
fn check(capabilities: &Capabilities, version: &str) -> Result<(), String> {
    capabilities.iter().filter(|(_, value)| !value.is_null()).try_for_each(|(name, value)| {
        let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            name if BEHAVIOUR.contains(&name) || GRANTED.contains(&name) => Ok(()),
            "browserName" if NAMES.contains(&text.as_str()) => Ok(()),
            "browserName" => Err(format!("the browser is Chromium (`chrome`), not {value}")),
            "browserVersion" if is_version(&text, version) => Ok(()),
            "browserVersion" => {
                Err(format!("the version of the browser is {version}, not {value}"))
            }
            "platformName" if matches!(text.as_str(), "linux" | "any") => Ok(()),
            "platformName" => Err(format!("the platform is `linux`, not {value}")),
            "proxy" if value == &json!({}) => Ok(()),
            "proxy" => Err("the proxy is the gateway, and no other".to_owned()),
            "goog:chromeOptions" => check_options(value),
            // Wishes to other programs, such as to a server of many browsers.
            name if name.contains(':') => Ok(()),
            name => Err(format!("`{name}` is no capability")),
        }
    })
}

/// Whether a version is asked for by its first numbers.
fn is_version(asked: &str, version: &str) -> bool {
    version.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        && !asked.is_empty()
}

fn check_options(options: &Value) -> Result<(), String> {
    let Some(options) = options.as_object() else {
        return Err("`goog:chromeOptions` is not an object".to_owned());
    };
    let is_empty = |value: &Value| {
        value.is_null()
            || value == &json!(false)
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty)
    };
    let mut set = options.iter().filter(|(_, value)| !is_empty(value));
    match set.find(|(name, _)| !WITHOUT_EFFECT.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => Err(format!(
            "the browser of the episode runs already: it cannot be started with `{name}`"
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const VERSION: &str = "156.0.8078.108";

    fn always(capabilities: &Value) -> Result<Capabilities, String> {
        wanted(
            &json!({ "capabilities": { "alwaysMatch": capabilities, "firstMatch": [{}] } }),
            VERSION,
        )
    }

    #[test]
    fn what_clients_ask_for_by_default_is_had() {
        let selenium = json!({
            "browserName": "chrome",
            "pageLoadStrategy": "normal",
            "goog:chromeOptions": { "extensions": [], "args": ["--headless=new"] },
        });
        assert_eq!(
            always(&selenium).unwrap(),
            *json!({ "pageLoadStrategy": "normal" }).as_object().unwrap()
        );
        for asked in [
            json!({}),
            json!({ "browserName": "Chrome", "webSocketUrl": true, "wdio:enforceWebDriverClassic": true }),
            json!({ "browserVersion": "156", "platformName": "Linux", "acceptInsecureCerts": true }),
            json!({ "browserVersion": VERSION, "proxy": {} }),
            json!({ "goog:chromeOptions": { "binary": null, "prefs": {}, "detach": true } }),
        ] {
            assert!(always(&asked).unwrap().is_empty(), "{asked}");
        }
        assert!(wanted(&json!({ "capabilities": {} }), VERSION).unwrap().is_empty());
        let alternatives = json!({ "capabilities": { "firstMatch": [
            { "browserName": "firefox" },
            { "browserName": "chrome", "timeouts": { "implicit": 5 } },
        ] } });
        assert_eq!(wanted(&alternatives, VERSION).unwrap()["timeouts"]["implicit"], 5);
    }

    #[test]
    fn what_contradicts_is_not_had() {
        for asked in [
            json!({ "browserName": "firefox" }),
            json!({ "browserName": 1 }),
            json!({ "browserVersion": "15" }),
            json!({ "browserVersion": "" }),
            json!({ "browserVersion": "157" }),
            json!({ "platformName": "windows" }),
            json!({ "proxy": { "proxyType": "direct" } }),
            json!({ "proxy": { "proxyType": "manual", "httpProxy": "127.0.0.1:1" } }),
            json!({ "goog:chromeOptions": { "binary": "/bin/sh" } }),
            json!({ "goog:chromeOptions": { "debuggerAddress": "127.0.0.1:9222" } }),
            json!({ "goog:chromeOptions": { "extensions": ["AA=="] } }),
            json!({ "goog:chromeOptions": { "prefs": { "download.default_directory": "/" } } }),
            json!({ "goog:chromeOptions": { "mobileEmulation": { "deviceName": "Pixel" } } }),
            json!({ "goog:chromeOptions": { "localState": { "a": 1 } } }),
            json!({ "goog:chromeOptions": { "androidPackage": "a" } }),
            json!({ "goog:chromeOptions": { "minidumpPath": "/tmp" } }),
            json!({ "goog:chromeOptions": { "novelty": 1 } }),
            json!({ "goog:chromeOptions": [] }),
            json!({ "novelty": true }),
        ] {
            assert!(always(&asked).is_err(), "{asked}");
        }
        for body in [
            json!({}),
            json!({ "desiredCapabilities": {} }),
            json!({ "capabilities": [] }),
            json!({ "capabilities": { "alwaysMatch": [] } }),
            json!({ "capabilities": { "firstMatch": [] } }),
            json!({ "capabilities": { "firstMatch": [1] } }),
        ] {
            assert!(wanted(&body, VERSION).is_err(), "{body}");
        }
        let error = always(&json!({ "goog:chromeOptions": { "binary": "/bin/sh" } })).unwrap_err();
        assert!(error.contains("`binary`"), "{error}");
    }
}
