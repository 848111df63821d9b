//! The variables that any program needs, and those that a window needs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where programs, the user's files and temporary files are; the language; the time zone.
const NAMES: [&str; 6] = ["PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR"];
/// What the names of the settings for single matters of language begin with.
const LANGUAGES: &str = "LC_";

type Variables = Vec<(OsString, OsString)>;

/// The environment of a program that is not to see the user's: `PATH`, `HOME`, `LANG`, `LANGUAGE`,
/// `LC_*`, `TZ` and `TMPDIR`, each where this process has it.
pub fn minimal() -> Variables {
    minimal_of(env::vars_os())
}

/// What a program needs besides to open a window on the user's screen, where there is one:
/// `DISPLAY` and `XAUTHORITY` for X, `WAYLAND_DISPLAY` and `XDG_RUNTIME_DIR` for Wayland.
pub fn display() -> Variables {
    display_of(|name| env::var_os(name).filter(|value| !value.is_empty()), Path::is_file)
}

fn minimal_of(all: impl Iterator<Item = (OsString, OsString)>) -> Variables {
    all.filter(|(name, _)| is_minimal(name)).collect()
}

fn is_minimal(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| NAMES.contains(&name) || name.starts_with(LANGUAGES))
}

fn display_of(
    get: impl Fn(&str) -> Option<OsString>,
    is_file: impl Fn(&Path) -> bool,
) -> Variables {
    let mut variables = Variables::new();
    let mut pass = |name: &str, value: Option<OsString>| {
        variables.extend(value.map(|value| (OsString::from(name), value)));
    };
    if let Some(display) = get("DISPLAY") {
        pass("DISPLAY", Some(display));
        // Where it is looked for unless named; the program may have another home than the user.
        let usual = get("HOME").map(|home| PathBuf::from(home).join(".Xauthority"));
        let usual = usual.filter(|path| is_file(path)).map(PathBuf::into_os_string);
        pass("XAUTHORITY", get("XAUTHORITY").or(usual));
    }
    if let Some(display) = get("WAYLAND_DISPLAY") {
        pass("WAYLAND_DISPLAY", Some(display));
        // The folder of the display's socket.
        pass("XDG_RUNTIME_DIR", get("XDG_RUNTIME_DIR"));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|&(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn keys_tokens_and_proxies_are_not_passed_on() {
        let users = os(&[
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "secret"),
            ("HOME", "/home/user"),
            ("LC_ALL", "C"),
            ("LCD", "no"),
            ("https_proxy", "http://proxy:1"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/bus"),
            ("TZ", "UTC"),
        ]);
        let left = os(&[("PATH", "/bin"), ("HOME", "/home/user"), ("LC_ALL", "C"), ("TZ", "UTC")]);
        assert_eq!(minimal_of(users.into_iter()), left);
    }

    #[test]
    fn a_window_finds_its_screen_from_another_home() {
        let get = |name: &str| match name {
            "DISPLAY" => Some(":0".into()),
            "HOME" => Some("/home/user".into()),
            _ => None,
        };
        let x = os(&[("DISPLAY", ":0"), ("XAUTHORITY", "/home/user/.Xauthority")]);
        assert_eq!(display_of(get, |_| true), x);
        assert_eq!(display_of(get, |_| false), x[..1]);
        let wayland = |name: &str| (name != "DISPLAY" && name != "HOME").then(|| name.into());
        let expected =
            os(&[("WAYLAND_DISPLAY", "WAYLAND_DISPLAY"), ("XDG_RUNTIME_DIR", "XDG_RUNTIME_DIR")]);
        assert_eq!(display_of(wayland, |_| false), expected);
        assert_eq!(display_of(|_| None, |_| true), []);
    }
}
