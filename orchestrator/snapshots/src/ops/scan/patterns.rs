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
    // The first part of a token that was none ends here; a later start in it makes it shorter.
    let mut head_end = 0;
    while at < text.len() {
        // Only at the start of a word.
        let begins = at == 0 || !word(text[at - 1]);
        let hit = match &text[at..] {
            _ if !begins => None,
            [b'e', b'y', b'J', ..] if at < head_end => None,
            [b'e', b'y', b'J', ..] => {
                head_end = at + part(&text[at..]).len();
                json_web_token(&text[at..]).map(|length| (SecretKind::JsonWebToken, length))
            }
            rest => starts_here(rest),
        };
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
    let head = part(text);
    let claims = part(text[head.len()..].strip_prefix(b".")?);
    let signature = part(text[head.len() + 1 + claims.len()..].strip_prefix(b".")?);
    let form = head.len() >= 10
        && claims.len() >= 10
        && claims.starts_with(b"eyJ")
        && signature.len() >= 10;
    form.then_some(head.len() + claims.len() + signature.len() + 2)
}

/// The bytes up to a dot, or what cannot be in a token.
fn part(text: &[u8]) -> &[u8] {
    &text[..text.iter().take_while(|byte| url_safe(**byte)).count()]
}

fn private_key(text: &[u8]) -> Option<usize> {
    let line = text.get(..text.len().min(64))?;
    let rest = line.strip_prefix(b"-----BEGIN ")?;
    let end = rest.windows(5).position(|window| window == b"-----")?;
    rest[..end].ends_with(b"PRIVATE KEY").then_some(11 + end + 5)
}

/// Names of headers that carry a secret, by the services that use them. A token against forged
/// requests is none: it belongs to a page.
const KEY_HEADERS: &[&str] = &[
    "api-key",
    "api_key",
    "apikey",
    "authentication",
    "authorization",
    "cf-access-jwt-assertion",
    "dd-application-key",
    "deploy-token",
    "job-token",
    "ocp-apim-subscription-key",
    "private-token",
    "x-amzn-oidc-accesstoken",
    "x-amzn-oidc-data",
    "x-apikey",
    "x-auth-key",
    "x-authorization",
    "x-aws-ec2-metadata-token",
    "x-consul-token",
    "x-figma-token",
    "x-functions-key",
    "x-github-token",
    "x-gitlab-token",
    "x-goog-iap-jwt-assertion",
    "x-jwt",
    "x-nomad-token",
    "x-parse-master-key",
    "x-plex-token",
    "x-rapidapi-key",
    "x-service-token",
    "x-subject-token",
    "x-token",
    "x-vault-token",
];
/// How such names end.
const KEY_HEADER_ENDS: &[&str] = &[
    "-access-token",
    "-api-key",
    "-api-token",
    "-auth-token",
    "-authorization",
    "-client-secret",
    "-id-token",
    "-refresh-token",
    "-secret-key",
    "-security-token",
    "-session-token",
    "-user-token",
];

/// Whether the header of this name carries a secret.
pub(in crate::ops) fn is_key_header(lower: &str) -> bool {
    KEY_HEADERS.contains(&lower)
        || KEY_HEADER_ENDS.iter().any(|end| lower.ends_with(end))
        || (lower.starts_with("x-") && lower.ends_with("-secret"))
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
    let parts =
        ["password", "passwd", "passphrase", "passwort", "kennwort", "motdepasse", "contrasena"];
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
    known.contains(&plain.as_str())
        || plain.ends_with("secret")
        || plain == "token"
        || plain == "sessionid"
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
            let kinds: Vec<SecretKind> =
                find(text.as_bytes()).into_iter().map(|(kind, _)| kind).collect();
            assert_eq!(kinds, expect, "{text}");
        };
        // Concatenated here, so that secret scanners do not report this file.
        let key = format!("{}{}", "AKIA", "ABCDEFGHIJKLMNOP");
        check(&format!("x='{key}'"), &[SecretKind::ApiKey]);
        check(&format!("X{key}"), &[]);
        check("AKIA", &[]);
        let token = format!(
            "{}.{}.{}",
            "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJlLWhlcmU"
        );
        check(&format!("Bearer {token}, {token}"), &[SecretKind::JsonWebToken; 2]);
        check("eyJhbGciOiJIUzI1NiJ9", &[]);
        check(&format!("{}PRIVATE KEY-----\nMII", "-----BEGIN RSA "), &[SecretKind::PrivateKey]);
        check("-----BEGIN CERTIFICATE-----", &[]);
    }

    /// Each text took hours when every start of a token was read to the end of its word.
    #[test]
    fn a_long_text_is_searched_once() {
        for part in [
            "eyJ-",
            "eyJ.",
            "eyJ-eyJ.",
            "sk-ant-",
            "SG.",
            "-----BEGIN ",
            "AKIA ",
            "eyJ-----------.",
        ] {
            find(part.repeat(4_000_000 / part.len()).as_bytes());
        }
        let token = format!(
            "{}.{}.{}",
            "eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", "c2lnbmF0dXJlLWhlcmU"
        );
        let text = format!("eyJ-eyJ.{token}");
        assert_eq!(find(text.as_bytes()), [(SecretKind::JsonWebToken, token.as_bytes())]);
    }

    #[test]
    fn names() {
        assert!(
            is_session_name("PHPSESSID")
                && is_session_name("connect.sid")
                && !is_session_name("theme")
        );
        assert!(
            is_secret_field("api_key")
                && is_secret_field("Client-Secret")
                && !is_secret_field("key")
        );
        assert!(
            is_password("user[password]") && is_password("new-Passwd") && !is_password("passenger")
        );
        assert!(
            is_token("token")
                && !is_issued("csrf_token")
                && !is_issued("_token")
                && is_issued("access_token")
        );
        for name in [
            "private-token",
            "x-vault-token",
            "x-amz-security-token",
            "x-goog-api-key",
            "x-hasura-admin-secret",
        ] {
            assert!(is_key_header(name), "{name}");
        }
        for name in
            ["x-csrf-token", "etag", "www-authenticate", "x-request-id", "sec-websocket-key"]
        {
            assert!(!is_key_header(name), "{name}");
        }
        assert!(is_harmless(b" redacted-12345678") && !is_harmless(b"abc"));
    }
}
