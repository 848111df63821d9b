//! Cookies that an episode begins with.

use serde_json::{Value, json};

use crate::{Error, Session, session::with_browser_context};

/// A cookie that lasts as long as the episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value, as it is sent.
    pub value: String,
    /// A page of the host that it belongs to.
    pub url: String,
    /// The paths that it is sent to, by their beginning.
    pub path: String,
    /// The domain that it is for; the host of `url` alone if there is none.
    pub domain: Option<String>,
    /// Whether it is sent by HTTPS only.
    pub secure: bool,
    /// Whether scripts do not see it.
    pub http_only: bool,
    /// `Strict`, `Lax` or `None`.
    pub same_site: Option<String>,
}

impl Session {
    /// Gives the present episode cookies.
    ///
    /// # Errors
    /// When the browser refuses one of them, or is gone.
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
        // Whoever is logged in is so on pages without encryption, too; Chromium would keep the cookie to the scheme of `url`.
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
