//! The desk: a start page that lists the running sites. It also has a calculator, a scratchpad, the
//! passwords, and manuals of every site.
//!
//! The caller provides the list of sites ([`SiteList`]) and may change it while instances run
//! ([`Directory`]). The manuals are part of this crate. Notes on the scratchpad stay until the next
//! reset.

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
use crate::{EmbeddedInstance, Error, Golden, Options};

/// The sites that the desk lists.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SiteList {
    /// In display order.
    pub sites: Vec<ListedSite>,
}

/// The current list of sites, shared by all instances of the desk.
#[derive(Debug, Clone, Default)]
pub struct Directory(Arc<RwLock<SiteList>>);

impl From<SiteList> for Directory {
    fn from(town: SiteList) -> Directory {
        Directory(Arc::new(RwLock::new(town)))
    }
}

impl Directory {
    /// Replaces the list for every instance.
    pub fn set(&self, town: SiteList) {
        *self.0.write() = town;
    }
}

/// The list as a template object.
impl Object for Directory {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let town = self.0.read();
        (key.as_str() == Some("sites")).then(|| Value::from(Serde(town.sites.clone())))
    }
}

/// A site in the list.
#[derive(Debug, Clone, Serialize)]
pub struct ListedSite {
    /// Its display name.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// A description in one line.
    pub about: String,
    /// Its accounts.
    pub accounts: Vec<ListedAccount>,
}

/// An account of a site.
#[derive(Debug, Clone, Serialize)]
pub struct ListedAccount {
    /// The log-in name.
    pub username: String,
    /// The password.
    pub password: String,
    /// The purpose of the account.
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

/// Starts an instance that shows the sites in `directory`.
pub fn start(
    golden: &Golden,
    options: &Options,
    directory: &Directory,
) -> Result<EmbeddedInstance, Error> {
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
    Ok(EmbeddedInstance::new(store, router(&server)))
}

fn recipe() -> Recipe {
    Recipe { site: "desk", version: format!("1-{}", rusqlite::version()), fill: Box::new(fill) }
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
