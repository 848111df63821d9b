//! The commands that a client may send to the browser.

use serde_json::{Value, json};

use super::Limits;
use crate::page::addresses;

/// Domains of the protocol that are about pages and their contents.
const PAGE_DOMAINS: &[&str] = &[
    "Accessibility",
    "Animation",
    "Audits",
    "Autofill",
    "BackgroundService",
    "CSS",
    "CacheStorage",
    "Console",
    "DOM",
    "DOMDebugger",
    "DOMSnapshot",
    "DOMStorage",
    "Debugger",
    "DeviceOrientation",
    "Emulation",
    "EventBreakpoints",
    "FedCm",
    "Fetch",
    "FindInPage",
    "HeadlessExperimental",
    "HeapProfiler",
    // Its streams come from commands that are checked themselves. None is opened by a path.
    "IO",
    "IndexedDB",
    "Input",
    "Inspector",
    "LayerTree",
    "Log",
    "Media",
    "Memory",
    "Network",
    "Overlay",
    "Page",
    "Performance",
    "PerformanceTimeline",
    "Preload",
    "Profiler",
    "Runtime",
    "Schema",
    "Security",
    "ServiceWorker",
    "Storage",
    "Tracing",
    "WebAudio",
    "WebAuthn",
];

/// Commands of domains about the browser as a whole that clients need to drive pages.
const BROWSER_METHODS: &[&str] = &[
    "Browser.cancelDownload",
    "Browser.close",
    "Browser.getHistogram",
    "Browser.getHistograms",
    "Browser.getVersion",
    "Browser.getWindowBounds",
    "Browser.getWindowForTarget",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setContentsSize",
    "Browser.setDownloadBehavior",
    "Browser.setPermission",
    "Browser.setWindowBounds",
    "Target.activateTarget",
    "Target.attachToBrowserTarget",
    "Target.attachToTarget",
    "Target.autoAttachRelated",
    "Target.closeTarget",
    "Target.createBrowserContext",
    "Target.createTarget",
    "Target.detachFromTarget",
    "Target.disposeBrowserContext",
    "Target.getBrowserContexts",
    "Target.getTargetInfo",
    "Target.getTargets",
    "Target.setAutoAttach",
    "Target.setDiscoverTargets",
];

/// Commands of page domains that reach the machine, or remove a limit.
const DENIED_PAGE_METHODS: &[&str] =
    &["Page.startScreenRecording", "Page.stopScreenRecording", "Storage.overrideQuotaForOrigin"];

/// Permissions for the machine's microphone, camera, screen and devices. (A headless browser has a
/// clipboard of its own.)
const MACHINE_PERMISSIONS: &[&str] = &[
    "audioCapture",
    "camera",
    "cameraPanTiltZoom",
    "capturedSurfaceControl",
    "display-capture",
    "displayCapture",
    "hid",
    "microphone",
    "nfc",
    "serial",
    "smart-card",
    "smartCard",
    "speaker-selection",
    "speakerSelection",
    "usb",
    "videoCapture",
    "videoCapturePanTiltZoom",
    "web-printing",
    "webPrinting",
];

/// The decision about a command.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    /// Forwarded to the browser, as it is now.
    Pass,
    /// Answered with this error.
    Refuse(String),
    /// The client's connection is closed, and nothing else: the pages are still needed.
    Close,
}

