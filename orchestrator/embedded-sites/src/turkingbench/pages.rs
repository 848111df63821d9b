//! The pages of the TurkingBench site.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Response, StatusCode, header};
use url::form_urlencoded;

use super::library::Book;
use super::{Host, sent};
use crate::web::{http_date, plain};

const HTML: &str = "text/html; charset=UTF-8";

/// The task and instance in the URL.
pub(super) type Place = Path<(String, String)>;

/// The list of tasks.
pub(super) async fn list(State(host): State<Host>) -> Response<Body> {
    let tasks = host.library.folder().tasks();
    let item = |task: &turkingbench::Task| {
        format!("<li><a href=\"/{0}/0\">{1}</a></li>\n", task.slug, escaped(&task.name))
    };
    let items: String = tasks.iter().map(item).collect();
    let page = format!(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Tasks</title></head>\n<body><h1>Tasks</h1>\n<ul>\n{items}</ul></body></html>\n"
    );
    host.answer(HTML, page)
}

/// The page of an instance.
pub(super) async fn show(
    State(host): State<Host>,
    Path((task, instance)): Place,
) -> Response<Body> {
    host.with_book(task, instance, |host, Instance { task, number, book }| {
        match book.batch.page(&book.template, *number as usize, &format!("/{task}/{number}")) {
            Some(page) => host.answer(HTML, page),
            None => missing(),
        }
    })
    .await
}

/// Stores a form.
pub(super) async fn send(
    State(host): State<Host>,
    Path((task, instance)): Place,
    body: Bytes,
) -> Response<Body> {
    let fields: Vec<(String, String)> = form_urlencoded::parse(&body).into_owned().collect();
    host.with_book(task, instance, move |host, Instance { task, number, .. }| {
        let now = host.clock.now().as_second();
        match sent::keep(&host.live.lock(), task, *number, &fields, now) {
            Ok(()) => {
                let mut response = plain(StatusCode::SEE_OTHER, "303 See Other");
                if let Ok(place) = HeaderValue::from_str(&format!("/{task}/{number}/sent")) {
                    response.headers_mut().insert(header::LOCATION, place);
                }
                response
            }
            Err(error) => failed(&error),
        }
    })
    .await
}

/// The page after a form.
pub(super) async fn thanks(
    State(host): State<Host>,
    Path((task, instance)): Place,
) -> Response<Body> {
    host.with_book(task, instance, |host, _| {
        let page = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Sent</title></head>\n<body><p>Your answers have been sent.</p></body></html>\n";
        host.answer(HTML, page.to_owned())
    })
    .await
}

/// The last form that was sent.
pub(super) async fn sent(
    State(host): State<Host>,
    Path((task, instance)): Place,
) -> Response<Body> {
    host.with_book(task, instance, |host, Instance { task, number, .. }| {
        match sent::last(&host.live.lock(), task, *number) {
            Ok(fields) => {
                host.answer("application/json", fields.unwrap_or_else(|| "null".to_owned()))
            }
            Err(error) => failed(&error),
        }
    })
    .await
}

/// An existing instance of a task.
struct Instance {
    task: String,
    number: u32,
    book: Arc<Book>,
}

impl Host {
    /// Answers for an instance on a blocking thread, because its files may have to be read.
    async fn with_book(
        self,
        task: String,
        instance: String,
        answer: impl FnOnce(&Host, &Instance) -> Response<Body> + Send + 'static,
    ) -> Response<Body> {
        let live = Arc::clone(&self.live);
        let answered = live.in_turn(move || {
            let Ok(number) = instance.parse::<u32>() else { return missing() };
            match self.library.book(&task) {
                Ok(Some(book)) if (number as usize) < book.batch.instances.len() => {
                    answer(&self, &Instance { task, number, book })
                }
                Ok(_) => missing(),
                Err(error) => failed(&error),
            }
        });
        answered.await.unwrap_or_else(|error| failed(&error))
    }

    fn answer(&self, kind: &'static str, body: String) -> Response<Body> {
        let mut response = Response::new(Body::from(body));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(date) = http_date(self.clock.now().as_second()) {
            headers.insert(header::DATE, date);
        }
        response
    }
}

fn missing() -> Response<Body> {
    plain(StatusCode::NOT_FOUND, "404 Not Found: there is no such task, or it has no such instance")
}

fn failed(error: &dyn std::error::Error) -> Response<Body> {
    tracing::error!(%error, "a page of a task cannot be shown");
    plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("500: failed to {error}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
