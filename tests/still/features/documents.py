"""Response heads that change what a page is."""

from bytes_of import png
from grammar import PNG, feature, text

VIOLATION = (
    "addEventListener('securitypolicyviolation', event => event.effectiveDirective === '%s' &&"
    " say(event.disposition));"
)

feature("coop", "say(self.crossOriginIsolated);", heads=["Cross-Origin-Opener-Policy: same-origin"])
feature(
    "coep", "say(self.crossOriginIsolated);", heads=["Cross-Origin-Embedder-Policy: require-corp"]
)
feature(
    "isolated",
    "say(self.crossOriginIsolated); say(typeof SharedArrayBuffer); say(new Date().getFullYear());"
    " say(Math.random().toFixed(4));",
    heads=["Cross-Origin-Opener-Policy: same-origin", "Cross-Origin-Embedder-Policy: require-corp"],
)
feature(
    "isolated-credentialless",
    "say(self.crossOriginIsolated); say(new Date().toISOString().slice(0, 13));",
    heads=[
        "Cross-Origin-Opener-Policy: same-origin",
        "Cross-Origin-Embedder-Policy: credentialless",
    ],
)
feature(
    "document-isolation",
    "say(self.crossOriginIsolated);",
    heads=["Document-Isolation-Policy: isolate-and-require-corp"],
)
feature("coop-popups", "say('up');", heads=["Cross-Origin-Opener-Policy: same-origin-allow-popups"])
feature("agent-cluster", "say(self.originAgentCluster);", heads=["Origin-Agent-Cluster: ?1"])
feature(
    "csp-picture",
    VIOLATION % "img-src"
    + "const i = new Image(); i.onerror = () => say('error'); i.src = '@far/a.png';",
    heads=["Content-Security-Policy: img-src 'self' data: blob:"],
    files={"a.png": text(png(5, 5), PNG)},
)
feature(
    "csp-report-only",
    VIOLATION % "connect-src" + "await fetch('@/a'); say('fetched');",
    heads=["Content-Security-Policy-Report-Only: connect-src 'none'"],
    files={"a": text("a")},
)
feature(
    "csp-style",
    VIOLATION % "style-src-elem"
    + "const s = document.createElement('style'); s.textContent = 'b { color: red }';"
    " here.append(s);",
    heads=["Content-Security-Policy-Report-Only: style-src 'self'"],
)
feature(
    "trusted-types",
    VIOLATION % "require-trusted-types-for"
    + "here.insertAdjacentHTML('beforeend', '<b>x</b>'); say('inserted');",
    heads=["Content-Security-Policy-Report-Only: require-trusted-types-for 'script'"],
)
feature(
    "permissions-policy",
    "navigator.geolocation.getCurrentPosition(() => say('place'), error => say('error' +"
    " error.code));",
    heads=["Permissions-Policy: geolocation=()"],
)
feature("referrer-policy", "say(document.referrer.length);", heads=["Referrer-Policy: no-referrer"])
feature(
    "link-preload-head",
    "say('up');",
    heads=["Link: </f/link-preload-head/a.css>; rel=preload; as=style"],
    files={"a.css": text("b {}", "text/css")},
)
feature(
    "server-timing",
    "addEventListener('load', () => setTimeout(() =>"
    " say(performance.getEntriesByType('navigation')[0].serverTiming.length)));",
    heads=["Server-Timing: lab;dur=5"],
)
feature("cache-control", "say('up');", heads=["Cache-Control: no-store"])
feature(
    "cookie-head",
    "say(document.cookie.includes('lab-page'));",
    heads=["Set-Cookie: lab-page=1; Path=/"],
)
feature("document-policy", "say('up');", heads=["Document-Policy: js-profiling"])
