//! An object store for tests: `s3s-fs`, an S3 server over a folder, and a web server of the same
//! files. Both count what they send.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use camino::Utf8Path;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;
use tower_http::services::ServeDir;

/// The credentials that the S3 server takes.
pub const KEYS: [&str; 2] = ["an-access-key", "a-secret-key"];

type Error = Box<dyn std::error::Error + Send + Sync>;
type Answer = Response<UnsyncBoxBody<Bytes, Error>>;

/// A running server of each kind. Dropped, both are gone at once, with their connections.
#[derive(Debug)]
pub struct ObjectServer {
    s3: SocketAddr,
    web: SocketAddr,
    sent: Arc<Sent>,
    runtime: Option<Runtime>,
}

/// What the servers have sent.
#[derive(Debug, Default)]
struct Sent {
    responses: AtomicU64,
    bytes: AtomicU64,
}

impl ObjectServer {
    /// Serves a folder. Its folders are buckets. Port 0 is any free port.
    ///
    /// # Errors
    /// When the folder cannot be read, or the ports are taken.
    pub fn start(folder: &Utf8Path, ports: [u16; 2]) -> anyhow::Result<ObjectServer> {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let files = s3s_fs::FileSystem::new(folder.as_std_path())
            .map_err(|error| anyhow::anyhow!("failed to serve {folder}: {error:?}"))?;
        let mut builder = S3ServiceBuilder::new(files);
        builder.set_auth(SimpleAuth::from_single(KEYS[0], KEYS[1]));
        let (s3, web) = (Kind::S3(builder.build()), Kind::Web(ServeDir::new(folder.as_std_path())));
        let sent = Arc::new(Sent::default());
        let [s3_port, web_port] = ports;
        let s3 = runtime.block_on(listen(s3, s3_port, Arc::clone(&sent)))?;
        let web = runtime.block_on(listen(web, web_port, Arc::clone(&sent)))?;
        Ok(ObjectServer { s3, web, sent, runtime: Some(runtime) })
    }

    /// The variables that lead programs to the S3 server.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", format!("http://{}", self.s3)),
            ("AWS_ACCESS_KEY_ID", KEYS[0].to_owned()),
            ("AWS_SECRET_ACCESS_KEY", KEYS[1].to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// The address of the web server, such as `http://127.0.0.1:8080`.
    pub fn web(&self) -> String {
        format!("http://{}", self.web)
    }

    /// The ports, for a server that takes this one's place.
    pub fn ports(&self) -> [u16; 2] {
        [self.s3.port(), self.web.port()]
    }

    /// How many responses were sent, and how many bytes of bodies.
    pub fn sent(&self) -> (u64, u64) {
        (self.sent.responses.load(Ordering::Relaxed), self.sent.bytes.load(Ordering::Relaxed))
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

#[derive(Clone)]
enum Kind {
    S3(S3Service),
    Web(ServeDir),
}

async fn listen(kind: Kind, port: u16, sent: Arc<Sent>) -> anyhow::Result<SocketAddr> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.context("failed to take the port")?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let (kind, sent) = (kind.clone(), Arc::clone(&sent));
            let answers =
                service_fn(move |request| answer(kind.clone(), request, Arc::clone(&sent)));
            tokio::spawn(async move {
                // A client that goes away is no error of ours.
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), answers)
                    .await;
            });
        }
    });
    Ok(address)
}

async fn answer(kind: Kind, request: Request<Incoming>, sent: Arc<Sent>) -> Result<Answer, Error> {
    let response: Answer = match kind {
        Kind::S3(service) => {
            let response = hyper::service::Service::call(&service, request).await?;
            response.map(|body| body.map_err(Error::from).boxed_unsync())
        }
        Kind::Web(folder) => {
            let response =
                folder.oneshot(request).await.unwrap_or_else(|never: Infallible| match never {});
            response.map(|body| body.map_err(Error::from).boxed_unsync())
        }
    };
    sent.responses.fetch_add(1, Ordering::Relaxed);
    Ok(response.map(|body| {
        body.map_frame(move |frame| {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            sent.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
            frame
        })
        .boxed_unsync()
    }))
}
