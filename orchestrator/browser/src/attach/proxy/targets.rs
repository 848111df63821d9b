//! The targets that a client sees: pages, frames and workers of the episode, not the browser's own
//! pages. Target ids cannot be guessed, so a client cannot attach to a hidden target.

use serde_json::Value;

use crate::page::addresses;

/// Types of the browser's own targets.
const OWN: [&str; 3] = ["browser_ui", "webview", "background_page"];

/// Whether a client may see a target.
pub(super) fn is_shown(target: &Value) -> bool {
    let text = |name: &str| target.get(name).and_then(Value::as_str).unwrap_or_default();
    let url = text("url");
    !OWN.contains(&text("type")) && (url.is_empty() || is_of_pages(url))
}

/// A page that failed to load has a URL of Chromium's, and a frame may have its document in an
/// attribute.
fn is_of_pages(url: &str) -> bool {
    url.starts_with("chrome-error:")
        || url == "about:srcdoc"
        || addresses::for_programs(url).is_ok()
}

/// Removes hidden targets from a message. Returns false if nothing is left of it.
pub(super) fn filter(message: &mut Value) -> bool {
    if let Some(target) = message.pointer("/params/targetInfo")
        && !is_shown(target)
    {
        return false;
    }
    if let Some(Value::Array(list)) = message.pointer_mut("/result/targetInfos") {
        list.retain(is_shown);
    }
    true
}

/// A quick check whether a message may contain targets. Most messages are long and have none.
pub(super) fn may_contain_targets(text: &str) -> bool {
    text.contains("\"targetInfo")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_browsers_own_pages_are_not_told_of() {
        let target = |kind: &str, url: &str| json!({ "type": kind, "url": url, "targetId": "1" });
        let page = target("page", "https://a.test/");
        let own = [
            target("browser_ui", "chrome://omnibox-popup.top-chrome/"),
            target("page", "chrome://version/"),
            target("page", "devtools://devtools/bundled/inspector.html"),
            target("page", "file:///etc/passwd"),
        ];
        for shown in [
            &page,
            &target("page", ""),
            &target("tab", "about:blank"),
            &target("page", "chrome-error://chromewebdata/"),
        ] {
            assert!(filter(
                &mut json!({ "method": "Target.targetCreated", "params": { "targetInfo": shown } })
            ));
        }
        for own in &own {
            assert!(!filter(
                &mut json!({ "method": "Target.targetCreated", "params": { "targetInfo": own } })
            ));
        }
        let mut list = json!({ "id": 1, "result": { "targetInfos": [own[0], page, own[1]] } });
        assert!(may_contain_targets(&list.to_string()) && filter(&mut list));
        assert_eq!(list["result"]["targetInfos"], json!([page]));
    }
}
