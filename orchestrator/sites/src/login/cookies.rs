//! Stores the cookies that a site sets during a log-in.

use std::time::SystemTime;

use http::{HeaderMap, header};
use jiff::{SignedDuration, Timestamp};
use world_spec::Cookie;

/// Parses a line of `Set-Cookie`. `page` is the path of the page that sets it.
fn read_cookie(line: &str, page: &str, now: Timestamp) -> Option<Cookie> {
    let mut parts = line.split(';');
    let (name, value) = parts.next()?.split_once('=')?;
    let mut cookie = Cookie::new(name.trim(), value.trim());
    // The default path is the folder of the page that sets the cookie.
    cookie.path = page.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut lasts = None;
    for part in parts {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "path" if value.starts_with('/') => value.clone_into(&mut cookie.path),
            "domain" if !value.is_empty() => {
                cookie.domain = Some(value.trim_start_matches('.').to_owned())
            }
            "secure" => cookie.secure = true,
            "httponly" => cookie.http_only = true,
            "samesite" => cookie.same_site = Some(value.to_owned()),
            "max-age" => lasts = value.parse::<i64>().ok(),
            "expires" => cookie.expires = date(value),
            _ => {}
        }
    }
    if let Some(seconds) = lasts {
        cookie.expires = now.checked_add(SignedDuration::from_secs(seconds)).ok();
    }
    if cookie.path.is_empty() {
        "/".clone_into(&mut cookie.path);
    }
    (!cookie.name.is_empty()).then_some(cookie)
}

/// Whether requests for this path carry it.
fn is_for(cookie: &Cookie, path: &str) -> bool {
    path.strip_prefix(cookie.path.as_str()).is_some_and(|rest| {
        rest.is_empty() || cookie.path.ends_with('/') || rest.starts_with(['/', '?'])
    })
}

/// Parses a date as sites write it, with spaces or dashes.
fn date(text: &str) -> Option<Timestamp> {
    let time: SystemTime = httpdate::parse_http_date(text)
        .or_else(|_| httpdate::parse_http_date(&text.replace('-', " ")))
        .ok()?;
    Timestamp::try_from(time).ok()
}

/// All cookies of one visitor.
#[derive(Debug, Clone, Default)]
pub(super) struct Cookies(pub(super) Vec<Cookie>);

impl Cookies {
    /// Stores the cookies that a response sets; `now` is the site's clock.
    pub(super) fn take(&mut self, headers: &HeaderMap, page: &str, now: Timestamp) {
        let path = page.split('?').next().unwrap_or_default();
        for line in headers.get_all(header::SET_COOKIE) {
            let line = String::from_utf8_lossy(line.as_bytes());
            let Some(cookie) = read_cookie(&line, path, now) else { continue };
            self.0.retain(|own| {
                (&own.name, &own.path, &own.domain) != (&cookie.name, &cookie.path, &cookie.domain)
            });
            if cookie.expires.is_none_or(|expires| expires > now) {
                self.0.push(cookie);
            }
        }
    }

    /// The `Cookie` header of a request for a page.
    pub(super) fn header(&self, path: &str) -> Option<http::HeaderValue> {
        let line: Vec<String> = self
            .0
            .iter()
            .filter(|cookie| is_for(cookie, path))
            .map(|cookie| format!("{}={}", cookie.name, cookie.value))
            .collect();
        if line.is_empty() { None } else { http::HeaderValue::from_str(&line.join("; ")).ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_kept_replaced_ended_and_sent_where_they_belong() {
        let now: Timestamp = "2023-06-15T09:00:00Z".parse().unwrap();
        let mut cookies = Cookies::default();
        let mut answer = |page: &str, lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::SET_COOKIE, line.parse().unwrap());
            }
            cookies.take(&headers, page, now);
            cookies.clone()
        };
        answer(
            "/login/?x=/y/z",
            &[
                "session=1; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=60",
                "old=1; path=/; expires=Thu, 01-Jan-1970 00:00:00 GMT",
                "deep=2",
                "nonsense",
            ],
        );
        let kept = answer(
            "/",
            &["session=2; Path=/; Expires=Fri, 16 Jun 2023 09:00:00 GMT", "other=3; Path=/a"],
        );
        assert_eq!(kept.header("/").unwrap(), "session=2");
        assert_eq!(kept.header("/login?x").unwrap(), "deep=2; session=2");
        assert_eq!(kept.header("/loginx").unwrap(), "session=2");
        assert_eq!(kept.header("/a/b").unwrap(), "session=2; other=3");
        let session = kept.0.iter().find(|cookie| cookie.name == "session").unwrap();
        assert_eq!(session.expires, Some("2023-06-16T09:00:00Z".parse().unwrap()));
        let ended = answer("/", &["session=; Path=/; Max-Age=0"]);
        assert_eq!(ended.header("/"), None);
    }
}
