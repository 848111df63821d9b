//! Cookies with which an episode begins.

use serde_json::{Value, json};

use crate::cdp::targets::with_browser_context;
use crate::{Error, Session};

/// A cookie that lasts as long as the episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value, as it is sent.
    pub value: String,
    /// A page of the host that it belongs to.
    pub url: String,
    /// The prefix of the paths to which it is sent.
    pub path: String,
    /// Its domain; `None` is only the host of `url`.
    pub domain: Option<String>,
    /// Whether it is sent only over HTTPS.
    pub secure: bool,
    /// Whether it is hidden from scripts.
    pub http_only: bool,
    /// `Strict`, `Lax` or `None`.
    pub same_site: Option<String>,
}

impl Session {
    /// Adds cookies to the present episode.
    ///
    /// # Errors
    /// If the browser refuses one of them, or has ended.
    pub async fn set_cookies(&self, cookies: &[Cookie]) -> Result<(), Error> {
        let context = self.context()?;
        let cookies: Vec<Value> = cookies.iter().map(to_cdp).collect();
        let params = with_browser_context(json!({ "cookies": cookies }), context.as_deref());
        self.cdp().call(None, "Storage.setCookies", params).await.map(drop)
    }
}

fn to_cdp(cookie: &Cookie) -> Value {
    let mut to_cdp = json!({
        "name": cookie.name,
        "value": cookie.value,
        "url": cookie.url,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
    });
    if !cookie.secure {
        // A login also holds on pages without encryption. Chromium would restrict the cookie to the
        // scheme of `url`.
        to_cdp["url"] = json!(cookie.url.replacen("https://", "http://", 1));
        to_cdp["sourceScheme"] = json!("Unset");
    }
    if let Some(domain) = &cookie.domain {
        to_cdp["domain"] = json!(domain);
    }
    if let Some(same_site) = &cookie.same_site {
        to_cdp["sameSite"] = json!(same_site);
    }
    to_cdp
}
