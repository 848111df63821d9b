//! A gateway with an origin behind it, and what it has recorded.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{CertificateAuthority, Config, Gateway, Limits, Recorder, Redact, Routes, Target};
use snapshots::{Archive, Recording, RecordingOptions};

use crate::client::Client;
use crate::origin::Origin;

pub struct World {
    pub gateway: Gateway,
    pub client: Client,
    pub recorder: Option<Arc<Recorder>>,
    pub folder: Utf8PathBuf,
    _origin: Origin,
    pub keep: tempfile::TempDir,
}

/// What a test wants different.
pub struct Setup {
    pub record: bool,
    pub redact: Redact,
    pub body_cap: u64,
    pub limits: Limits,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            record: true,
            redact: Redact::default(),
            body_cap: 64 << 20,
            limits: Limits::default(),
        }
    }
}

impl Setup {
    /// A gateway that records everything, or forwards it, and takes `origin` for every server.
    pub async fn with(self, origin: Origin, origin_ca: Option<&CertificateAuthority>) -> World {
        let keep = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(keep.path()).unwrap();
        let out = dir.join("snapshot.wacz");
        let recorder = self.record.then(|| {
            let recording = Recording::create(&out, RecordingOptions::default()).unwrap();
            Arc::new(Recorder::new(recording, self.redact, self.body_cap))
        });
        let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
        let target = recorder.clone().map_or(Target::Forward, Target::Record);
        let mut config = Config::for_everybody(ca.clone(), Routes::all(target));
        config.connect_to.push(format!("::{}", origin.address).parse().unwrap());
        config.limits = self.limits;
        if let Some(origin_ca) = origin_ca {
            let roots = dir.join("roots.pem");
            std::fs::write(&roots, origin_ca.certificate_pem()).unwrap();
            config.extra_roots.push(roots);
        }
        let gateway = Gateway::start(config).await.unwrap();
        let client = Client::new(gateway.local_addr().unwrap(), &ca);
        World {
            gateway,
            client,
            recorder,
            folder: Recording::folder_of(&out),
            _origin: origin,
            keep,
        }
    }

    pub async fn plain(self) -> World {
        self.with(Origin::plain().await, None).await
    }

    pub async fn tls(self, h2: bool) -> World {
        let ca = Arc::new(CertificateAuthority::in_memory().unwrap());
        self.with(Origin::tls(ca.clone(), h2).await, Some(&ca)).await
    }
}

/// One record as it lies on disk.
pub struct Recorded {
    pub kind: &'static str,
    pub url: String,
    pub protocol: Option<String>,
    pub id: String,
    pub concurrent_to: Option<String>,
    /// The block; for HTTP, head and body.
    pub block: String,
}

impl World {
    /// Everything on disk at this moment but the `warcinfo`, as a killed process would leave it.
    pub fn recorded(&self) -> Vec<Recorded> {
        let archive = Archive::open(&self.folder.join("data.warc")).unwrap();
        archive
            .records()
            .map(|record| {
                let mut record = record.unwrap().1;
                let concurrent_to = record.concurrent_to().next().map(str::to_owned);
                Recorded {
                    kind: record.kind().name(),
                    url: record.target_uri().unwrap_or_default().into_owned(),
                    protocol: record.headers.get_str("WARC-Protocol").map(str::to_owned),
                    id: record.id().unwrap_or_default().to_owned(),
                    concurrent_to,
                    block: String::from_utf8_lossy(&record.read_block(1 << 30).unwrap())
                        .into_owned(),
                }
            })
            .filter(|record| record.kind != "warcinfo")
            .collect()
    }

    pub fn recorder(&self) -> &Recorder {
        self.recorder.as_deref().unwrap()
    }
}

impl Recorded {
    pub fn head(&self) -> &str {
        self.block.split("\r\n\r\n").next().unwrap()
    }

    pub fn body(&self) -> &str {
        self.block.split_once("\r\n\r\n").unwrap().1
    }
}
