//! Detects secrets by their format, without regular expressions: a known prefix, and enough valid
//! characters after it.

use super::SecretKind;

/// A known key prefix, the characters that follow it, and their minimum number.
struct Form {
    start: &'static str,
    least: usize,
    allowed: fn(u8) -> bool,
}

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn dotted(byte: u8) -> bool {
    url_safe(byte) || byte == b'.'
}

/// Published key formats of widely used services.
const FORMS: &[Form] = &[
    Form { start: "AKIA", least: 16, allowed: upper },
    Form { start: "ASIA", least: 16, allowed: upper },
    Form { start: "AIza", least: 35, allowed: url_safe },
    Form { start: "ya29.", least: 20, allowed: dotted },
    Form { start: "ghp_", least: 36, allowed: word },
    Form { start: "gho_", least: 36, allowed: word },
    Form { start: "ghu_", least: 36, allowed: word },
    Form { start: "ghs_", least: 36, allowed: word },
    Form { start: "ghr_", least: 36, allowed: word },
    Form { start: "github_pat_", least: 50, allowed: word },
    Form { start: "glpat-", least: 20, allowed: url_safe },
    Form { start: "xoxb-", least: 20, allowed: url_safe },
    Form { start: "xoxp-", least: 20, allowed: url_safe },
    Form { start: "xoxa-", least: 20, allowed: url_safe },
    Form { start: "xoxs-", least: 20, allowed: url_safe },
    Form { start: "sk_live_", least: 20, allowed: word },
    Form { start: "rk_live_", least: 20, allowed: word },
    Form { start: "sk-proj-", least: 30, allowed: url_safe },
    Form { start: "sk-ant-", least: 30, allowed: url_safe },
    Form { start: "hf_", least: 34, allowed: word },
    Form { start: "npm_", least: 36, allowed: word },
    Form { start: "pypi-AgEI", least: 50, allowed: url_safe },
    Form { start: "SG.", least: 60, allowed: dotted },
];

