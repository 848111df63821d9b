//! Cookies with which an episode begins.

use serde_json::{Value, json};
use world_spec::Cookie;

use crate::cdp::targets::with_browser_context;
use crate::{Error, Session};

impl Session {
    /// Adds cookies to the present episode, each with the URL of a page of its host. They last as
    /// long as the episode, whose time is not that of who has set them.
    ///
    /// # Errors
    /// If the browser refuses one of them, or has ended.
    pub async fn set_cookies(&self, cookies: &[(String, Cookie)]) -> Result<(), Error> {
        let context = self.context()?;
        let cookies: Vec<Value> = cookies.iter().map(|(url, cookie)| to_cdp(url, cookie)).collect();
        let params = with_browser_context(json!({ "cookies": cookies }), context.as_deref());
        self.cdp().call(None, "Storage.setCookies", params).await.map(drop)
    }
}

fn to_cdp(url: &str, cookie: &Cookie) -> Value {
    let mut to_cdp = json!({
        "name": cookie.name,
        "value": cookie.value,
        "url": url,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
    });
    if !cookie.secure {
        // A login also holds on pages without encryption. Chromium would restrict the cookie to the
        // scheme of `url`.
        to_cdp["url"] = json!(url.replacen("https://", "http://", 1));
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
