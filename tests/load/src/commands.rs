//! The command line.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use camino::Utf8PathBuf;
use clap::{Args, Parser};
use gateway::ConnectTo;

use crate::client::{self, Plan, Route};
use crate::corpus::{Corpus, Shape};
use crate::{archive, forward, manifest, origin};

/// Load for benchmarks: a corpus, an origin that serves it, a client that fetches it.
#[derive(Parser)]
pub(crate) enum Command {
    /// Write a seeded corpus as one WARC file, with the manifest of its URLs and digests.
    Corpus {
        #[command(flatten)]
        corpus: CorpusArgs,
        /// The WARC to write; `.gz` makes each record a gzip member.
        #[arg(long)]
        warc: Utf8PathBuf,
        /// The manifest to write.
        #[arg(long)]
        manifest: Utf8PathBuf,
        /// List only this many URLs, evenly spread, in the manifest.
        #[arg(long)]
        sample: Option<u32>,
    },
    /// Serve a seeded corpus over TLS until killed; prints `origin ADDR` once it answers.
    Origin {
        #[command(flatten)]
        corpus: CorpusArgs,
        /// Where to listen.
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
        /// Where to write the certificate authority's certificate (PEM).
        #[arg(long)]
        ca: Utf8PathBuf,
    },
    /// Forward through the gateway without keeping anything, until interrupted; prints `proxy
    /// http://ADDR`.
    Forward {
        /// Connect to another address for requests to HOST:PORT (HOST:PORT:ADDR:PORT, as curl has
        /// it).
        #[arg(long)]
        connect_to: Vec<ConnectTo>,
        /// A certificate authority to believe (PEM).
        #[arg(long)]
        upstream_ca: Vec<Utf8PathBuf>,
        /// Reach loopback and private addresses.
        #[arg(long)]
        allow_private: bool,
    },
    /// Fetch URLs of a manifest, check their bodies and print what it took as JSON.
    Run {
        /// The manifest.
        #[arg(long)]
        manifest: Utf8PathBuf,
        /// A forward proxy to CONNECT through.
        #[arg(long, required_unless_present = "direct", conflicts_with = "direct")]
        proxy: Option<SocketAddr>,
        /// The address to open TLS connections to, whatever the URL's host.
        #[arg(long)]
        direct: Option<SocketAddr>,
        /// Threads, each with its own connections.
        #[arg(short = 'c', long, default_value_t = 8)]
        threads: usize,
        /// Requests in all; more than the manifest has go round again.
        #[arg(short = 'n', long, default_value_t = 2000)]
        requests: usize,
        /// Begin no more requests after so many seconds.
        #[arg(long)]
        seconds: Option<u64>,
        /// How long one read or write may take, in seconds.
        #[arg(long, default_value_t = 30)]
        timeout: u64,
    },
}

/// Which corpus.
#[derive(Args)]
pub(crate) struct CorpusArgs {
    /// Decides everything in the corpus.
    #[arg(long, default_value_t = 20_260_101)]
    seed: u64,
    /// Documents.
    #[arg(long, default_value_t = 2000)]
    urls: u32,
    /// Hosts, `h00.bench.test` and so on.
    #[arg(long, default_value_t = 20)]
    hosts: u32,
    /// What the documents are like.
    #[arg(long, value_enum, default_value_t = Shape::Mixed)]
    shape: Shape,
}

impl CorpusArgs {
    fn corpus(&self) -> Corpus {
        Corpus { seed: self.seed, urls: self.urls, hosts: self.hosts.max(1), shape: self.shape }
    }
}

impl Command {
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Command::Corpus { corpus, warc, manifest, sample } => {
                let corpus = corpus.corpus();
                let step = sample.map_or(1, |sample| (corpus.urls / sample.max(1)).max(1));
                archive::write(&corpus, &warc, &manifest, step)
            }
            Command::Origin { corpus, listen, ca } => origin::serve(&corpus.corpus(), listen, &ca),
            Command::Forward { connect_to, upstream_ca, allow_private } => {
                forward::serve(connect_to, upstream_ca, allow_private)
            }
            Command::Run { manifest, proxy, direct, threads, requests, seconds, timeout } => {
                let entries = manifest::read(&manifest)?;
                let route = match (proxy, direct) {
                    (Some(proxy), _) => Route::Proxy(proxy),
                    (None, Some(origin)) => Route::Direct(origin),
                    (None, None) => anyhow::bail!("neither --proxy nor --direct"),
                };
                let plan = Plan {
                    route,
                    threads: threads.max(1),
                    requests,
                    within: seconds.map(Duration::from_secs),
                    timeout: Duration::from_secs(timeout.max(1)),
                };
                println!("{}", serde_json::to_string(&client::run(&entries, &plan)?)?);
                Ok(())
            }
        }
    }
}
