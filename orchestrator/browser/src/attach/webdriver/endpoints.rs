//! The commands that a client may give: those of the W3C's WebDriver, by method and path.
//!
//! chromedriver has more, which end it, start other browsers, write files, or send commands of
//! DevTools as they are. Only what is listed here is passed on.

use ::http::Method;

/// The commands on a session, as its specification lists them. `*` is an id or a name.
const SESSION: &[(&str, &str)] = &[
    ("GET", "timeouts"),
    ("POST", "timeouts"),
    ("POST", "url"),
    ("GET", "url"),
    ("POST", "back"),
    ("POST", "forward"),
    ("POST", "refresh"),
    ("GET", "title"),
    ("GET", "window"),
    ("DELETE", "window"),
    ("POST", "window"),
    ("GET", "window/handles"),
    ("POST", "window/new"),
    ("POST", "frame"),
    ("POST", "frame/parent"),
    ("GET", "window/rect"),
    ("POST", "window/rect"),
    ("POST", "window/maximize"),
    ("POST", "window/minimize"),
    ("POST", "window/fullscreen"),
    ("GET", "element/active"),
    ("GET", "element/*/shadow"),
    ("POST", "element"),
    ("POST", "elements"),
    ("POST", "element/*/element"),
    ("POST", "element/*/elements"),
    ("POST", "shadow/*/element"),
    ("POST", "shadow/*/elements"),
    ("GET", "element/*/selected"),
    ("GET", "element/*/displayed"),
    ("GET", "element/*/attribute/*"),
    ("GET", "element/*/property/*"),
    ("GET", "element/*/css/*"),
    ("GET", "element/*/text"),
    ("GET", "element/*/name"),
    ("GET", "element/*/rect"),
    ("GET", "element/*/enabled"),
    ("GET", "element/*/computedrole"),
    ("GET", "element/*/computedlabel"),
    ("POST", "element/*/click"),
    ("POST", "element/*/clear"),
    ("POST", "element/*/value"),
    ("GET", "source"),
    ("POST", "execute/sync"),
    ("POST", "execute/async"),
    ("GET", "cookie"),
    ("GET", "cookie/*"),
    ("POST", "cookie"),
    ("DELETE", "cookie/*"),
    ("DELETE", "cookie"),
    ("POST", "actions"),
    ("DELETE", "actions"),
    ("POST", "alert/dismiss"),
    ("POST", "alert/accept"),
    ("GET", "alert/text"),
    ("POST", "alert/text"),
    ("GET", "screenshot"),
    ("GET", "element/*/screenshot"),
    ("POST", "print"),
];

/// The command of a client.
#[derive(Debug, PartialEq)]
pub(super) enum Request<'p> {
    Status,
    NewSession,
    DeleteSession {
        session: &'p str,
    },
    /// A command on a session. `command` is what follows the session in the path.
    Command {
        session: &'p str,
        command: &'p str,
    },
    /// Nothing that is answered.
    Unknown,
    /// A known path with another method.
    OtherMethod,
}

/// Understands a method and a path without the key.
pub(super) fn parse<'p>(method: &Method, path: &'p str) -> Request<'p> {
    let path = path.strip_prefix('/').unwrap_or(path);
    // Clients differ in the slash at the end.
    let path = path.strip_suffix('/').unwrap_or(path);
    let (found, right) = match path.split_once('/') {
        None if path == "status" => (Request::Status, method == Method::GET),
        None if path == "session" => (Request::NewSession, method == Method::POST),
        Some(("session", session)) if is_segment(session) => {
            (Request::DeleteSession { session }, method == Method::DELETE)
        }
        Some(("session", rest)) => return parse_command(method, rest),
        _ => return Request::Unknown,
    };
    if right { found } else { Request::OtherMethod }
}

fn parse_command<'p>(method: &Method, path: &'p str) -> Request<'p> {
    let Some((session, command)) = path.split_once('/') else { return Request::Unknown };
    let mut methods =
        SESSION.iter().filter(|(_, pattern)| fits(pattern, command)).map(|(known, _)| *known);
    match methods.next() {
        None => Request::Unknown,
        Some(first) if method == first || methods.any(|known| method == known) => {
            Request::Command { session, command }
        }
        Some(_) => Request::OtherMethod,
    }
}

