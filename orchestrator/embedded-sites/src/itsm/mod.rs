//! A service desk: lists and forms of records, a catalogue, articles, reports and dashboards.
//!
//! It has the addresses, element names and interfaces that the package `browsergym-workarena`
//! expects of its platform, with our own look, words and base data.
#![allow(dead_code)] // while it is being built

mod schema;
mod seed;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use rusqlite::Connection;

use crate::error::sqlite;
use crate::golden::Recipe;
use crate::web::{Fields, Keys};
use crate::{EmbeddedInstance, Error, Golden, Options};

/// The user's data, opened once per process. Clones share it.
#[derive(Debug, Clone)]
pub struct Data;

impl Data {
    /// Checks a folder, `data_files` of the package. Without one, the site has its base alone.
    ///
    /// # Errors
    /// When the folder is another one, or cannot be read.
    pub fn open(folder: Option<&Path>) -> Result<Data, Error> {
        let Some(folder) = folder else { return Ok(Data) };
        let tasks = folder.join("task_configs");
        match std::fs::read_dir(&tasks) {
            Ok(_) => Ok(Data),
            Err(source) => Err(Error::Folder { path: tasks, source }),
        }
    }
}

/// Starts an instance of the site.
pub fn start(golden: &Golden, options: &Options, data: &Data) -> Result<EmbeddedInstance, Error> {
    let Data = data;
    let store = golden.copy(&recipe())?;
    let keys = Arc::new(Keys::new("itsm", options.seed));
    let router = Router::new()
        .route("/", get(async || Redirect::to("/now/nav/ui/home")))
        .route("/login.do", get(log_in))
        .route("/now/nav/ui/home", get(home))
        .with_state(keys);
    Ok(EmbeddedInstance::new(store, router))
}

fn recipe() -> Recipe {
    Recipe { site: "itsm", version: format!("0-{}", rusqlite::version()), fill }
}

fn fill(db: &Connection) -> Result<(), Error> {
    db.execute_batch("create table incident (number text primary key, short_description text)")
        .map_err(sqlite("write the golden desk"))
}

/// Users and their passwords.
const USERS: [(&str, &str); 2] = [("admin", "admin"), ("ines.roth", "agent1234")];

/// The page with the form, which is sent to itself.
async fn log_in(State(keys): State<Arc<Keys>>, RawQuery(query): RawQuery) -> Response {
    let fields = Fields::parse(query.unwrap_or_default().as_bytes());
    let user = fields.text("user_name");
    if USERS.contains(&(user, fields.text("user_password"))) {
        let cookie = format!("session={}; Path=/; HttpOnly", keys.cookie(user));
        return ([(header::SET_COOKIE, cookie)], Redirect::to("/now/nav/ui/home")).into_response();
    }
    let form = "<!doctype html><title>Log in</title><form id=login action=/login.do>\
        <label>User name <input name=user_name></label>\
        <label>Password <input type=password name=user_password></label>\
        <button name=sys_action value=sysverb_login>Log in</button></form>";
    Html(form).into_response()
}

async fn home(State(keys): State<Arc<Keys>>, headers: HeaderMap) -> Response {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
    match cookies.and_then(|cookies| keys.visitor(cookies)) {
        Some(user) => Html(format!("<!doctype html><title>Home</title><p>{user}")).into_response(),
        None => (StatusCode::FOUND, [(header::LOCATION, "/login.do")]).into_response(),
    }
}
