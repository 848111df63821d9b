//! Logs in as an account of the manifest: with the site's own log-in form, with cookies, or with
//! header fields.
//!
//! The form is sent as a browser sends it: with hidden fields, Referer and cookies, and following
//! redirects. The pool caches the resulting session and reuses it as long as `check` holds.

mod cookies;
mod form;

use std::collections::BTreeMap;
use std::sync::Arc;

use cookies::Cookies;
use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use hyper::body::Bytes;
use jiff::Timestamp;
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use url::{Url, form_urlencoded};
use world_spec::Cookie;

use crate::http::{Answer, Target};
use crate::instance::Instance;
use crate::manifest::{Account, Form, Host, Login};
use crate::{Error, Site, ready};

/// The maximum number of redirects that are followed.
const REDIRECTS: usize = 10;

/// The cookies and header fields with which a browser is logged in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginSession {
    /// Cookies of the site.
    pub cookies: Vec<Cookie>,
    /// Header fields to send with every request to the site.
    pub headers: Vec<(String, String)>,
}

/// The cached log-ins of one site, by account. Concurrent log-ins of one account wait for the
/// first.
#[derive(Debug, Default)]
pub(crate) struct LoginSessions(
    Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<Option<LoginSession>>>>>,
);

impl LoginSessions {
    fn of(&self, account: &str) -> Arc<tokio::sync::Mutex<Option<LoginSession>>> {
        let mut all = self.0.lock();
        Arc::clone(all.entry(account.to_owned()).or_default())
    }

    /// Logs in to an instance as an account: with the cached session if it still works, otherwise
    /// anew. A log-in changes the state of the instance, for example the time of the last log-in.
    /// These changes are removed, so that the instance is as pristine as a later one that uses the
    /// cached session.
    pub(crate) async fn log_in(
        &self,
        site: &Site,
        instance: &Instance,
        account: &str,
    ) -> Result<LoginSession, Error> {
        let failed =
            |why| Error::Login { site: site.name.clone(), account: account.to_owned(), why };
        let (Some(login), Some(who)) = (site.login.get(account), site.accounts.get(account)) else {
            let known: Vec<&str> = site.login.keys().map(String::as_str).collect();
            let meant = suggestions::did_you_mean(account, known.iter().copied());
            return Err(failed(format!("no such account{meant}; there are: {}", known.join(", "))));
        };
        let target = Target::new(site, &instance.upstream);
        let own = self.of(account);
        let mut kept = own.lock().await;
        if let Some(known) = &*kept
            && check(login, known, &target, instance).await.is_ok()
        {
            return Ok(known.clone());
        }
        *kept = None;
        let mut given = enter(site, login, who, &target).await.map_err(failed)?;
        check(login, &given, &target, instance).await.map_err(failed)?;
        if login.form.is_some() && login.check.is_some() && instance.restores(site) {
            instance.put_back(site).await?;
            if check(login, &given, &target, instance).await.is_err() {
                // For this site, sessions are part of the state, so the log-in is repeated for
                // every instance.
                given = enter(site, login, who, &target).await.map_err(failed)?;
                check(login, &given, &target, instance).await.map_err(failed)?;
                return Ok(given);
            }
        }
        *kept = Some(given.clone());
        Ok(given)
    }
}

/// Checks whether the site accepts a visitor as the account.
async fn check(
    login: &Login,
    given: &LoginSession,
    target: &Target,
    instance: &Instance,
) -> Result<(), String> {
    let Some(condition) = &login.check else { return Ok(()) };
    let mut headers = HeaderMap::new();
    for (name, value) in &given.headers {
        let name: HeaderName = name.parse().map_err(|_| format!("{name:?} is no header field"))?;
        headers.insert(
            name,
            HeaderValue::from_str(value).map_err(|_| format!("{value:?} is no header value"))?,
        );
    }
    let path = condition.get.as_deref().unwrap_or("/");
    if let Some(line) = Cookies(given.cookies.clone()).header(path) {
        headers.insert(header::COOKIE, line);
    }
    let held = ready::holds(condition, target, headers, instance).await;
    held.map_err(|seen| format!("{path} does not look logged in: {seen}"))
}

async fn enter(
    site: &Site,
    login: &Login,
    account: &Account,
    target: &Target,
) -> Result<LoginSession, String> {
    let Some(form) = &login.form else {
        let cookies =
            login.cookie.iter().map(|(name, value)| Cookie::new(name, &filled(value, account)));
        let headers =
            login.header.iter().map(|(name, value)| (name.clone(), filled(value, account)));
        return Ok(LoginSession { cookies: cookies.collect(), headers: headers.collect() });
    };
    // Cookies expire by the clock of the site.
    let now = site.clock.unwrap_or_else(Timestamp::now);
    let mut visitor = Visitor { site, target, now, cookies: Cookies::default() };
    visitor.fill_in(form, account).await?;
    Ok(LoginSession { cookies: visitor.cookies.0, headers: Vec::new() })
}

