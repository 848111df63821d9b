//! A command's side of the control socket.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use sites::LoggedIn;
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::{Error, Folder, TownStatus};

/// How long the town may take to answer. A reset may have to wait for a container.
const ANSWER: Duration = Duration::from_secs(360);

/// What talks to the town of a folder.
#[derive(Debug, Clone)]
pub struct Client {
    socket: Utf8PathBuf,
}

impl Client {
    /// For the town of this folder, if there is one.
    pub fn new(folder: &Folder) -> Client {
        Client { socket: folder.socket() }
    }

    /// How the town is doing.
    ///
    /// # Errors
    /// [`Error::NotUp`] where there is none.
    pub async fn status(&self) -> Result<TownStatus, Error> {
        self.ask(Method::GET, "/status").await
    }

    /// Makes a site pristine; how long its users had to wait, in milliseconds.
    ///
    /// # Errors
    /// When there is no town, or no such site, or the site fails.
    pub async fn reset(&self, site: &str) -> Result<f64, Error> {
        self.ask(Method::POST, &format!("/reset/{site}")).await
    }

    /// The last lines that each copy of a site has printed.
    ///
    /// # Errors
    /// When there is no town or no such site.
    pub async fn logs(&self, site: &str, lines: usize) -> Result<BTreeMap<u32, Vec<String>>, Error> {
        self.ask(Method::GET, &format!("/logs/{site}?lines={lines}")).await
    }

    /// Logs an account of the manifest in.
    ///
    /// # Errors
    /// When there is no town, site or account of that name, or it is not let in.
    pub async fn login(&self, site: &str, account: &str) -> Result<LoggedIn, Error> {
        self.ask(Method::POST, &format!("/login/{site}/{account}")).await
    }

    /// Asks the town to end.
    ///
    /// # Errors
    /// [`Error::NotUp`] where there is none.
    pub async fn stop(&self) -> Result<(), Error> {
        self.send(Method::POST, "/stop").await.map(drop)
    }

    async fn ask<T: DeserializeOwned>(&self, method: Method, path: &str) -> Result<T, Error> {
        let bytes = self.send(method, path).await?;
        serde_json::from_slice(&bytes).map_err(|error| Error::Talk(error.to_string()))
    }

    async fn send(&self, method: Method, path: &str) -> Result<Bytes, Error> {
        let stream = match UnixStream::connect(&self.socket).await {
            Ok(stream) => stream,
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                return Err(Error::NotUp);
            }
            Err(error) => return Err(Error::file("connect to", &self.socket)(error)),
        };
        let talk = |error: hyper::Error| Error::Talk(error.to_string());
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(talk)?;
        let request = Request::builder().method(method).uri(path).header(http::header::HOST, "town");
        let request = request.body(Empty::<Bytes>::new()).map_err(|error| Error::Talk(error.to_string()))?;
        let exchange = async {
            let answer = sender.send_request(request).await.map_err(talk)?;
            let status = answer.status();
            let body = answer.into_body().collect().await.map_err(talk)?.to_bytes();
            if status.is_success() {
                return Ok(body);
            }
            match status {
                StatusCode::CONFLICT => Err(Error::Refused(String::from_utf8_lossy(&body).into_owned())),
                _ => Err(Error::Talk(format!("it answered {status} to {path}"))),
            }
        };
        tokio::select! {
            answered = timeout(ANSWER, exchange) => {
                answered.unwrap_or_else(|_| Err(Error::Talk(format!("no answer within {ANSWER:?}"))))
            }
            Err(error) = connection => Err(talk(error)),
        }
    }
}
