//! Which of the browser's targets a program is told of: pages, frames and workers of the episode,
//! and not the browser's own pages. The names of targets cannot be guessed, so what is not told of
//! cannot be attached to.

use serde_json::Value;

use crate::page::addresses;

/// Kinds of targets that are the browser's own.
const OWN: [&str; 3] = ["browser_ui", "webview", "background_page"];

/// Whether a target may be told of.
pub(super) fn is_shown(target: &Value) -> bool {
    let text = |name: &str| target.get(name).and_then(Value::as_str).unwrap_or_default();
    let url = text("url");
    !OWN.contains(&text("type")) && (url.is_empty() || is_of_pages(url))
}

/// Pages that failed to load are shown under an address of Chromium's, and frames may have their
/// document in their attributes.
fn is_of_pages(url: &str) -> bool {
    url.starts_with("chrome-error:") || url == "about:srcdoc" || addresses::for_programs(url).is_ok()
}

/// Takes out of a message what is not to be told. False where nothing is left of it.
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

/// Whether a message may have targets in it, at a glance: most are long and have none.
pub(super) fn may_contain_targets(text: &str) -> bool {
    text.contains("\"targetInfo")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
