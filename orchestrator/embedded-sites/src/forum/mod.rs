//! A forum that imitates Postmill: it has Postmill's paths, forms and class names, with our own
//! texts and images.
//!
//! WebArena's checks of a forum find the elements that they read: `div.submission__vote form.vote`
//! with `vote--user-upvoted`, `.submission__inner`, `.submission__body`, `.submission__title`,
//! `.comment__body`, `.user-bio__biography`, `#forum_description`, `#forum_sidebar`, `#sidebar >
//! section`.
//!
//! ```text
//! users.rs forums.rs submissions.rs comments.rs votes.rs messages.rs   a table and its SQL each
//! pages/      the handlers of each URL
//! templates/  the HTML
//! seed/       the golden state
//! ```
//!
//! It has no image uploads, moderation logs, bans, wikis or notifications.

mod comments;
mod forums;
mod messages;
mod pages;
mod password;
mod picture;
mod seed;
mod slug;
mod submissions;
mod users;
mod votes;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use axum::Router;
use minijinja::Environment;
use pages::{account, files, forum, inbox, lists, profile, remark, submit, thread};
pub use seed::{ACCOUNTS, Account};

use crate::live::Live;
use crate::web::{Handler, Keys, Server, environment, get, get_and_post, post};
use crate::{EmbeddedInstance, Error, Golden, Options};

macro_rules! templates {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("templates/", $name)))),*] };
}

const TEMPLATES: [(&str, &str); 27] = templates![
    "layout.html",
    "list.html",
    "submission.html",
    "comment.html",
    "vote.html",
    "more.html",
    "errors.html",
    "about.html",
    "thread.html",
    "comments.html",
    "search.html",
    "forums.html",
    "forum_form.html",
    "submit.html",
    "edit_submission.html",
    "edit_comment.html",
    "comment_form_page.html",
    "user.html",
    "login.html",
    "registration.html",
    "account.html",
    "delete_account.html",
    "biography.html",
    "messages.html",
    "error.html",
    "message.html",
    "compose.html",
];

/// Starts an instance of the golden forum. Generates the golden database if the folder lacks it.
pub fn start(golden: &Golden, options: &Options) -> Result<EmbeddedInstance, Error> {
    let store = golden.copy(&seed::recipe())?;
    let router = over(store.live(), options)?;
    Ok(EmbeddedInstance::new(store, router))
}

/// Serves the forum from a database file that [`generate`] made. Another process may restore the
/// file with SQLite's online backup while the forum runs.
pub fn open(database: &Path, options: &Options) -> Result<Router, Error> {
    over(Arc::new(Live::on_file(database)?), options)
}

fn over(live: Arc<Live>, options: &Options) -> Result<Router, Error> {
    let (clock, keys) = (options.clock.clone(), Keys::new("forum", options.seed));
    let server =
        Arc::new(Server { live, clock, keys, templates: templates()?, frame: pages::frame });
    Ok(router(&server))
}

/// All instances share the templates, which are parsed once.
fn templates() -> Result<Environment<'static>, Error> {
    static READ: OnceLock<Environment<'static>> = OnceLock::new();
    if let Some(read) = READ.get() {
        return Ok(read.clone());
    }
    let read = environment(&TEMPLATES)?;
    Ok(READ.get_or_init(|| read).clone())
}

/// Generates the golden database, as [`Golden`] keeps it on disk.
pub fn generate() -> Result<Vec<u8>, Error> {
    crate::golden::generate(&seed::recipe())
}

fn router(server: &Arc<Server>) -> Router {
    let shown: [(&str, Handler); 28] = [
        ("/", lists::front),
        ("/all", lists::all),
        ("/all/{sort}", lists::all),
        ("/featured", lists::featured),
        ("/featured/{sort}", lists::featured),
        ("/subscribed", lists::subscribed),
        ("/subscribed/{sort}", lists::subscribed),
        ("/moderated", lists::moderated),
        ("/moderated/{sort}", lists::moderated),
        ("/comments", lists::comments),
        ("/search", lists::search),
        ("/forums", forum::all),
        ("/forums/all", forum::all),
        ("/f/{forum}", lists::forum),
        ("/f/{forum}/", lists::forum),
        ("/f/{forum}/{sort}", lists::forum_or_thread),
        ("/f/{forum}/{id}/", thread::show),
        ("/f/{forum}/{id}/{slug}", thread::show),
        ("/f/{forum}/{id}/{slug}/", thread::show),
        ("/f/{forum}/{id}/-/comment/{comment}", remark::show),
        ("/user/{name}", profile::overview),
        ("/user/{name}/", profile::overview),
        ("/user/{name}/submissions", profile::submissions),
        ("/user/{name}/comments", profile::comments),
        ("/messages", inbox::threads),
        ("/submission_images/{name}", files::image),
        ("/assets/forum.css", files::style),
        ("/assets/forum.js", files::script),
    ];
    let forms: [(&str, Handler); 14] = [
        ("/login", account::log_in),
        ("/registration", account::register),
        ("/submit", submit::submit),
        ("/submit/{forum}", submit::submit),
        ("/create_forum", forum::create),
        ("/f/{forum}/edit", forum::edit),
        ("/f/{forum}/{id}/-/edit", thread::edit),
        ("/f/{forum}/{id}/-/comment/{comment}/edit", remark::edit),
        ("/user/{name}/account", account::account),
        ("/user/{name}/delete_account", account::delete),
        ("/user/{name}/edit_biography", account::biography),
        ("/user/{name}/compose_message", inbox::compose),
        ("/messages/thread/{id}", inbox::thread),
        ("/login_check", account::log_in),
    ];
    let sent: [(&str, Handler); 8] = [
        ("/logout", account::log_out),
        ("/sv/{id}", thread::vote),
        ("/cv/{id}", remark::vote),
        ("/f/{forum}/subscribe", forum::subscribe),
        ("/f/{forum}/unsubscribe", forum::unsubscribe),
        ("/f/{forum}/{id}/-/delete", thread::delete),
        ("/f/{forum}/{id}/-/comment", remark::create),
        ("/f/{forum}/{id}/-/comment/{comment}/delete", remark::delete),
    ];
    let mut router = Router::new();
    for (_, name, _) in submissions::Sort::ALL {
        router = router.route(&format!("/{name}"), get(server, lists::front));
    }
    for (path, handler) in shown {
        router = router.route(path, get(server, handler));
    }
    for (path, handler) in forms {
        router = router.route(path, get_and_post(server, handler));
    }
    for (path, handler) in sent {
        router = router.route(path, post(server, handler));
    }
    router.fallback_service(get(server, files::nothing))
}
