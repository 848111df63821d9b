//! The replies of handlers.

use axum::http::StatusCode;
use minijinja::Value;

/// A reply.
pub(crate) enum Reply {
    /// A template with its context.
    Page { status: StatusCode, template: &'static str, shows: Value },
    /// A redirect to this URL.
    Redirect(String),
    /// A redirect that logs in as `name`, or logs out if the name is empty.
    Session { name: String, to: String },
    /// Raw bytes.
    File { kind: &'static str, bytes: Vec<u8> },
    /// A JSON document.
    Json(serde_json::Value),
}

impl Reply {
    pub(crate) fn page(template: &'static str, shows: Value) -> Result<Self, Failure> {
        Ok(Self::Page { status: StatusCode::OK, template, shows })
    }

    /// The page of a form that was rejected.
    pub(crate) fn refused(template: &'static str, shows: Value) -> Result<Self, Failure> {
        Ok(Self::Page { status: StatusCode::UNPROCESSABLE_ENTITY, template, shows })
    }

    pub(crate) fn redirect(to: impl Into<String>) -> Result<Self, Failure> {
        Ok(Self::Redirect(to.into()))
    }
}

/// Why there is no reply. Each becomes a page or a redirect, and the request's writes are rolled
/// back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("The page you asked for does not exist.")]
    NotFound,
    #[error("You are not allowed to do that.")]
    Forbidden,
    #[error("The form's token is invalid or too old. Go back, load the page again and retry.")]
    Token,
    #[error("What you sent is too large.")]
    TooLarge,
    #[error("Log in first.")]
    Anonymous,
    #[error("The site cannot read its data: {0}")]
    Database(rusqlite::Error),
    #[error("The site cannot draw this page: {0:#}")]
    Template(#[from] minijinja::Error),
}

impl From<rusqlite::Error> for Failure {
    /// A missing row becomes a "not found" page.
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::QueryReturnedNoRows => Self::NotFound,
            other => Self::Database(other),
        }
    }
}

impl Failure {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Forbidden | Self::Token => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Anonymous => StatusCode::SEE_OTHER,
            Self::Database(_) | Self::Template(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}
