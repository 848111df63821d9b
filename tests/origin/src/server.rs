//! Listeners and connections.
//!
//! One task accepts per listener, one serves per connection; stopping cancels a token that all of
//! them watch, and [`Origin::stop`] returns when the last of them has gone.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use futures_util::stream;
use http::{Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::authority::Authority;
use crate::call::{Call, MAX_BODY};
use crate::captures::Captures;
use crate::data::Variant;
use crate::data::shops::{SHOPS, Shop};
use crate::reply::{Content, Piece, Reply};
use crate::{Error, HOSTS, Web, websocket};

/// Where to listen and what to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address for plain HTTP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The address for TLS; port 0 takes a free one.
    pub tls_listen: SocketAddr,
    /// Where to write the authority's certificate (`origin-ca.pem`); a temporary folder when not
    /// given.
    pub ca_dir: Option<Utf8PathBuf>,
    /// Which content.
    pub variant: Variant,
    /// Recordings of other webs, whose hosts are served too.
    pub captures: Vec<Utf8PathBuf>,
}

impl Default for Options {
    fn default() -> Options {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        Options {
            listen: any,
            tls_listen: any,
            ca_dir: None,
            variant: Variant::Original,
            captures: Vec::new(),
        }
    }
}

/// The demo web, being served.
#[derive(Debug)]
pub struct Origin {
    plain: SocketAddr,
    tls: SocketAddr,
    certificate_pem: String,
    certificate_path: Utf8PathBuf,
    stopping: CancellationToken,
    tasks: TaskTracker,
    _temporary: Option<tempfile::TempDir>,
}

impl Origin {
    /// Starts serving; both listeners answer when this returns.
    pub async fn start(options: &Options) -> Result<Origin, Error> {
        let web = Arc::new(Web::new(options.variant)?);
        let captures = Captures::open(&options.captures)?;
        let shops = (0..SHOPS).map(|number| Shop(number).host());
        let own = HOSTS.into_iter().map(str::to_owned).chain(shops);
        let hosts: Vec<String> = own.chain(captures.hosts().map(str::to_owned)).collect();
        let authority = Authority::for_hosts(&hosts)?;
        let (folder, temporary) = match &options.ca_dir {
            Some(folder) => (folder.clone(), None),
            None => temporary_folder()?,
        };
        let certificate_path = write_certificate(&folder, &authority.certificate_pem)?;
        let plain = listen(options.listen).await?;
        let tls = listen(options.tls_listen).await?;
        let origin = Origin {
            plain: plain.1,
            tls: tls.1,
            certificate_pem: authority.certificate_pem,
            certificate_path,
            stopping: CancellationToken::new(),
            tasks: TaskTracker::new(),
            _temporary: temporary,
        };
        let serving = Serving {
            web,
            captures: Arc::new(captures),
            tls: None,
            stopping: origin.stopping.clone(),
            tasks: origin.tasks.clone(),
        };
        origin.tasks.spawn(serving.clone().accept(plain.0));
        origin.tasks.spawn(
            Serving { tls: Some(TlsAcceptor::from(authority.tls)), ..serving }.accept(tls.0),
        );
        Ok(origin)
    }

    /// The address of the plain listener.
    pub fn plain_addr(&self) -> SocketAddr {
        self.plain
    }

    /// The address of the TLS listener.
    pub fn tls_addr(&self) -> SocketAddr {
        self.tls
    }

    /// The certificate to trust, as PEM.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// The file that holds the certificate to trust.
    pub fn certificate_path(&self) -> &Utf8Path {
        &self.certificate_path
    }

    /// Closes the listeners and every connection.
    pub async fn stop(self) {
        self.stopping.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.stopping.cancel();
    }
}

fn temporary_folder() -> Result<(Utf8PathBuf, Option<tempfile::TempDir>), Error> {
    let failed = |source| Error::Write { path: Utf8PathBuf::from("a temporary folder"), source };
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).map_err(|path| {
        failed(std::io::Error::other(format!("{} is not UTF-8", path.display())))
    })?;
    Ok((path, Some(folder)))
}

