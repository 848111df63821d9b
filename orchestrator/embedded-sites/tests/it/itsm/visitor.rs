//! Somebody who asks a copy of the desk, by its interface and with a session.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use embedded_sites::{Clock, EmbeddedInstance, Golden, Options, itsm};
use serde_json::Value;
use tower::ServiceExt;

pub(crate) const START: &str = "2025-03-03T09:00:00Z";

/// A copy of the neutral base. All tests of this process have one golden folder.
pub(crate) fn copy() -> EmbeddedInstance {
    static GOLDEN: OnceLock<(tempfile::TempDir, Golden)> = OnceLock::new();
    let (_, golden) = GOLDEN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let golden = Golden::open(folder.path()).unwrap();
        (folder, golden)
    });
    let passwords = ["admin", "mara.lindqvist"].map(|name| (name.to_owned(), name.to_owned()));
    let options = Options::new(Clock::fixed(START.parse().unwrap()))
        .with_passwords(BTreeMap::from(passwords).into());
    itsm::start(golden, &options, &itsm::Data::open(None).unwrap()).unwrap()
}

pub(crate) struct Visitor {
    copy: EmbeddedInstance,
    basic: String,
    cookie: String,
    /// The page from which the next ones are asked for.
    pub(crate) before: String,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) location: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn result(&self) -> Value {
        self.json()["result"].clone()
    }
}

impl Visitor {
    /// By Basic authentication.
    pub(crate) fn program(copy: &EmbeddedInstance, name: &str, password: &str) -> Visitor {
        let basic = format!("Basic {}", STANDARD.encode(format!("{name}:{password}")));
        let (cookie, before) = (String::new(), String::new());
        Visitor { copy: copy.clone(), basic, cookie, before }
    }

    pub(crate) fn admin(copy: &EmbeddedInstance) -> Visitor {
        Visitor::program(copy, "admin", "admin")
    }

    /// With a session.
    pub(crate) async fn logged_in(copy: &EmbeddedInstance, name: &str, password: &str) -> Visitor {
        let (basic, cookie, before) = (String::new(), String::new(), String::new());
        let mut visitor = Visitor { copy: copy.clone(), basic, cookie, before };
        let place = format!("/login.do?user_name={name}&user_password={password}");
        let answer = visitor.get(&place).await;
        assert_eq!(answer.location, "/now/nav/ui/home", "{}", answer.body);
        visitor
    }

    /// The cookie of the session.
    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(crate) async fn send(&mut self, method: Method, path: &str, body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "desk.test");
        if !self.basic.is_empty() {
            request = request.header(header::AUTHORIZATION, &self.basic);
        }
        if !self.cookie.is_empty() {
            request = request.header(header::COOKIE, &self.cookie);
        }
        if !self.before.is_empty() {
            request = request.header(header::REFERER, &self.before);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let answer = self.copy.router().oneshot(request).await.unwrap();
        let text = |name| {
            let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let (status, location, cookie) =
            (answer.status(), text(header::LOCATION), text(header::SET_COOKIE));
        if let Some(cookie) = cookie.split(';').next().filter(|cookie| !cookie.is_empty()) {
            self.cookie = cookie.to_owned();
        }
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        Answer { status, location, body: String::from_utf8(body.to_vec()).unwrap() }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(Method::GET, path, "").await
    }

    /// The records of a table.
    pub(crate) async fn table(&mut self, rest: &str) -> Value {
        let answer = self.get(&format!("/api/now/table/{rest}")).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        answer.result()
    }

    /// Makes a record.
    pub(crate) async fn make(&mut self, table: &str, fields: Value) -> Value {
        let path = format!("/api/now/table/{table}");
        let answer = self.send(Method::POST, &path, &fields.to_string()).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
        answer.result()
    }
}
