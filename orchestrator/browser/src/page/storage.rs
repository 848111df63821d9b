//! Cookies and the storage of origins, read from the browser and written to it.
//!
//! Storage belongs to a document of its origin. So a tab opens an empty page of each origin in
//! turn, to read and write there. We give the browser that page, so neither the gateway nor a
//! server sees the request. The storage of a frame from another site belongs to the pair of sites.
//! It is not read here, nor by Playwright.

use serde_json::{Value, json};
use world_spec::{Entry, OriginState, StorageState, StoredCookie};

use crate::cdp::connection::CALL_TIMEOUT;
use crate::cdp::targets::with_browser_context;
use crate::cdp::tracker::{BrowserState, Page};
use crate::{Error, Session};

impl Session {
    /// The cookies of the present episode, and the storage of each visited origin, including the
    /// active tab's session storage. The tab leaves its page for that, so this comes last in an
    /// episode.
    pub async fn storage_state(&mut self) -> Result<StorageState, Error> {
        const METHOD: &str = "Storage.getCookies";
        const READ: &str = "[localStorage, sessionStorage].map(storage =>
            Object.keys(storage).sort().map(name => ({ name, value: storage.getItem(name) })))";
        let params = with_browser_context(json!({}), self.context()?.as_deref());
        let mut answer = self.cdp().call(None, METHOD, params).await?;
        let cookies = answer.get_mut("cookies").map(Value::take).unwrap_or_default();
        let shape = |_| Error::Shape { method: METHOD, field: "cookies" };
        let mut cookies: Vec<Value> = serde_json::from_value(cookies).map_err(shape)?;
        for cookie in &mut cookies {
            // In Playwright's format, -1 stands for a cookie of the session.
            if cookie.get("session") == Some(&Value::Bool(true)) {
                cookie["expires"] = json!(-1);
            }
        }
        let mut cookies: Vec<StoredCookie> =
            serde_json::from_value(cookies.into()).map_err(shape)?;
        cookies.sort_by(|a, b| (&a.domain, &a.path, &a.name).cmp(&(&b.domain, &b.path, &b.name)));
        let visited: Vec<String> = self.tracker.lock().visited_origins.iter().cloned().collect();
        let stored = self.evaluate_at_origins(&visited, |_| READ.to_owned()).await?;
        let mut origins = Vec::new();
        for (origin, stored) in visited.into_iter().zip(stored) {
            let [local_storage, session_storage]: [Vec<Entry>; 2] = serde_json::from_value(stored)
                .map_err(|_| Error::Shape {
                    method: "Runtime.evaluate",
                    field: "what a page has stored",
                })?;
            if !(local_storage.is_empty() && session_storage.is_empty()) {
                origins.push(OriginState { origin, local_storage, session_storage });
            }
        }
        Ok(StorageState { cookies, origins })
    }

    /// Adds cookies and storage to the present episode, before its first page is opened. Cookies
    /// last as long as the episode, because another clock set their expiry.
    pub async fn set_storage_state(&mut self, state: &StorageState) -> Result<(), Error> {
        let cookies: Vec<Value> = state.cookies.iter().map(to_cdp).collect();
        let params =
            with_browser_context(json!({ "cookies": cookies }), self.context()?.as_deref());
        self.cdp().call(None, "Storage.setCookies", params).await?;
        let origins: Vec<String> =
            state.origins.iter().map(|origin| origin.origin.clone()).collect();
        let write = |place: usize| {
            let OriginState { local_storage, session_storage, .. } = &state.origins[place];
            format!(
                "for (const [storage, entries] of [[localStorage, {}], [sessionStorage, {}]])
                    for (const {{ name, value }} of entries) storage.setItem(name, value);",
                json!(local_storage),
                json!(session_storage),
            )
        };
        self.evaluate_at_origins(&origins, write).await?;
        Ok(())
    }

    /// Evaluates a script on an empty page of each origin, in the active tab. Afterwards the tab is
    /// empty; its history has the empty page, where that of a new tab has nothing.
    async fn evaluate_at_origins(
        &mut self,
        origins: &[String],
        script: impl Fn(usize) -> String,
    ) -> Result<Vec<Value>, Error> {
        if origins.is_empty() {
            return Ok(Vec::new());
        }
        let page = self.tracker.lock().active()?;
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        // Every document is stopped before it is requested. An empty page of the origin takes its
        // place.
        call("Fetch.enable", json!({ "patterns": [{ "resourceType": "Document" }] })).await?;
        let mut values = Vec::new();
        let mut outcome = Ok(());
        for (place, origin) in origins.iter().enumerate() {
            match self.evaluate_at_origin(&page, origin, &script(place)).await {
                Ok(value) => values.push(value),
                Err(error) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        // Also after an error: later documents would be stopped, and nobody would answer them.
        call("Fetch.disable", json!({})).await?;
        outcome?;
        self.evaluate_at_origin(&page, "about:blank", "0").await?;
        call("Page.resetNavigationHistory", json!({})).await?;
        Ok(values)
    }

    async fn evaluate_at_origin(
        &self,
        page: &Page,
        origin: &str,
        script: &str,
    ) -> Result<Value, Error> {
        self.open_empty(page, origin).await?;
        self.evaluate_isolated(page, &page.target, script, CALL_TIMEOUT).await
    }

    /// Opens a URL that is answered at once, and waits for its document.
    async fn open_empty(&self, page: &Page, url: &str) -> Result<(), Error> {
        const METHOD: &str = "Page.navigate";
        let documents = self.tracker.lock().document_count;
        let opened = self.cdp().call(Some(&page.session), METHOD, json!({ "url": url })).await?;
        if let Some(reason) = opened.get("errorText").and_then(Value::as_str) {
            let message = format!("{url}: {reason}");
            return Err(Error::Refused { method: METHOD.to_owned(), code: 0, message });
        }
        let condition = |_: &BrowserState| format!("an empty page of {url}");
        let come = |state: &BrowserState| (state.document_count != documents).then_some(());
        self.tracker.wait_for(CALL_TIMEOUT, condition, come).await
    }

    /// The id of the episode's browser context; `None` for the browser's own profile.
    pub(crate) fn context(&self) -> Result<Option<String>, Error> {
        let setup = self.tracker.lock().setup.clone();
        Ok(setup.ok_or(Error::NoPage { reason: "no episode is under way" })?.context.clone())
    }
}

fn to_cdp(cookie: &StoredCookie) -> Value {
    json!({
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        "sameSite": cookie.same_site,
    })
}
