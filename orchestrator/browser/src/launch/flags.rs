//! Chromium's command line. It is the same for every session, apart from the proxy, its key, the
//! size and the language.

use std::net::SocketAddr;

use crate::launch::programs::CHROMIUM_SANDBOX_VARIABLE;
use crate::{Launch, capture};

/// No traffic to Google, no experiments, nothing that depends on the machine.
const COMMON_FLAGS: &[&str] = &[
    "--allow-pre-commit-input",
    "--disable-back-forward-cache",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-gpu-process-crash-limit",
    "--disable-gpu-watchdog",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-lcd-text",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-quic",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-smooth-scrolling",
    "--disable-sync",
    "--disable-variations-seed-fetch",
    "--enable-automation",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    "--force-prefers-reduced-motion",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    "--log-level=0",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    // DevTools over two pipes that nobody else has, and over no port.
    "--remote-debugging-pipe",
    "--test-type=webdriver",
    "--use-mock-keychain",
    // The gateway resolves names. Anything else that tries to resolve one fails.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE [::1]",
    "--proxy-bypass-list=<-loopback>",
];

/// The proxy of Chromium's own profile, in which no page is ever opened. Its name cannot be
/// resolved, so Chromium's own requests end here, whichever options it ignores. The pages' contexts
/// have the gateway.
const UNRESOLVABLE_PROXY: &str = "nowhere.invalid:1";

/// All frames, tabs and workers of an episode share one process, because the virtual clock belongs
/// to a process.
const SINGLE_RENDERER_FLAGS: &[&str] =
    &["--disable-site-isolation-trials", "--renderer-process-limit=1"];

/// Chromium estimates the network's quality by the time that answers take, and holds back requests
/// where it is bad. On a busy machine it would be.
const NETWORK_QUALITY_FLAG: &str = "--force-effective-connection-type=4G";

/// Frames are drawn on command, and each is complete: no part is left to other threads or to a
/// later frame.
const BEGIN_FRAME_FLAGS: &[&str] = &[
    "--disable-checker-imaging",
    "--disable-image-animation-resync",
    "--disable-new-content-rendering-timeout",
    "--disable-threaded-animation",
    "--disable-threaded-scrolling",
    "--blink-settings=imageAnimationPolicy=2",
    "--enable-begin-frame-control",
    "--run-all-compositor-stages-before-draw",
];

const DISABLED_FEATURES: &[&str] = &[
    "IgnoreDuplicateNavs",
    "Prewarm",
    "AcceptCHFrame",
    "AlignWakeUps",
    "AsyncDns",
    "AutofillServerCommunication",
    // Other threads read and compile these scripts and documents, and they run whenever those
    // threads finish. That order is random.
    "BackgroundResourceFetch",
    "ConsumeCodeCacheOffThread",
    "PrecompileInlineScripts",
    "ScriptStreaming",
    "SmallScriptStreaming",
    "ThreadedBodyLoader",
    "ThreadedPreloadScanner",
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "DialMediaRouteProvider",
    "DnsOverHttps",
    "GlobalMediaControls",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "IsolateOrigins",
    "IsolateSandboxedIframes",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "OriginKeyedProcessesByDefault",
    "PaintHolding",
    "PreloadTopChromeWebUI",
    "Prerender2",
    "PrivacySandboxSettings4",
    "ReduceAcceptLanguage",
    "SiteIsolationForCrossOriginOpenerPolicy",
    "SitePerProcess",
    "SpareRendererForSitePerProcess",
    "ThrottleUnimportantFrameTimers",
    "Translate",
    // Pages of the address bar, loaded anew for every window. They take half the time of a browser
    // that shows one small page.
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    "site-per-process",
];

/// The storage limit of all pages together, because the disk is the machine's. The default is more
/// than half of it. Pages see a quota of 10 GiB in any case.
const STORAGE_QUOTA: &str = "StorageQuotaSettings:PoolSizeBytes/1073741824";

/// The proxy of the browser's own profile, where its gateway is at this address.
pub(crate) fn proxy(launch: &Launch, address: SocketAddr) -> String {
    // In attach mode the pages are in the browser's own profile, where clients look for them.
    let proxy =
        if launch.attach_mode { address.to_string() } else { UNRESOLVABLE_PROXY.to_owned() };
    format!("--proxy-server=http://{proxy}")
}