/// Secrets by their format alone, anywhere in a text.
pub(super) fn find(text: &[u8]) -> Vec<(SecretKind, &[u8])> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        // Only at the start of a word.
        let begins = at == 0 || !word(text[at - 1]);
        let hit = if begins { starts_here(&text[at..]) } else { None };
        match hit {
            Some((kind, length)) => {
                found.push((kind, &text[at..at + length]));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

fn starts_here(text: &[u8]) -> Option<(SecretKind, usize)> {
    match text.first()? {
        b'e' => json_web_token(text).map(|length| (SecretKind::JsonWebToken, length)),
        b'-' => private_key(text).map(|length| (SecretKind::PrivateKey, length)),
        _ => FORMS.iter().find_map(|form| {
            let rest = text.strip_prefix(form.start.as_bytes())?;
            let length = rest.iter().take_while(|byte| (form.allowed)(**byte)).count();
            (length >= form.least).then_some((SecretKind::ApiKey, form.start.len() + length))
        }),
    }
}

/// `eyJ….eyJ….…`: three parts, the first two of them JSON in base64.
fn json_web_token(text: &[u8]) -> Option<usize> {
    if !text.starts_with(b"eyJ") {
        return None;
    }
    let length = text.iter().take_while(|byte| dotted(**byte)).count();
    let mut parts = text[..length].split(|byte| *byte == b'.');
    let (head, claims, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let form = head.len() >= 10 && claims.len() >= 10 && claims.starts_with(b"eyJ") && signature.len() >= 10;
    form.then_some(head.len() + claims.len() + signature.len() + 2)
}

fn private_key(text: &[u8]) -> Option<usize> {
    let line = text.get(..text.len().min(64))?;
    let rest = line.strip_prefix(b"-----BEGIN ")?;
    let end = rest.windows(5).position(|window| window == b"-----")?;
    rest[..end].ends_with(b"PRIVATE KEY").then_some(11 + end + 5)
}

/// Names of request headers that carry a secret.
pub(in crate::ops) fn is_key_header(lower: &str) -> bool {
    matches!(
        lower,
        "authorization" | "proxy-authorization" | "x-api-key" | "api-key" | "x-auth-token" | "x-access-token"
    ) || (lower.starts_with("x-") && lower.ends_with("-api-key"))
}

/// Cookie names that look like a session's.
pub(super) fn is_session_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let parts = ["sess", "auth", "token", "jwt", "login", "remember", "credential"];
    parts.iter().any(|part| name.contains(part))
        || name == "sid"
        || name.ends_with("sid")
        || name.ends_with(".sid")
}

/// Fields in which a person types a password.
pub(in crate::ops) fn is_password(name: &str) -> bool {
    let plain = plain(name);
    let parts = ["password", "passwd", "passphrase", "passwort", "kennwort", "motdepasse", "contrasena"];
    parts.iter().any(|part| plain.contains(part))
        || ["pass", "pwd", "passcode", "senha"].contains(&plain.as_str())
        || plain.ends_with("pwd")
}

/// Fields that hold credentials issued by a server, and that no page has in a form of its own.
pub(in crate::ops) fn is_issued(name: &str) -> bool {
    let known = ["apikey", "accesstoken", "authtoken", "idtoken", "refreshtoken", "clientsecret"];
    known.contains(&plain(name).as_str())
}

/// The same in JSON, where `token` alone is such a credential. In a form, `token` identifies the
/// page's own form.
pub(in crate::ops) fn is_token(name: &str) -> bool {
    is_issued(name) || ["token", "jwt", "sessionid"].contains(&plain(name).as_str())
}

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Query fields that look like a secret.
pub(super) fn is_secret_field(name: &str) -> bool {
    let plain = plain(name);
    let known = [
        "apikey",
        "accesstoken",
        "authtoken",
        "idtoken",
        "refreshtoken",
        "password",
        "passwd",
        "clientsecret",
    ];
    known.contains(&plain.as_str()) || plain.ends_with("secret") || plain == "token" || plain == "sessionid"
}

/// Empty, a placeholder, or a cookie that is being deleted.
pub(super) fn is_harmless(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let empty = [&b"\"\""[..], b"deleted", b"null", b"undefined", b"0", b"1", b"true", b"false"];
    value.is_empty() || value.starts_with(b"redacted-") || empty.contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let check = |text: &str, expect: &[SecretKind]| {
            let kinds: Vec<SecretKind> = find(text.as_bytes()).into_iter().map(|(kind, _)| kind).collect();
            assert_eq!(kinds, expect, "{text}");
        };
        // Concatenated here, so that secret scanners do not report this file.
        let key = format!("{}{}", "AKIA", "ABCDEFGHIJKLMNOP");
        check(&format!("x='{key}'"), &[SecretKind::ApiKey]);
        check(&format!("X{key}"), &[]);
        check("AKIA", &[]);
        let token = format!("{}.{}.{}", "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJlLWhlcmU");
        check(&format!("Bearer {token}, {token}"), &[SecretKind::JsonWebToken; 2]);
        check("eyJhbGciOiJIUzI1NiJ9", &[]);
        check(&format!("{}PRIVATE KEY-----\nMII", "-----BEGIN RSA "), &[SecretKind::PrivateKey]);
        check("-----BEGIN CERTIFICATE-----", &[]);
    }

    #[test]
    fn names() {
        assert!(is_session_name("PHPSESSID") && is_session_name("connect.sid") && !is_session_name("theme"));
        assert!(is_secret_field("api_key") && is_secret_field("Client-Secret") && !is_secret_field("key"));
        assert!(is_password("user[password]") && is_password("new-Passwd") && !is_password("passenger"));
        assert!(
            is_token("token")
                && !is_issued("csrf_token")
                && !is_issued("_token")
                && is_issued("access_token")
        );
        assert!(is_harmless(b" redacted-12345678") && !is_harmless(b"abc"));
    }
}