impl Limits {
    /// Decides about a command, and rewrites its URLs and files as they were parsed.
    pub(super) fn judge(&self, message: &mut Value) -> Verdict {
        let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
            return Verdict::Refuse("the message has no `method`".to_owned());
        };
        if method == "Browser.close" {
            return Verdict::Close;
        }
        if !is_allowed(&method) {
            return Verdict::Refuse(format!("`{method}` is not allowed in an episode"));
        }
        let mut none = json!({});
        let params = match message.get_mut("params") {
            None | Some(Value::Null) => &mut none,
            Some(params) => params,
        };
        match self.check_parameters(&method, params) {
            Ok(()) => Verdict::Pass,
            Err(why) => {
                Verdict::Refuse(format!("`{method}` is not allowed like this in an episode: {why}"))
            }
        }
    }

    fn check_parameters(&self, method: &str, params: &mut Value) -> Result<(), String> {
        match method {
            "Page.navigate"
            | "Target.createTarget"
            | "Network.loadNetworkResource"
            | "Fetch.continueRequest"
            | "Page.addCompilationCache" => check_address(params),
            "Target.createBrowserContext" => self.check_context(params),
            "Target.attachToTarget" => check_flatten(params),
            "Target.setAutoAttach" if params.get("autoAttach") == Some(&json!(true)) => {
                check_flatten(params)
            }
            "DOM.setFileInputFiles" => self.uploads(params.get_mut("files")),
            "Input.dispatchDragEvent" => {
                self.uploads(params.pointer_mut("/data/files").filter(|files| !files.is_null()))
            }
            "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => self.downloads(params),
            "Browser.grantPermissions" => {
                let permissions = params.get("permissions").and_then(Value::as_array);
                permissions.into_iter().flatten().try_for_each(check_permission)
            }
            // Any other setting takes a permission away.
            "Browser.setPermission" if params.get("setting") != Some(&json!("granted")) => Ok(()),
            "Browser.setPermission" => check_permission(&params["permission"]["name"]),
            "Tracing.start" => check_trace(params),
            _ => Ok(()),
        }
    }

    /// Contexts have the browser's proxy, which is the gateway, or name the gateway.
    fn check_context(&self, params: &Value) -> Result<(), String> {
        let param =
            |name: &str| params.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let gateway = format!("{}", self.proxy);
        if let Some(proxy) = param("proxyServer")
            && proxy != gateway
            && proxy != format!("http://{gateway}")
        {
            return Err(format!("the proxy is the gateway, http://{gateway}, and no other"));
        }
        // `<-loopback>` only takes away the exception that Chromium makes by itself.
        if param("proxyBypassList").is_some_and(|list| list != "<-loopback>") {
            return Err("nothing goes past the proxy".to_owned());
        }
        match params.get("originsWithUniversalNetworkAccess").and_then(Value::as_array) {
            Some(origins) if !origins.is_empty() => {
                Err("no origin has access to all others".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn is_allowed(method: &str) -> bool {
    let Some((domain, _)) = method.split_once('.') else { return false };
    let of_pages = PAGE_DOMAINS.contains(&domain) && !DENIED_PAGE_METHODS.contains(&method);
    of_pages || BROWSER_METHODS.contains(&method)
}

/// Checks the URL of a command, if it has one.
fn check_address(params: &mut Value) -> Result<(), String> {
    match params.get_mut("url") {
        // Chromium's notation for an empty page.
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(url)) if url.is_empty() => Ok(()),
        Some(Value::String(url)) => {
            *url = addresses::for_programs(url)?.into();
            Ok(())
        }
        Some(_) => Err("`url` is not a text".to_owned()),
    }
}

/// Requires flat sessions. Messages nested in messages, the older way, are not parsed.
fn check_flatten(params: &Value) -> Result<(), String> {
    match params.get("flatten") {
        Some(Value::Bool(true)) => Ok(()),
        _ => Err("attach with `flatten: true`".to_owned()),
    }
}

fn check_permission(name: &Value) -> Result<(), String> {
    match name.as_str() {
        Some(name) if MACHINE_PERMISSIONS.contains(&name) => {
            Err(format!("the machine's own is not a page's: `{name}` is not granted"))
        }
        _ => Ok(()),
    }
}

/// Allows the browser's own traces, sent to the client. Refuses the system's traces, and settings
/// that name files.
fn check_trace(params: &Value) -> Result<(), String> {
    if params.get("perfettoConfig").is_some_and(|config| !config.is_null()) {
        return Err("`perfettoConfig` is not read; use `traceConfig`".to_owned());
    }
    match params.get("tracingBackend").and_then(Value::as_str) {
        None | Some("auto" | "chrome") => Ok(()),
        Some(other) => Err(format!("the tracing backend `{other}` is the system's")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(method: &str, params: Value) -> (Verdict, Value) {
        let limits = Limits {
            proxy: ([127, 0, 0, 1], 8080).into(),
            uploads: Vec::new(),
            downloads: "/nowhere".into(),
        };
        let mut message = json!({ "id": 1, "method": method, "params": params });
        (limits.judge(&mut message), message["params"].take())
    }

    #[test]
    fn driving_pages_passes() {
        for (method, params) in [
            ("Page.navigate", json!({ "url": "https://a.test/" })),
            ("Target.createTarget", json!({ "url": "" })),
            ("Target.createTarget", json!({ "url": "about:blank", "browserContextId": "1" })),
            ("Target.createBrowserContext", Value::Null),
            (
                "Target.createBrowserContext",
                json!({ "disposeOnDetach": true, "proxyServer": "http://127.0.0.1:8080" }),
            ),
            (
                "Target.setAutoAttach",
                json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true }),
            ),
            (
                "Target.setAutoAttach",
                json!({ "autoAttach": false, "waitForDebuggerOnStart": false }),
            ),
            ("Runtime.evaluate", json!({ "expression": "1" })),
            ("Browser.setDownloadBehavior", json!({ "behavior": "deny" })),
            (
                "Browser.grantPermissions",
                json!({ "permissions": ["geolocation", "notifications"] }),
            ),
            (
                "Input.dispatchDragEvent",
                json!({ "data": { "items": [], "dragOperationsMask": 1 } }),
            ),
            ("Fetch.continueRequest", json!({ "requestId": "1" })),
            ("Tracing.start", json!({ "transferMode": "ReturnAsStream" })),
        ] {
            assert_eq!(judge(method, params.clone()).0, Verdict::Pass, "{method} {params}");
        }
        assert_eq!(judge("Browser.close", Value::Null).0, Verdict::Close);
    }

    #[test]
    fn what_leads_out_is_refused() {
        let file = json!({ "url": "file:///etc/passwd" });
        for (method, params) in [
            ("Page.navigate", file.clone()),
            ("Page.navigate", json!({ "url": ["file:///etc/passwd"] })),
            ("Target.createTarget", file.clone()),
            ("Target.createTarget", json!({ "url": "chrome://settings" })),
            ("Network.loadNetworkResource", file.clone()),
            ("Fetch.continueRequest", file),
            ("Target.createBrowserContext", json!({ "proxyServer": "http://127.0.0.1:8081" })),
            ("Target.createBrowserContext", json!({ "proxyServer": "direct://" })),
            ("Target.createBrowserContext", json!({ "proxyBypassList": "*" })),
            (
                "Target.createBrowserContext",
                json!({ "originsWithUniversalNetworkAccess": ["https://a.test"] }),
            ),
            ("Target.attachToTarget", json!({ "targetId": "1" })),
            ("Target.sendMessageToTarget", json!({ "message": "{}" })),
            ("Target.exposeDevToolsProtocol", json!({ "targetId": "1" })),
            ("Target.setRemoteLocations", json!({ "locations": [] })),
            ("DOM.setFileInputFiles", json!({ "files": ["/etc/passwd"] })),
            ("Input.dispatchDragEvent", json!({ "data": { "files": ["/etc/passwd"] } })),
            (
                "Browser.setDownloadBehavior",
                json!({ "behavior": "allow", "downloadPath": "/root" }),
            ),
            ("Page.setDownloadBehavior", json!({ "behavior": "allow" })),
            ("Browser.grantPermissions", json!({ "permissions": ["geolocation", "videoCapture"] })),
            (
                "Browser.setPermission",
                json!({ "setting": "granted", "permission": { "name": "camera" } }),
            ),
            ("Tracing.start", json!({ "tracingBackend": "system" })),
            ("Tracing.start", json!({ "perfettoConfig": "AA==" })),
            ("Browser.executeBrowserCommand", json!({})),
            ("Extensions.loadUnpacked", json!({ "path": "/" })),
            ("SystemInfo.getInfo", json!({})),
            ("Tethering.bind", json!({ "port": 1 })),
            ("Novelty.invent", json!({})),
            ("page.navigate", json!({})),
            ("", json!({})),
        ] {
            let (verdict, _) = judge(method, params.clone());
            assert!(matches!(verdict, Verdict::Refuse(_)), "{method} {params}: {verdict:?}");
        }
    }

    #[test]
    fn the_browser_gets_the_address_that_was_understood() {
        let (verdict, params) = judge("Page.navigate", json!({ "url": " HTTPS:\\\\a.test/x\n" }));
        assert_eq!((verdict, &params["url"]), (Verdict::Pass, &json!("https://a.test/x")));
    }
}