/// Replaces `{username}` and `{password}` by those of the account.
fn filled(value: &str, account: &Account) -> String {
    value.replace("{username}", &account.username).replace("{password}", &account.password)
}

/// A minimal browser with cookies.
struct Visitor<'a> {
    site: &'a Site,
    target: &'a Target,
    now: Timestamp,
    cookies: Cookies,
}

impl Visitor<'_> {
    async fn fill_in(&mut self, form: &Form, account: &Account) -> Result<(), String> {
        let page = self.resolve(&self.front()?, &form.page)?;
        let (answer, page) = self.visit(Method::GET, page, None, Bytes::new()).await?;
        if !answer.status.is_success() {
            return Err(format!("{} has status {}", form.page, answer.status.as_u16()));
        }
        let forms = form::forms(&answer.text());
        let has_all = |found: &&form::Form| {
            let has = |name: &String| found.fields.iter().any(|(own, _)| own == name);
            form.fields.iter().all(|(name, value)| has(name) || !value.contains('{'))
        };
        let found = match &form.action {
            Some(action) => forms.iter().find(|found| found.is(action)),
            None => forms.iter().find(has_all),
        };
        let mut sent = found.cloned().ok_or_else(|| format!("{} has no such form", form.page))?;
        for (name, value) in &form.fields {
            sent.fill(name, &filled(value, account));
        }
        let encoded =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(&sent.fields).finish();
        let mut goal = self.resolve(&page, &sent.action)?;
        let (answer, _) = if sent.post {
            self.visit(Method::POST, goal, Some(&page), encoded.into()).await?
        } else {
            goal.set_query(Some(&encoded));
            self.visit(Method::GET, goal, Some(&page), Bytes::new()).await?
        };
        // A refused log-in often has status 200. The manifest's `check` finds that.
        match answer.status.as_u16() {
            status if status >= 400 => Err(format!("the form was answered with status {status}")),
            _ => Ok(()),
        }
    }

    /// Requests a page and follows redirects. Returns the last response with its URL.
    async fn visit(
        &mut self,
        mut method: Method,
        mut url: Url,
        referrer: Option<&Url>,
        mut body: Bytes,
    ) -> Result<(Answer, Url), String> {
        let mut from = referrer.cloned();
        for _ in 0..REDIRECTS {
            let path = url[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
            let mut headers = HeaderMap::new();
            let value = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
            headers.insert(header::ACCEPT, HeaderValue::from_static("text/html,*/*;q=0.8"));
            if let Some(from) = &from {
                headers.insert(header::REFERER, value(from.as_str())?);
            }
            // Frameworks treat a form without an origin as forged.
            if method == Method::POST {
                headers.insert(header::ORIGIN, value(&url.origin().ascii_serialization())?);
                let form = HeaderValue::from_static("application/x-www-form-urlencoded");
                headers.insert(header::CONTENT_TYPE, form);
            }
            if let Some(line) = self.cookies.header(&path) {
                headers.insert(header::COOKIE, line);
            }
            let answer = self.target.send(method.clone(), &path, headers, body.clone()).await?;
            self.cookies.take(&answer.headers, &path, self.now);
            let Some(to) =
                answer.headers.get(header::LOCATION).filter(|_| answer.status.is_redirection())
            else {
                return Ok((answer, url));
            };
            let to = self.resolve(&url, &String::from_utf8_lossy(to.as_bytes()))?;
            // Only these two keep the method and the body. After all others a browser sends GET.
            if !matches!(answer.status.as_u16(), 307 | 308) {
                (method, body) = (Method::GET, Bytes::new());
            }
            from = Some(std::mem::replace(&mut url, to));
        }
        Err(format!("{url} leads on and on"))
    }

    fn front(&self) -> Result<Url, String> {
        let address = self.site.address();
        address.parse().map_err(|error| format!("{address} is no URL: {error}"))
    }

    /// Resolves a link of a page, which must not lead to another site.
    fn resolve(&self, page: &Url, link: &str) -> Result<Url, String> {
        let url = page.join(link).map_err(|error| format!("{link:?} is no link: {error}"))?;
        let with_port =
            url.port().map(|port| format!("{}:{port}", url.host_str().unwrap_or_default()));
        let host = percent_decode_str(url.host_str().unwrap_or_default()).decode_utf8_lossy();
        let own = |own: &Host| own.name == host || Some(&own.name) == with_port.as_ref();
        let foreign = url.host() != page.host() && !self.site.hosts.iter().any(own);
        if foreign { Err(format!("{page} leads to another site, {url}")) } else { Ok(url) }
    }
}
