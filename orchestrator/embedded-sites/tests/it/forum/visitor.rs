//! A visitor of a copy: keeps the cookie, reads pages, and sends forms with the page's token.

use std::sync::OnceLock;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use embedded_sites::{Clock, EmbeddedInstance, Golden, Options, forum};
use tower::ServiceExt;
use url::form_urlencoded;

use crate::forum::page::{Node, parse};

pub(crate) const START: &str = "2023-06-15T09:00:00Z";
pub(crate) const MEMBER: &str = "MarvelsGrantMan136";

/// The golden folder of all tests in this process.
pub(crate) fn golden() -> &'static Golden {
    static GOLDEN: OnceLock<(tempfile::TempDir, Golden)> = OnceLock::new();
    let (_, golden) = GOLDEN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let golden = Golden::open(folder.path()).unwrap();
        (folder, golden)
    });
    golden
}

pub(crate) fn copy() -> EmbeddedInstance {
    forum::start(golden(), &Options::new(Clock::fixed(START.parse().unwrap()))).unwrap()
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) location: String,
    pub(crate) kind: String,
    pub(crate) date: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn page(&self) -> Node {
        parse(&self.body)
    }
}

pub(crate) struct Visitor {
    copy: EmbeddedInstance,
    cookie: String,
    pub(crate) token: String,
}

impl Visitor {
    pub(crate) async fn anonymous(copy: &EmbeddedInstance) -> Self {
        let mut visitor = Self { copy: copy.clone(), cookie: String::new(), token: String::new() };
        visitor.get("/login").await;
        visitor
    }

    pub(crate) async fn logged_in(copy: &EmbeddedInstance, name: &str, password: &str) -> Self {
        let mut visitor = Self::anonymous(copy).await;
        let answer =
            visitor.post("/login_check", &[("_username", name), ("_password", password)]).await;
        assert_eq!(answer.status, StatusCode::FOUND, "{}", answer.body);
        visitor.get("/").await;
        visitor
    }

    pub(crate) async fn member(copy: &EmbeddedInstance) -> Self {
        Self::logged_in(copy, MEMBER, "test1234").await
    }

    pub(crate) fn copy(&self) -> &EmbeddedInstance {
        &self.copy
    }

    /// The same visitor, with the same cookie, at another copy.
    pub(crate) fn moved_to(&self, copy: &EmbeddedInstance) -> Self {
        Self { copy: copy.clone(), cookie: self.cookie.clone(), token: self.token.clone() }
    }

    pub(crate) fn cookie(&self) -> &str {
        &self.cookie
    }

    pub(crate) async fn send(&mut self, request: Request<Body>) -> Answer {
        let answer = self.copy.router().oneshot(request).await.unwrap();
        let header = |name| {
            answer
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
                .unwrap_or("")
                .to_owned()
        };
        let (status, location, kind) =
            (answer.status(), header(header::LOCATION), header(header::CONTENT_TYPE));
        let (cookie, date) = (header(header::SET_COOKIE), header(header::DATE));
        if !cookie.is_empty() {
            self.cookie = cookie.split(';').next().unwrap().to_owned();
        }
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        let body = String::from_utf8_lossy(&body).into_owned();
        if let Some((_, token)) = body.split_once("name=\"token\" value=\"") {
            self.token = token.split('"').next().unwrap().to_owned();
        }
        Answer { status, location, kind, date, body }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        let request =
            Request::get(path).header(header::COOKIE, &self.cookie).body(Body::empty()).unwrap();
        self.send(request).await
    }

    /// Loads a page, which must exist.
    pub(crate) async fn page(&mut self, path: &str) -> Node {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.body);
        answer.page()
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token.clone();
        self.post_with(path, &token, fields).await
    }

    pub(crate) async fn post_with(
        &mut self,
        path: &str,
        token: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("token", token).extend_pairs(fields);
        let request = Request::post(path)
            .header(header::COOKIE, &self.cookie)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(form.finish()))
            .unwrap();
        self.send(request).await
    }

    /// Sends a form that must be accepted, and loads the page that follows.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> (String, Node) {
        let answer = self.post(path, fields).await;
        assert_eq!(answer.status, StatusCode::FOUND, "{path}: {}", answer.body);
        let page = self.page(&answer.location).await;
        (answer.location, page)
    }
}