fn fits(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("*"), Some(segment)) if is_segment(segment) => {}
            (Some(word), Some(segment)) if word == segment => {}
            _ => return false,
        }
    }
}

/// Whether it is one segment of a path (RFC 3986), and neither this folder nor the one above.
fn is_segment(text: &str) -> bool {
    // URL parsers take `\` for a slash.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:@".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain) && !is_dots(text)
}

/// Whether a URL's parser takes a segment for this folder or the one above.
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed<'p>(method: &str, path: &'p str) -> Request<'p> {
        parse(&method.parse().unwrap_or_default(), path)
    }

    #[test]
    fn the_commands_of_the_specification_are_known() {
        assert_eq!(parsed("GET", "/status"), Request::Status);
        assert_eq!(parsed("POST", "/session"), Request::NewSession);
        assert_eq!(parsed("POST", "/session/"), Request::NewSession);
        assert_eq!(parsed("DELETE", "/session/s1"), Request::DeleteSession { session: "s1" });
        for (method, pattern) in SESSION {
            let command = pattern.replace('*', "f.A1-B2%20c");
            let path = format!("/session/s1/{command}");
            let expected = Request::Command { session: "s1", command: &command };
            assert_eq!(parsed(method, &path), expected, "{method} {path}");
        }
    }

    #[test]
    fn other_methods_of_known_paths_are_told_apart() {
        for (method, path) in [
            ("GET", "/session"),
            ("DELETE", "/session"),
            ("POST", "/status"),
            ("GET", "/session/s1"),
            ("POST", "/session/s1"),
            ("PUT", "/session/s1/url"),
            ("DELETE", "/session/s1/url"),
            ("GET", "/session/s1/execute/sync"),
        ] {
            assert_eq!(parsed(method, path), Request::OtherMethod, "{method} {path}");
        }
    }

    /// The commands that chromedriver has besides, by its own list, and paths that can be read in
    /// two ways.
    #[test]
    fn nothing_else_is_known() {
        let beyond = [
            "goog/cdp/execute",
            "goog/cast/get_sinks",
            "goog/page/freeze",
            "ms/cdp/execute",
            "chromium/send_command",
            "chromium/send_command_and_get_result",
            "chromium/network_conditions",
            "chromium/launch_app",
            "se/file",
            "se/log",
            "se/log/types",
            "file",
            "log",
            "log/types",
            "sendkeys",
            "is_loading",
            "local_storage",
            "session_storage/size",
            "network_connection",
            "location",
            "geolocation",
            "orientation",
            "touch/click",
            "execute",
            "execute_async",
            "execute_sql",
            "permissions",
            "reporting/generate_test_report",
            "webauthn/authenticator",
            "custom-handlers/set-mode",
            "fedcm/canceldialog",
            "sensor",
            "storage/run_bounce_tracking_mitigations",
            "bluetooth/simulateadapter",
            "devicePosture",
            "protectedaudience/set_k_anonymity",
            "heap_snapshot",
            "visible",
            "",
            "url/x",
            "element//click",
            "element/../url",
            "element/%2e%2E/click",
            "element/a/b/click",
            "element/./click",
            "element/a\\..\\..\\shutdown/click",
            "cookie/..\\..\\..\\shutdown",
            "cookie/..",
            "URL",
            "url%2f",
            "%75rl",
        ];
        for command in beyond {
            for method in ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"] {
                let path = format!("/session/s1/{command}");
                let found = parsed(method, &path);
                assert!(
                    matches!(found, Request::Unknown) || command.is_empty(),
                    "{method} {path}: {found:?}"
                );
                assert!(!matches!(found, Request::Command { .. }), "{method} {path}");
            }
        }
        for path in
            ["/shutdown", "/sessions", "/", "", "/session/..", "/session/%2e%2e", "/wd/hub/session"]
        {
            for method in ["GET", "POST", "DELETE"] {
                assert_eq!(parsed(method, path), Request::Unknown, "{method} {path}");
            }
        }
    }
}