/// The command line, without the profile folder and the proxy.
pub(crate) fn command_line(
    launch: &Launch,
    begin_frame_control: bool,
    own_sandbox: bool,
) -> Vec<String> {
    let mut flags: Vec<String> = COMMON_FLAGS.iter().map(|&flag| flag.to_owned()).collect();
    if launch.is_frozen() {
        flags.extend(SINGLE_RENDERER_FLAGS.iter().map(|&flag| flag.to_owned()));
    }
    if begin_frame_control {
        flags.extend(BEGIN_FRAME_FLAGS.iter().map(|&flag| flag.to_owned()));
    }
    flags.push(format!("--disable-features={}", DISABLED_FEATURES.join(",")));
    if launch.determinism.is_some() {
        flags.push(NETWORK_QUALITY_FLAG.to_owned());
        flags.push(format!("--enable-features={STORAGE_QUOTA}"));
        // A fetch that outlives its page is a download without a limit, at a random time.
        flags.push("--disable-blink-features=BackgroundFetch".to_owned());
    }
    flags.push(format!("--lang={}", launch.device.locale));
    flags.push(format!("--accept-lang={}", launch.device.locale));
    flags.push(format!("--window-size={},{}", launch.device.viewport.0, launch.device.viewport.1));
    if !launch.ca_spki.is_empty() {
        flags.push(format!("--ignore-certificate-errors-spki-list={}", launch.ca_spki));
    }
    if launch.capture.is_some() {
        flags.push(capture::FLAG.to_owned());
    }
    if launch.headless {
        flags.push("--headless=new".to_owned());
    }
    if !own_sandbox {
        flags.push("--no-sandbox".to_owned());
    }
    flags
}

/// Whether Chromium uses its own sandbox. As root the sandbox does not start.
pub(crate) fn own_sandbox() -> bool {
    let off = std::env::var_os(CHROMIUM_SANDBOX_VARIABLE).is_some_and(|value| value == "off");
    !off && !rustix::process::geteuid().is_root()
}

/// Settings of the browser as a whole without a command-line option.
pub(crate) fn local_state() -> serde_json::Value {
    serde_json::json!({
        "background_mode": { "enabled": false },
        "ssl": { "rev_checking": { "enabled": false } },
    })
}

/// Settings of a profile without a command-line option.
pub(crate) fn preferences() -> serde_json::Value {
    serde_json::json!({
        "browser": { "check_default_browser": false },
        "distribution": {
            "import_bookmarks": false,
            "import_history": false,
            "import_search_engine": false,
            "make_chrome_default_for_user": false,
            "skip_first_run_ui": true,
        },
        "dns_prefetching": { "enabled": false },
        // Pages embedded from another site may set cookies, as they could when they were recorded.
        "profile": { "cookie_controls_mode": 0, "block_third_party_cookies": false, "password_manager_enabled": false },
        "credentials_enable_service": false,
        "autofill": { "profile_enabled": false, "credit_card_enabled": false },
        "dns_over_https": { "mode": "off" },
        "net": { "network_prediction_options": 2 },
        "alternate_error_pages": { "enabled": false },
        "safebrowsing": { "enabled": false },
        "search": { "suggest_enabled": false },
        "translate": { "enabled": false },
        "webrtc": { "ip_handling_policy": "disable_non_proxied_udp" },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_frozen_world_gives_up_site_isolation_and_the_estimate_of_the_network() {
        let mut launch = Launch::new(std::net::SocketAddr::from(([127, 0, 0, 1], 8080)), "");
        let flags = command_line(&launch, false, true);
        assert!(
            !flags
                .iter()
                .any(|flag| flag == "--renderer-process-limit=1" || flag == NETWORK_QUALITY_FLAG)
        );
        launch.determinism =
            Some(crate::Determinism { clock_start: jiff::Timestamp::UNIX_EPOCH, seed: 1 });
        let flags = command_line(&launch, true, false);
        assert!(flags.iter().any(|flag| flag == "--renderer-process-limit=1"));
        assert!(flags.iter().any(|flag| flag == NETWORK_QUALITY_FLAG));
        assert!(flags.iter().any(|flag| flag == "--no-sandbox"));
        let profile = proxy(&launch, ([127, 0, 0, 1], 8080).into());
        assert!(!profile.contains("8080"), "only contexts know the gateway");
        launch.attach_mode = true;
        let flags = command_line(&launch, false, false);
        assert_eq!(
            proxy(&launch, ([127, 0, 0, 1], 8080).into()),
            "--proxy-server=http://127.0.0.1:8080"
        );
        assert!(!flags.iter().any(|flag| flag == "--renderer-process-limit=1"));
    }
}
