//! Reads and writes tables of a ServiceNow instance, by its table API.

use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use scoring::tables::{Input, Lookup, Record, Tables};
use serde_json::Value;
use sites::{ApiClient, ApiResponse};

use crate::environment::EnvironmentError;

/// The characters that are not encoded in a path or a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'_').remove(b'.').remove(b'-');

const DOING: &str = "use the tables of an instance";

/// An instance that is a site of the world. Calls use the administrator's account of its manifest.
#[derive(Debug, Clone)]
pub(crate) struct ServiceNow {
    caller: ApiClient,
}

impl ServiceNow {
    /// Uses a client of the site.
    pub(crate) fn new(caller: ApiClient) -> ServiceNow {
        ServiceNow { caller }
    }

    /// The address of the instance for browsers.
    pub(crate) fn address(&self) -> &str {
        self.caller.address()
    }

    /// Sends a request. A response without success is an error, but for the status 404, which is
    /// `None`.
    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Record>,
    ) -> Result<Option<Value>, EnvironmentError> {
        let body = body.map(|record| Value::Object(record.clone()));
        let called = self.caller.call(method.clone(), path, body.as_ref()).await;
        match called.map_err(EnvironmentError::while_doing(DOING))? {
            ApiResponse { status: 404, .. } => Ok(None),
            ApiResponse { status: 204, .. } => Ok(Some(Value::Null)),
            ApiResponse { status: 200..=299, mut body } if body.get("result").is_some() => {
                Ok(Some(body["result"].take()))
            }
            ApiResponse { status, body } => {
                let said = body
                    .pointer("/error/message")
                    .and_then(Value::as_str)
                    .unwrap_or("no reason given");
                let why = format!("{method} {path}: status {status}: {said}");
                Err(EnvironmentError::while_doing(DOING)(why))
            }
        }
    }

    async fn record(
        &self,
        method: Method,
        path: &str,
        body: &Record,
    ) -> Result<Option<Record>, EnvironmentError> {
        match self.ask(method, path, Some(body)).await? {
            Some(Value::Object(record)) => Ok(Some(record)),
            Some(_) => Err(unlike(path)),
            None => Ok(None),
        }
    }
}

fn unlike(path: &str) -> EnvironmentError {
    EnvironmentError::while_doing(DOING)(format!("{path}: the answer is not as a table API's"))
}

fn path(table: &str, sys_id: Option<&str>) -> String {
    let mut path = format!("/api/now/table/{}", utf8_percent_encode(table, PLAIN));
    if let Some(sys_id) = sys_id {
        path += &format!("/{}", utf8_percent_encode(sys_id, PLAIN));
    }
    path
}

fn parameter(path: &mut String, name: &str, value: &str) {
    let joint = if path.contains('?') { '&' } else { '?' };
    *path += &format!("{joint}{name}={}", utf8_percent_encode(value, PLAIN));
}

impl Tables for ServiceNow {
    type Error = EnvironmentError;

    async fn get(&mut self, lookup: &Lookup) -> Result<Vec<Record>, EnvironmentError> {
        let mut path = path(&lookup.table, None);
        parameter(&mut path, "sysparm_query", &lookup.query);
        parameter(&mut path, "sysparm_display_value", lookup.display.parameter());
        if !lookup.fields.is_empty() {
            parameter(&mut path, "sysparm_fields", &lookup.fields.join(","));
        }
        if let Some(limit) = lookup.limit {
            parameter(&mut path, "sysparm_limit", &limit.to_string());
        }
        // A table without a record that fits has the status 404, or none.
        match self.ask(Method::GET, &path, None).await? {
            None => Ok(Vec::new()),
            Some(found) => serde_json::from_value(found).map_err(|_| unlike(&path)),
        }
    }

    async fn create(
        &mut self,
        table: &str,
        values: &Record,
        input: Input,
    ) -> Result<Record, EnvironmentError> {
        let mut path = path(table, None);
        if input == Input::Shown {
            parameter(&mut path, "sysparm_input_display_value", "true");
        }
        self.record(Method::POST, &path, values).await?.ok_or_else(|| unlike(&path))
    }

    async fn update(
        &mut self,
        table: &str,
        sys_id: &str,
        values: &Record,
    ) -> Result<Option<Record>, EnvironmentError> {
        self.record(Method::PATCH, &path(table, Some(sys_id)), values).await
    }

    async fn delete(&mut self, table: &str, sys_id: &str) -> Result<bool, EnvironmentError> {
        Ok(self.ask(Method::DELETE, &path(table, Some(sys_id)), None).await?.is_some())
    }
}
