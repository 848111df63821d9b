//! The client of the daemon's control socket, used by the `sandbox` commands.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;
use file_version::Version;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use sites::LoginSession;
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::status::FORMAT;
use crate::{DaemonStatus, Error, Folder};

/// The timeout of a response. A reset may have to wait for a container.
const ANSWER: Duration = Duration::from_secs(360);

/// The head of a response, and the task that drives its connection.
type OpenResponse = (Response<Incoming>, JoinHandle<()>);

/// A client of the daemon of one folder.
#[derive(Debug, Clone)]
pub struct Client {
    socket: Utf8PathBuf,
}

impl Client {
    /// A client for the daemon of this folder, if one is running.
    pub fn new(folder: &Folder) -> Client {
        Client { socket: folder.socket() }
    }

    /// The status of the daemon.
    ///
    /// # Errors
    /// [`Error::NotUp`] if no daemon runs.
    pub async fn status(&self) -> Result<DaemonStatus, Error> {
        let status: serde_json::Value = self.ask(Method::GET, "/status").await?;
        let talk = |why: String| Error::Talk(why);
        let found = Version::of(&status).map_err(|error| talk(error.to_string()))?;
        found.check(FORMAT).map_err(|newer| talk(newer.to_string()))?;
        serde_json::from_value(status).map_err(|error| talk(error.to_string()))
    }

    /// Adds sites to the running sites, by their names in the daemon's folder of manifests. They
    /// start in the background.
    ///
    /// # Errors
    /// When no daemon runs, or one of the sites cannot be started.
    pub async fn add(&self, names: &[String]) -> Result<(), Error> {
        let names = serde_json::to_vec(names).map_err(|error| Error::Talk(error.to_string()))?;
        self.exchange(self.begin(Method::POST, "/add", names.into())).await.map(drop)
    }

    /// Resets a site. Returns how long its users had to wait, in milliseconds.
    ///
    /// # Errors
    /// When no daemon runs, there is no such site, or the site fails.
    pub async fn reset(&self, site: &str) -> Result<f64, Error> {
        self.ask(Method::POST, &format!("/reset/{site}")).await
    }

    /// The last output lines of each instance of a site.
    ///
    /// # Errors
    /// When no daemon runs or there is no such site.
    pub async fn logs(
        &self,
        site: &str,
        lines: usize,
    ) -> Result<BTreeMap<u32, Vec<String>>, Error> {
        self.ask(Method::GET, &format!("/logs/{site}?lines={lines}")).await
    }

    /// Reports each output line of a site's instances, with the number of the instance: first the
    /// last lines of each instance, then every new line, including those of later instances. Ends
    /// with the daemon.
    ///
    /// # Errors
    /// When no daemon runs or there is no such site.
    pub async fn follow(
        &self,
        site: &str,
        lines: usize,
        mut tell: impl FnMut(u32, &str),
    ) -> Result<(), Error> {
        let path = format!("/logs/{site}/follow?lines={lines}");
        let (answer, connection) = self.begin(Method::GET, &path, Bytes::new()).await?;
        let telling = async {
            let mut body = answer.into_body();
            let mut read = Vec::new();
            // If the body breaks off, the daemon has ended.
            while let Some(Ok(frame)) = body.frame().await {
                read.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
                while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = read.drain(..=end).collect();
                    let (instance, line): (u32, String) = serde_json::from_slice(&line)
                        .map_err(|error| Error::Talk(error.to_string()))?;
                    tell(instance, &line);
                }
            }
            Ok(())
        };
        telling.await.inspect(|()| connection.abort())
    }

    /// Logs in as an account of the manifest.
    ///
    /// # Errors
    /// When no daemon runs, there is no such site or account, or the log-in fails.
    pub async fn login(&self, site: &str, account: &str) -> Result<LoginSession, Error> {
        self.ask(Method::POST, &format!("/login/{site}/{account}")).await
    }

    /// Asks the daemon to stop.
    ///
    /// # Errors
    /// [`Error::NotUp`] if no daemon runs.
    pub async fn stop(&self) -> Result<(), Error> {
        self.send(Method::POST, "/stop").await.map(drop)
    }

    async fn ask<T: DeserializeOwned>(&self, method: Method, path: &str) -> Result<T, Error> {
        let bytes = self.send(method, path).await?;
        serde_json::from_slice(&bytes).map_err(|error| Error::Talk(error.to_string()))
    }

    async fn send(&self, method: Method, path: &str) -> Result<Bytes, Error> {
        self.exchange(self.begin(method, path, Bytes::new())).await
    }

    /// Sends a request and reads the complete response.
    async fn exchange(
        &self,
        response: impl Future<Output = Result<OpenResponse, Error>>,
    ) -> Result<Bytes, Error> {
        let exchange = async {
            let (answer, _) = response.await?;
            Ok(answer.into_body().collect().await.map_err(connection_error)?.to_bytes())
        };
        let answered = timeout(ANSWER, exchange).await;
        answered.unwrap_or_else(|_| Err(Error::Talk(format!("no answer within {ANSWER:?}"))))
    }

    /// Sends a request. A response without a success status is an error. The task drives the
    /// connection, and ends with it.
    async fn begin(&self, method: Method, path: &str, body: Bytes) -> Result<OpenResponse, Error> {
        let stream =
            UnixStream::connect(&self.socket).await.map_err(|error| match error.kind() {
                // Reset: the daemon closed its socket while the request was in the queue.
                io::ErrorKind::NotFound
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionReset => Error::NotUp,
                _ => Error::file("connect to", &self.socket)(error),
            })?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(connection_error)?;
        let driven = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "the connection to the daemon broke");
            }
        });
        let request =
            Request::builder().method(method).uri(path).header(http::header::HOST, "town");
        let request = request.header(http::header::CONTENT_TYPE, "application/json");
        let request =
            request.body(Full::new(body)).map_err(|error| Error::Talk(error.to_string()))?;
        let answer = sender.send_request(request).await.map_err(no_answer)?;
        match answer.status() {
            status if status.is_success() => Ok((answer, driven)),
            status @ (StatusCode::CONFLICT | StatusCode::SERVICE_UNAVAILABLE) => {
                let message =
                    answer.into_body().collect().await.map_err(connection_error)?.to_bytes();
                let message = String::from_utf8_lossy(&message).into_owned();
                Err(if status == StatusCode::CONFLICT {
                    Error::Refused(message)
                } else {
                    Error::Lacks(message)
                })
            }
            status => Err(Error::Talk(format!("it answered {status} to {path}"))),
        }
    }
}

/// The error of a request without a response. If the daemon ends while the request is in its queue,
/// no daemon runs. If it responds with another protocol, it is still there.
fn no_answer(error: hyper::Error) -> Error {
    if error.is_parse() || error.is_user() { connection_error(error) } else { Error::NotUp }
}

fn connection_error(error: hyper::Error) -> Error {
    Error::Talk(error_text::with_causes(&error))
}
