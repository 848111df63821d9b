//! A daemon in this process, as its commands and a browser meet it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use daemon::{Client, DaemonOptions, DirectSettings, Folder};
use gateway::{CertificateAuthority, Config, Routes};
use sites::{Options, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

const SOON: Duration = Duration::from_secs(60);

/// A daemon that ends with its test.
pub(crate) struct Up {
    pub(crate) client: Client,
    stop: CancellationToken,
    served: tokio::task::JoinHandle<Result<(), daemon::Error>>,
}

impl Up {
    /// The sites of these manifests, by name.
    pub(crate) async fn start(folder: &Utf8Path, manifests: &[(&str, &str)]) -> Up {
        for (name, text) in manifests {
            std::fs::create_dir_all(folder.join(name)).unwrap();
            std::fs::write(folder.join(name).join("site.yaml"), text).unwrap();
        }
        let sites =
            manifests.iter().map(|(name, _)| Site::load(&folder.join(name)).unwrap()).collect();
        let data = Folder::new(folder.join("data"));
        let group = Options {
            helper: Some(env!("CARGO_BIN_EXE_owner").into()),
            ..Options::new("test", data.path().to_owned())
        };
        let gateway = Config::for_everybody(
            Arc::new(CertificateAuthority::in_memory().unwrap()),
            Routes::new(),
        );
        let (client, stop) = (Client::new(&data), CancellationToken::new());
        let reset = ([127, 0, 0, 1], 0).into();
        let manifests = folder.to_owned();
        let key = host_check::Key::random();
        let direct = DirectSettings::default();
        let options =
            DaemonOptions { folder: data, manifests, sites, group, gateway, reset, key, direct };
        let served = tokio::spawn(daemon::serve(options, Arc::new(|_| {}), stop.clone()));
        let up = Up { client, stop, served };
        let deadline = Instant::now() + SOON;
        let mut polls = tokio::time::interval(Duration::from_millis(20));
        loop {
            polls.tick().await;
            let status = up.client.status().await;
            if status.as_ref().is_ok_and(daemon::DaemonStatus::is_up) {
                return up;
            }
            assert!(Instant::now() < deadline, "the daemon is not up: {status:?}");
        }
    }

    /// A page by its URL, through the proxy.
    pub(crate) async fn page(&self, url: &str) -> String {
        let proxy = self.client.status().await.unwrap().proxy;
        let mut stream =
            tokio::net::TcpStream::connect(proxy.trim_start_matches("http://")).await.unwrap();
        let host = url.split('/').nth(2).unwrap_or_default();
        let request = format!(
            "GET {url} HTTP/1.1\r\nHost: {host}\r\nX-Who: the client\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer.to_ascii_lowercase()
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.served.await.unwrap().unwrap();
    }
}
