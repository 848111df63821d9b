//! What a handler answers with.

use axum::http::StatusCode;
use minijinja::Value;

/// An answer.
pub(crate) enum Reply {
    /// A template with what it shows.
    Page { status: StatusCode, template: &'static str, shows: Value },
    /// Look there instead.
    Redirect(String),
    /// Look there instead, and be this person from now on; nobody where the name is empty.
    Session { name: String, to: String },
    /// Bytes as they are.
    File { kind: &'static str, bytes: Vec<u8> },
    /// A JSON document.
    Json(serde_json::Value),
}

impl Reply {
    pub(crate) fn page(template: &'static str, shows: Value) -> Result<Self, Failure> {
        Ok(Self::Page { status: StatusCode::OK, template, shows })
    }

    /// A form that was sent and has something wrong with it.
    pub(crate) fn refused(template: &'static str, shows: Value) -> Result<Self, Failure> {
        Ok(Self::Page { status: StatusCode::UNPROCESSABLE_ENTITY, template, shows })
    }

    pub(crate) fn redirect(to: impl Into<String>) -> Result<Self, Failure> {
        Ok(Self::Redirect(to.into()))
    }
}

/// Why there is no answer; each becomes a page or a redirect, and whatever the request had written is rolled back.
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
    /// A row that the address names and that is not there is a page that is not there.
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
