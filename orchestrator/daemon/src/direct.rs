//! Direct addresses: listeners on loopback for sites that other programs take for a server of their
//! own, without the proxy.
//!
//! ```text
//! a program of this user --- HTTP on loopback ---> door ---> the instance in use
//! another user's, a web page --------------------> refused
//! ```
//!
//! Such a site has accounts that everybody knows, so the door asks who comes: the kernel says whose
//! a connection is, and browsers say for which page they ask. An address stays the same while its
//! instances change.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as BlockingListener};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use doors::{Admission, Ends};
use host_check::Guard;
use http::StatusCode;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use sites::manifest::{Account, Application, DriverSpec};
use sites::{Site, SiteTarget};
use tokio::net::{TcpListener, TcpStream};

use crate::Error;
use crate::site_router::SiteRouter;

/// Where programs reach an instance without the proxy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectAddress {
    /// The name by which it is reset: of its site, or `SITE:NUMBER` if it is not the site's first.
    pub instance: String,
    /// The URL, without a slash at its end.
    pub url: String,
    /// The account of an administrator, as the site's manifest has it.
    pub username: String,
    /// Its password.
    pub password: String,
    /// Whether it can be used.
    pub is_up: bool,
}

impl DirectAddress {
    /// Whether it is the address of an instance of this site.
    pub fn is_of(&self, site: &str) -> bool {
        let rest = self.instance.strip_prefix(site);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }
}

/// The administrator of a site with direct addresses. None for other sites.
pub(crate) fn administrator(site: &Site) -> Option<&Account> {
    match &site.driver {
        DriverSpec::Embedded(Application::Itsm | Application::ItsmOf(_)) => {
            site.accounts.get("admin")
        }
        _ => None,
    }
}

/// A listener that hears only those whom the door admits.
struct DoorListener {
    listener: TcpListener,
    admission: Admission,
}

impl Listener for DoorListener {
    type Io = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TcpStream, SocketAddr) {
        loop {
            let (stream, client) = Listener::accept(&mut self.listener).await;
            let Ok(server) = stream.local_addr() else { continue };
            if self.admission.admits_peer(Ends { client, server }).await {
                return (stream, client);
            }
            tracing::warn!("a program of another user was refused at {server}");
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// Opens the address of an instance, by the name under which it is routed. Returns where it is.
///
/// # Errors
/// When no port is free.
pub(crate) fn open(
    router: &Arc<SiteRouter>,
    name: &str,
    admission: Admission,
    until: impl Future<Output = ()> + Send + 'static,
) -> Result<SocketAddr, Error> {
    let listen = || {
        let listener = BlockingListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((TcpListener::from_std(listener)?, address))
    };
    let failed = |source| Error::Open { site: name.to_owned(), source };
    let (listener, address) = listen().map_err(failed)?;
    let (router, name) = (Arc::downgrade(router), name.to_owned());
    let forwarding = Router::new().fallback(move |request: Request| {
        let instance = router.upgrade().and_then(|router| router.use_directly(&name));
        async move {
            match instance {
                Some(instance) => forward(&instance, request).await,
                None => unavailable("it is being made anew; try again"),
            }
        }
    });
    let guarded = Guard::of_open_door(address).before(forwarding, IntoResponse::into_response);
    tokio::spawn(host_check::serve(DoorListener { listener, admission }, guarded, until));
    Ok(address)
}

/// Sends a request to an instance, over a connection of its own, and returns the response.
async fn forward(instance: &SiteTarget, request: Request) -> Response {
    let answering = async {
        let stream = instance.connect().await.map_err(|error| error.to_string())?;
        let connecting = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = connecting.map_err(|error| error.to_string())?;
        tokio::spawn(connection);
        sender.send_request(request).await.map_err(|error| error.to_string())
    };
    match answering.await {
        Ok(response) => response.map(Body::new),
        Err(why) => unavailable(&why),
    }
}

fn unavailable(why: &str) -> Response {
    let text = format!("the site has no instance here: {why}");
    (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
}