fn write_certificate(folder: &Utf8Path, pem: &str) -> Result<Utf8PathBuf, Error> {
    std::fs::create_dir_all(folder)
        .map_err(|source| Error::Write { path: folder.to_owned(), source })?;
    let path = folder.join("origin-ca.pem");
    match std::fs::write(&path, pem) {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::Write { path, source }),
    }
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let failed = |source| Error::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

#[derive(Clone)]
struct Serving {
    web: Arc<Web>,
    captures: Arc<Captures>,
    tls: Option<TlsAcceptor>,
    stopping: CancellationToken,
    tasks: TaskTracker,
}

impl Serving {
    async fn accept(self, listener: TcpListener) {
        loop {
            let accepted = tokio::select! {
                () = self.stopping.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            // A failed accept concerns one client (it left, or no descriptors are free just now).
            let Ok((stream, _client)) = accepted else {
                tokio::task::yield_now().await;
                continue;
            };
            let serving = self.clone();
            self.tasks.spawn(async move {
                tokio::select! {
                    () = serving.stopping.cancelled() => {}
                    () = serving.connection(stream) => {}
                }
            });
        }
    }

    async fn connection(&self, stream: TcpStream) {
        // Small answers must not wait for more; where the option is refused they are late, not
        // lost.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => self.exchanges(stream).await,
            Some(acceptor) => {
                if let Ok(stream) = acceptor.accept(stream).await {
                    self.exchanges(stream).await;
                }
            }
        }
    }

    async fn exchanges(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let secure = self.tls.is_some();
        let serving = self.clone();
        let service = service_fn(move |request| {
            let serving = serving.clone();
            async move { Ok::<_, Infallible>(serving.answer(request, secure).await) }
        });
        // An error here is the client's: it spoke no HTTP or went away.
        let _ = auto::Builder::new(TokioExecutor::new())
            .serve_connection_with_upgrades(TokioIo::new(stream), service)
            .await;
    }

    async fn answer(
        &self,
        mut request: Request<Incoming>,
        secure: bool,
    ) -> Response<BoxBody<Bytes, Infallible>> {
        let upgrade = request
            .headers()
            .contains_key(header::UPGRADE)
            .then(|| hyper::upgrade::on(&mut request));
        let (head, body) = request.into_parts();
        let body = match Limited::new(body, MAX_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return into_response(Reply::status(StatusCode::PAYLOAD_TOO_LARGE));
            }
            Err(_) => return into_response(Reply::status(StatusCode::BAD_REQUEST)),
        };
        if let Some(found) = self.captures.answer(&head, &body, secure).await {
            return found;
        }
        let call = Call::new(head.method, &head.uri, head.headers, body, secure);
        let reply = self.web.answer(&call);
        let Content::WebSocket(messages) = &reply.content else { return into_response(reply) };
        let (Some(handshake), Some(upgrade)) = (websocket::accept(&call), upgrade) else {
            return into_response(
                Reply::status(StatusCode::UPGRADE_REQUIRED).header(header::UPGRADE, "websocket"),
            );
        };
        let (messages, stopping) = (messages.clone(), self.stopping.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = websocket::speak(upgrade, messages) => {}
            }
        });
        handshake.map(|()| Full::new(Bytes::new()).boxed())
    }
}

fn into_response(reply: Reply) -> Response<BoxBody<Bytes, Infallible>> {
    let is_page = reply
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    let body = match reply.content {
        // Like most applications, pages are sent as they are made, without a length.
        Content::Whole(body) if is_page => {
            let middle = body.len() / 2;
            stream_of(vec![
                Piece::new(0, body.slice(..middle)),
                Piece::new(0, body.slice(middle..)),
            ])
        }
        Content::Whole(body) => Full::new(body).boxed(),
        Content::Pieces(pieces) => stream_of(pieces),
        Content::WebSocket(_) => Full::new(Bytes::new()).boxed(),
    };
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}

fn stream_of(pieces: Vec<Piece>) -> BoxBody<Bytes, Infallible> {
    let paced = stream::unfold(pieces.into_iter(), |mut rest| async move {
        let piece = rest.next()?;
        piece.due().await;
        Some((Ok(Frame::data(piece.data)), rest))
    });
    BoxBody::new(StreamBody::new(paced))
}
