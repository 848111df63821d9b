//! Who asks: a session of a browser, with the user as whom it acts, or Basic authentication.

use axum::http::header;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::http::{Asked, Reply};
use super::seed::Record;
use super::store::Desk;
use crate::web::SESSION_COOKIE;

/// A user who has logged in.
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// As whom the pages are shown, and by whom records are made.
    pub(super) acting: Record,
    /// Who has logged in.
    pub(super) real: Record,
}

impl Visitor {
    /// The name that `sys_created_by` has.
    pub(super) fn user_name(&self) -> &str {
        self.acting.text("user_name")
    }

    pub(super) fn is_impersonating(&self) -> bool {
        self.acting.sys_id != self.real.sys_id
    }
}

/// The visitor of a page. A session ends with the user.
pub(super) fn by_session(desk: &Desk<'_>, asked: &Asked<'_>) -> rusqlite::Result<Option<Visitor>> {
    let Some(name) = asked.keys.visitor(asked.header(header::COOKIE)) else { return Ok(None) };
    let (real, acting) = name.split_once('|').unwrap_or((&name, &name));
    let (real, acting) = (desk.get("sys_user", real)?, desk.get("sys_user", acting)?);
    Ok(real.zip(acting).map(|(real, acting)| Visitor { acting, real }))
}

/// The visitor of an interface: Basic authentication, else the session.
pub(super) fn of_interface(
    desk: &Desk<'_>,
    asked: &Asked<'_>,
) -> rusqlite::Result<Option<Visitor>> {
    let Some(encoded) = asked.header(header::AUTHORIZATION).strip_prefix("Basic ") else {
        return by_session(desk, asked);
    };
    let decoded = STANDARD.decode(encoded.trim()).ok().and_then(|it| String::from_utf8(it).ok());
    match decoded.as_deref().and_then(|text| text.split_once(':')) {
        Some((name, password)) => by_password(desk, name, password),
        None => Ok(None),
    }
}

/// The user with this name, if the password is right.
pub(super) fn by_password(
    desk: &Desk<'_>,
    name: &str,
    password: &str,
) -> rusqlite::Result<Option<Visitor>> {
    let users = desk.records("sys_user")?;
    let found = users.into_iter().find(|user| {
        let own = user.text("user_password");
        let wanted = desk.passwords.get(name).map_or(own, String::as_str);
        user.text("user_name") == name
            && !password.is_empty()
            && password == wanted
            && user.text("active") != "false"
    });
    Ok(found.map(|user| Visitor { acting: user.clone(), real: user }))
}

/// Whether a user has a role.
pub(super) fn has_role(desk: &Desk<'_>, user: &Record, role: &str) -> rusqlite::Result<bool> {
    for held in desk.records("sys_user_has_role")? {
        if held.text("user") == user.sys_id
            && desk.by_id(held.text("role"))?.is_some_and(|one| one.text("name") == role)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The cookie of a session of `real`, who acts as `acting`.
pub(super) fn cookie(asked: &Asked<'_>, real: &str, acting: &str) -> String {
    let value = asked.keys.cookie(&format!("{real}|{acting}"));
    format!("{SESSION_COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax")
}

/// A reply that ends the session.
pub(super) fn end(to: &str) -> Reply {
    let mut reply = Reply::redirect(to);
    reply.cookie = Some(format!("{SESSION_COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"));
    reply
}
