//! Pages for log-in, log-out, registration, and the user's account.

use minijinja::context;

use super::wrong;
use crate::forum::users;
use crate::web::{Failure, Reply, Visit};

pub(in crate::forum) fn log_in(visit: &Visit<'_>) -> Result<Reply, Failure> {
    if !visit.sent {
        return Reply::page("login.html", context! {});
    }
    let name = visit.form.text("_username").trim();
    match users::matching(visit.db, name, visit.form.text("_password"))? {
        Some(user) => Ok(Reply::Session { name: user.name, to: "/".to_owned() }),
        None => Reply::refused("login.html", context! { name, errors => ["Invalid credentials."] }),
    }
}

pub(in crate::forum) fn log_out(_: &Visit<'_>) -> Result<Reply, Failure> {
    Ok(Reply::Session { name: String::new(), to: "/".to_owned() })
}

pub(in crate::forum) fn register(visit: &Visit<'_>) -> Result<Reply, Failure> {
    if !visit.sent {
        return Reply::page("registration.html", context! {});
    }
    let name = visit.form.text("user[username]").trim();
    let mut errors = Vec::new();
    if !users::is_name(name) {
        errors.push(
            "The username must be 3 to 25 letters, digits, hyphens or underscores.".to_owned(),
        );
    }
    let (first, again) = ("user[password][first]", "user[password][second]");
    errors.extend(wrong_password(visit, first, again));
    if errors.is_empty() {
        if users::register(visit.db, name, visit.form.text(first), visit.now)? {
            return Ok(Reply::Session { name: name.to_owned(), to: "/".to_owned() });
        }
        errors.push("This username is taken.".to_owned());
    }
    Reply::refused("registration.html", context! { name, errors })
}

fn wrong_password(visit: &Visit<'_>, first: &str, again: &str) -> Option<String> {
    let password = visit.form.text(first);
    if !(8..=72).contains(&password.len()) {
        return Some("The password must be 8 to 72 characters long.".to_owned());
    }
    (password != visit.form.text(again)).then(|| "The passwords do not match.".to_owned())
}

/// `/user/<name>/account`: changes the password or deletes the account.
pub(in crate::forum) fn account(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let user = users::owner(visit)?;
    if !visit.sent {
        return Reply::page("account.html", context! { name => user.name });
    }
    let (first, again) = ("user[password][first]", "user[password][second]");
    if let Some(error) = wrong_password(visit, first, again) {
        return Reply::refused("account.html", context! { name => user.name, errors => [error] });
    }
    users::set_password(visit.db, &user, visit.form.text(first))?;
    Reply::page("account.html", context! { name => user.name, saved => true })
}

pub(in crate::forum) fn delete(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let user = users::owner(visit)?;
    if !visit.sent {
        return Reply::page("delete_account.html", context! { name => user.name });
    }
    if !visit.form.text("user[name]").trim().eq_ignore_ascii_case(&user.name) {
        let errors = ["Type the username to confirm."];
        return Reply::refused("delete_account.html", context! { name => user.name, errors });
    }
    users::delete(visit.db, user.id)?;
    Ok(Reply::Session { name: String::new(), to: "/".to_owned() })
}

pub(in crate::forum) fn biography(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let user = users::owner(visit)?;
    if !visit.sent {
        return Reply::page(
            "biography.html",
            context! { name => user.name, biography => user.biography },
        );
    }
    let biography = visit.form.text("user_biography[biography]").trim();
    let fault = if biography.is_empty() { None } else { wrong("The biography", biography, 300) };
    if let Some(error) = fault {
        return Reply::refused(
            "biography.html",
            context! { name => user.name, biography, errors => [error] },
        );
    }
    users::set_biography(visit.db, user.id, biography)?;
    Reply::redirect(format!("/user/{}", user.name))
}
