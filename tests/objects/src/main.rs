//! Serves a folder as an object store and as web pages until it is killed. Prints the variables
//! that lead programs there.

use camino::Utf8PathBuf;
use clap::Parser;
use object_server::ObjectServer;

/// Serve a folder as an object store
#[derive(Parser)]
struct Options {
    /// The folder; its folders are buckets
    folder: Utf8PathBuf,
    /// Port of the S3 server
    #[arg(long, default_value_t = 0)]
    s3: u16,
    /// Port of the web server
    #[arg(long, default_value_t = 0)]
    web: u16,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let server = ObjectServer::start(&options.folder, [options.s3, options.web])?;
    for (name, value) in server.environment() {
        println!("export {name}={value}");
    }
    println!("export WEB={}", server.web());
    // What has been sent, whenever somebody asks by a line.
    for line in std::io::stdin().lines() {
        line?;
        let (responses, bytes) = server.sent();
        println!("{responses} {bytes}");
    }
    Ok(())
}
