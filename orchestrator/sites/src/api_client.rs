//! Client of a site's JSON API over HTTP. Every request carries the credentials of one account
//! (basic authentication, RFC 7617).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use hyper::body::Bytes;
use serde_json::Value;

use crate::http::Target;
use crate::{Error, Site, SiteTarget};

/// Calls the API of one instance as one account. It stays valid as long as the instance runs.
#[derive(Debug, Clone)]
pub struct ApiClient {
    target: Target,
    site: String,
    account: String,
    address: String,
    authorization: HeaderValue,
}

/// The response of a site's API.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiResponse {
    /// The HTTP status code, such as 200.
    pub status: u16,
    /// The body; null if the response has none.
    pub body: Value,
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl ApiClient {
    pub(crate) fn new(
        site: &Site,
        upstream: &SiteTarget,
        account: &str,
    ) -> Result<ApiClient, Error> {
        let failed = |why: String| Error::Call {
            site: site.name.clone(),
            account: account.to_owned(),
            what: "anything".to_owned(),
            why,
        };
        let who = site.accounts.get(account);
        let who = who.ok_or_else(|| failed("its manifest has no such account".to_owned()))?;
        let named = STANDARD.encode(format!("{}:{}", who.username, who.password));
        let mut authorization = HeaderValue::from_str(&format!("Basic {named}"))
            .map_err(|_| failed("name and password cannot be sent".to_owned()))?;
        // So that no log shows it.
        authorization.set_sensitive(true);
        Ok(ApiClient {
            target: Target::new(site, upstream),
            site: site.name.clone(),
            account: account.to_owned(),
            address: site.address(),
            authorization,
        })
    }

    /// The URL under which browsers reach the site.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends one request; `path` begins with a slash.
    ///
    /// # Errors
    /// When there is no response, the site rejects the account, or the response is not JSON.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<ApiResponse, Error> {
        let what = format!("{method} {path}");
        let failed =
            |why| Error::Call { site: self.site.clone(), account: self.account.clone(), what, why };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, JSON);
        headers.insert(AUTHORIZATION, self.authorization.clone());
        let body = match body {
            Some(body) => {
                headers.insert(CONTENT_TYPE, JSON);
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        let answer = match self.target.send(method, path, headers, body).await {
            Ok(answer) => answer,
            Err(why) => return Err(failed(why)),
        };
        if matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let status = answer.status.as_u16();
            return Err(failed(format!(
                "status {status}; look at the account's name, password and rights"
            )));
        }
        let body = match answer.text().trim() {
            // Some calls, such as DELETE, have no body in their answer.
            "" => Value::Null,
            text => match serde_json::from_str(text) {
                Ok(body) => body,
                Err(error) => {
                    let status = answer.status.as_u16();
                    return Err(failed(format!(
                        "status {status}, and the answer is no JSON: {error}"
                    )));
                }
            },
        };
        Ok(ApiResponse { status: answer.status.as_u16(), body })
    }
}
