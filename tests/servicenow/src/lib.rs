//! A small ServiceNow for tests, in memory: the table API over HTTP, a log-in page, and pages of
//! modules.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use scoring::tables::{Display, Input, Lookup, Memory, MemoryError, Record, Tables as _};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A running ServiceNow; tests read and write its tables.
#[derive(Debug, Clone)]
pub struct FakeServiceNow(Arc<Mutex<Memory>>);

/// `admin:secret`, as a client names itself.
const ADMIN: &str = "Basic YWRtaW46c2VjcmV0";

/// Tables with what WorkArena's installation puts there: its theme with a variant, and the role
/// that users get.
pub fn installed() -> Result<Memory, MemoryError> {
    let mut tables = Memory::default();
    tables.refer("m2m_theme_style", "theme", "theme");
    tables.refer("m2m_theme_style", "style", "style");
    tables.insert("sys_user_role", &record(json!({"name": "admin"})), Input::Kept)?;
    let theme = tables.insert("theme", &record(json!({"name": "WorkArena"})), Input::Kept)?;
    let style = tables.insert("style", &record(json!({"type": "variant"})), Input::Kept)?;
    tables.insert(
        "m2m_theme_style",
        &record(json!({"theme": theme, "style": style})),
        Input::Kept,
    )?;
    Ok(tables)
}

fn record(value: Value) -> Record {
    value.as_object().cloned().unwrap_or_default()
}

impl FakeServiceNow {
    /// An instance with these tables.
    pub fn new(tables: Memory) -> FakeServiceNow {
        FakeServiceNow(Arc::new(Mutex::new(tables)))
    }

    /// The tables as they are now.
    pub fn tables(&self) -> Memory {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers on loopback for as long as the runtime is there; gives the port. Its administrator
    /// is `admin` with the password `secret`.
    pub async fn serve(&self) -> std::io::Result<u16> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let table = "/api/now/table/{table}";
        let router = Router::new()
            .route("/", get(|| async { "Instance" }))
            .route("/login.do", get(log_in))
            .route("/now/nav/ui/home", get(home))
            .route("/{module}", get(module))
            .route(table, get(find).post(create))
            .route(&format!("{table}/{{sys_id}}"), any(one))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(port)
    }

    /// Takes the tables, has something done to them, and puts them back.
    async fn with<F, R>(&self, act: F) -> R
    where
        F: AsyncFnOnce(&mut Memory) -> R,
    {
        let mut tables = self.tables();
        let result = act(&mut tables).await;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = tables;
        result
    }
}

/// Lets in whoever names somebody; only then is there a way on from here.
async fn log_in(Query(given): Query<HashMap<String, String>>) -> Response {
    match given.get("user_name") {
        Some(name) => {
            ([("set-cookie", format!("user={name}; Path=/"))], Redirect::to("/now/nav/ui/home"))
                .into_response()
        }
        None => Html(
            "<title>Log in</title><form><input name=user_name><input name=user_password></form>",
        )
        .into_response(),
    }
}

async fn home(headers: HeaderMap) -> Response {
    let known = headers.get("cookie").is_some_and(|given| given.as_bytes().starts_with(b"user="));
    match known {
        true => Html(
            "<title>Home</title><h1>All</h1><a href=/tool_list.do>Hammers</a> <a href=/saw_list.do>Saws</a>",
        )
        .into_response(),
        false => Redirect::to("/login.do").into_response(),
    }
}

async fn module(Path(name): Path<String>) -> Html<String> {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    Html(format!("<title>{plain}</title><h1>{plain}</h1><a href=/now/nav/ui/home>Home</a>"))
}

fn answer(status: StatusCode, result: Result<Value, MemoryError>) -> Response {
    match result {
        Ok(result) => (status, Json(json!({"result": result}))).into_response(),
        Err(error) => refuse(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

fn refuse(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({"error": {"message": why}, "status": "failure"}))).into_response()
}

fn is_admin(headers: &HeaderMap) -> bool {
    headers.get("authorization").is_some_and(|given| given == ADMIN)
}

async fn find(
    State(instance): State<FakeServiceNow>,
    Path(table): Path<String>,
    Query(given): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    if !is_admin(&headers) {
        return refuse(StatusCode::UNAUTHORIZED, "User Not Authenticated");
    }
    let of = |name: &str| given.get(name).map(String::as_str).unwrap_or_default();
    let display = match of("sysparm_display_value") {
        "true" => Display::Shown,
        "all" => Display::Both,
        _ => Display::Kept,
    };
    let fields = of("sysparm_fields")
        .split(',')
        .filter(|field| !field.is_empty())
        .map(str::to_owned)
        .collect();
    let limit = of("sysparm_limit").parse().ok();
    let lookup = Lookup { table, query: of("sysparm_query").to_owned(), fields, limit, display };
    answer(StatusCode::OK, instance.tables().find(&lookup).map(|found| json!(found)))
}

async fn create(
    State(instance): State<FakeServiceNow>,
    Path(table): Path<String>,
    Query(given): Query<HashMap<String, String>>,
    headers: HeaderMap,
    Json(values): Json<Record>,
) -> Response {
    if !is_admin(&headers) {
        return refuse(StatusCode::UNAUTHORIZED, "User Not Authenticated");
    }
    let shown = given.get("sysparm_input_display_value").is_some_and(|given| given == "true");
    let input = if shown { Input::Shown } else { Input::Kept };
    let made = instance.with(async |tables| tables.create(&table, &values, input).await).await;
    answer(StatusCode::CREATED, made.map(Value::Object))
}

async fn one(
    State(instance): State<FakeServiceNow>,
    Path((table, sys_id)): Path<(String, String)>,
    method: axum::http::Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if !is_admin(&headers) {
        return refuse(StatusCode::UNAUTHORIZED, "User Not Authenticated");
    }
    let none = || refuse(StatusCode::NOT_FOUND, "No Record found");
    match method.as_str() {
        "DELETE" => {
            match instance.with(async |tables| tables.delete(&table, &sys_id).await).await {
                Ok(true) => StatusCode::NO_CONTENT.into_response(),
                _ => none(),
            }
        }
        "PATCH" => {
            let Ok(values) = serde_json::from_slice::<Record>(&body) else {
                return refuse(StatusCode::BAD_REQUEST, "no JSON");
            };
            match instance.with(async |tables| tables.update(&table, &sys_id, &values).await).await
            {
                Ok(Some(record)) => answer(StatusCode::OK, Ok(Value::Object(record))),
                _ => none(),
            }
        }
        _ => refuse(StatusCode::METHOD_NOT_ALLOWED, "not so"),
    }
}
