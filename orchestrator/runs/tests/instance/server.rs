//! The table API over HTTP, of an instance in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde_json::{Value, json};
use tasks::tables::{Display, Input, Lookup, Memory, MemoryError, Record, Tables as _};
use tokio::net::TcpListener;

#[derive(Clone)]
pub(crate) struct Instance(pub(crate) Arc<Mutex<Memory>>);

/// `admin:secret`, as a client names itself.
const ADMIN: &str = "Basic YWRtaW46c2VjcmV0";

impl Instance {
    pub(crate) fn new(tables: Memory) -> Instance {
        Instance(Arc::new(Mutex::new(tables)))
    }

    pub(crate) fn tables(&self) -> Memory {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers on loopback for as long as the test runs; gives the port.
    pub(crate) async fn serve(&self) -> std::io::Result<u16> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let table = "/api/now/table/{table}";
        let router = Router::new()
            .route("/", get(|| async { "Desk" }))
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
    State(instance): State<Instance>,
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
    let fields =
        of("sysparm_fields").split(',').filter(|field| !field.is_empty()).map(str::to_owned).collect();
    let limit = of("sysparm_limit").parse().ok();
    let lookup = Lookup { table, query: of("sysparm_query").to_owned(), fields, limit, display };
    answer(StatusCode::OK, instance.tables().find(&lookup).map(|found| json!(found)))
}

async fn create(
    State(instance): State<Instance>,
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
    State(instance): State<Instance>,
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
        "DELETE" => match instance.with(async |tables| tables.delete(&table, &sys_id).await).await {
            Ok(true) => StatusCode::NO_CONTENT.into_response(),
            _ => none(),
        },
        "PATCH" => {
            let Ok(values) = serde_json::from_slice::<Record>(&body) else {
                return refuse(StatusCode::BAD_REQUEST, "no JSON");
            };
            match instance.with(async |tables| tables.update(&table, &sys_id, &values).await).await {
                Ok(Some(record)) => answer(StatusCode::OK, Ok(Value::Object(record))),
                _ => none(),
            }
        }
        _ => refuse(StatusCode::METHOD_NOT_ALLOWED, "not so"),
    }
}
