//! The desk: where a visit to the town begins. What sites there are, a calculator, a scratchpad whose notes stay until the
//! next reset, the passwords, and manuals for everything.
//!
//! Which sites the town has is the caller's to say ([`Town`]), also while copies run
//! ([`Directory`]); the manuals are ours.

mod manuals;
mod notes;
mod pages;

use std::sync::Arc;

use axum::Router;
use minijinja::Value;
use minijinja::value::{Object, Serde};
use parking_lot::RwLock;
use rusqlite::Connection;
use serde::Serialize;

use crate::error::sqlite;
use crate::golden::Recipe;
use crate::web::{Handler, Keys, Server, environment, get, get_and_post, post};
use crate::{Error, Golden, Options, SiteCopy};

/// The sites that the desk shows.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Town {
    /// In the order in which they are listed.
    pub sites: Vec<TownSite>,
}

/// The sites that copies of the desk show now.
#[derive(Debug, Clone, Default)]
pub struct Directory(Arc<RwLock<Town>>);

impl From<Town> for Directory {
    fn from(town: Town) -> Directory {
        Directory(Arc::new(RwLock::new(town)))
    }
}

impl Directory {
    /// Has every copy show these from now on.
    pub fn set(&self, town: Town) {
        *self.0.write() = town;
    }
}

/// As templates see it.
impl Object for Directory {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let town = self.0.read();
        (key.as_str() == Some("sites")).then(|| Value::from(Serde(town.sites.clone())))
    }
}

/// One of them.
#[derive(Debug, Clone, Serialize)]
pub struct TownSite {
    /// What people call it.
    pub title: String,
    /// Where it is reached.
    pub url: String,
    /// One line about it.
    pub about: String,
    /// Whom one can be there.
    pub accounts: Vec<TownAccount>,
}

/// An account of a site.
#[derive(Debug, Clone, Serialize)]
pub struct TownAccount {
    /// Log-in name.
    pub username: String,
    /// Its password.
    pub password: String,
    /// What it is for.
    pub role: String,
}

macro_rules! templates {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("templates/", $name)))),*] };
}

const TEMPLATES: [(&str, &str); 9] = templates![
    "layout.html",
    "home.html",
    "calculator.html",
    "scratchpad.html",
    "note.html",
    "password.html",
    "manuals.html",
    "manual.html",
    "error.html",
];

/// Starts a copy that shows what is in `directory`.
pub fn start(golden: &Golden, options: &Options, directory: &Directory) -> Result<SiteCopy, Error> {
    let mut templates = environment(&TEMPLATES)?;
    templates.add_global("town", Value::from_object(directory.clone()));
    let store = golden.copy(&recipe())?;
    let server = Arc::new(Server {
        live: store.live(),
        clock: options.clock.clone(),
        keys: Keys::new("desk", options.seed),
        templates,
        frame: |_| Ok(Value::default()),
    });
    Ok(SiteCopy::new(store, router(&server)))
}

fn recipe() -> Recipe {
    Recipe { site: "desk", version: format!("1-{}", rusqlite::version()), fill }
}

fn fill(db: &Connection) -> Result<(), Error> {
    db.execute_batch(notes::SCHEMA).map_err(sqlite("write the golden desk"))
}

fn router(server: &Arc<Server>) -> Router {
    let shown: [(&str, Handler); 9] = [
        ("/", pages::home),
        ("/index.html", pages::home),
        ("/calculator.html", pages::calculator),
        ("/password.html", pages::passwords),
        ("/manuals", manuals::list),
        ("/manuals/", manuals::list),
        ("/manuals/{name}", manuals::show),
        ("/assets/desk.css", pages::style),
        ("/assets/desk.js", pages::script),
    ];
    let mut router = Router::new();
    for (path, handler) in shown {
        router = router.route(path, get(server, handler));
    }
    router
        .route("/scratchpad.html", get_and_post(server, pages::scratchpad))
        .route("/notes/{id}", get_and_post(server, pages::note))
        .route("/notes/{id}/delete", post(server, pages::delete_note))
        .fallback_service(get(server, pages::nothing))
}
