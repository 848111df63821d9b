//! Serves the demo web on loopback until interrupted or terminated.

use std::fs;
use std::net::SocketAddr;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser;
use origin::data::Variant;
use origin::{Options, Origin, errands};
use tokio::signal::unix::{SignalKind, signal};

/// Serve the demo web: three sites and their supporting hosts, on plain HTTP and on TLS.
///
/// Prints one line per listener once both answer, then the path of the certificate to trust.
#[derive(Debug, Parser)]
struct Arguments {
    /// Address for plain HTTP; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Address for TLS (HTTP/1.1 and HTTP/2); port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    tls_listen: SocketAddr,
    /// Folder for the certificate of the throw-away authority; a temporary one by default.
    #[arg(long, value_name = "DIR")]
    ca_dir: Option<Utf8PathBuf>,
    /// Write tasks on the shops into this folder, in the files of two benchmarks, and their
    /// solutions into files of the tasks' names; then end.
    #[arg(long, value_name = "DIR")]
    write_tasks: Option<Utf8PathBuf>,
    /// How many tasks of each benchmark.
    #[arg(long, value_name = "N", default_value_t = 40)]
    count: usize,
    /// Serve the hosts of this recording (WACZ, WARC or ARC) too; can be repeated.
    #[arg(long = "capture", value_name = "FILE")]
    captures: Vec<Utf8PathBuf>,
    /// Which content to serve; `changed` differs on every page.
    #[arg(long, value_enum, default_value_t = Content::Original)]
    variant: Content,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Content {
    Original,
    Changed,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.write_tasks {
        return write_tasks(folder, arguments.count);
    }
    let variant = match arguments.variant {
        Content::Original => Variant::Original,
        Content::Changed => Variant::Changed,
    };
    let options = Options {
        listen: arguments.listen,
        tls_listen: arguments.tls_listen,
        ca_dir: arguments.ca_dir,
        variant,
        captures: arguments.captures,
    };
    let origin = Origin::start(&options).await.context("failed to start the demo web")?;
    println!("http {}", origin.plain_addr());
    println!("https {}", origin.tls_addr());
    println!("ca {}", origin.certificate_path());
    let mut terminated = signal(SignalKind::terminate()).context("failed to wait for a signal")?;
    tokio::select! {
        _ = terminated.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted.context("failed to wait for a signal")?,
    }
    origin.stop().await;
    Ok(())
}

fn write_tasks(folder: &Utf8Path, count: usize) -> anyhow::Result<()> {
    let (assistantbench, live) = (errands::assistantbench(count), errands::mind2web_live(count));
    fs::create_dir_all(folder.join("solutions"))?;
    let lines: String = assistantbench.iter().map(|errand| format!("{}\n", errand.entry)).collect();
    fs::write(folder.join("assistantbench.jsonl"), lines)?;
    let list: Vec<_> = live.iter().map(|errand| &errand.entry).collect();
    fs::write(folder.join("mind2web-live.json"), serde_json::to_vec_pretty(&list)?)?;
    for errand in assistantbench.iter().chain(&live) {
        fs::write(folder.join("solutions").join(format!("{}.yaml", errand.id)), &errand.solution)?;
    }
    Ok(())
}
