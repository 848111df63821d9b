//! The page that creates a submission.

use minijinja::context;
use url::Url;

use super::{LONGEST_BODY, LONGEST_TITLE, too_long, wrong};
use crate::forum::{forums, submissions, users};
use crate::web::{Failure, Reply, Visit};

/// `/submit` and `/submit/<forum>`.
pub(in crate::forum) fn submit(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let viewer = users::required(visit)?;
    let here = match visit.path.given("forum") {
        Some(_) => forums::addressed(visit)?.name,
        None => String::new(),
    };
    let names: Vec<String> =
        forums::all(visit.db, false)?.into_iter().map(|forum| forum.name).collect();
    if !visit.sent {
        return Reply::page("submit.html", context! { chosen => here, names });
    }
    let text = |field: &str| visit.form.text(field).trim();
    let (title, body, chosen) =
        (text("submission[title]"), text("submission[body]"), text("submission[forum]"));
    let url = visit.form.given("submission[url]");
    let forum = forums::named(visit.db, chosen)?;
    let mut errors: Vec<String> =
        [wrong("The title", title, LONGEST_TITLE), too_long("The body", body, LONGEST_BODY)]
            .into_iter()
            .flatten()
            .collect();
    errors.extend(url.and_then(wrong_address));
    if let (Some(forum), true) = (&forum, errors.is_empty()) {
        let id = submissions::create(visit.db, forum.id, viewer.id, (title, url, body), visit.now)?;
        return Reply::redirect(submissions::get(visit.db, id, viewer.id)?.address());
    }
    if forum.is_none() {
        errors.push("Choose a forum.".to_owned());
    }
    Reply::refused("submit.html", context! { errors, chosen, names, title, url, body })
}

/// The error for a link: it must be an HTTP URL with a host, not a script.
pub(super) fn wrong_address(url: &str) -> Option<String> {
    let good = url.len() <= 2000
        && Url::parse(url)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
    (!good).then(|| "This is not a valid URL; it must begin with http:// or https://.".to_owned())
}
