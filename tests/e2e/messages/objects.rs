//! Addresses of objects that cannot be read or written.

use std::fs;

use anyhow::Result;
use object_server::ObjectServer;

use super::Table;
use crate::harness::Bench;

#[test]
fn objects() -> Result<()> {
    let bench = Bench::new()?;
    fs::create_dir_all(bench.path("store/bucket"))?;
    let server = ObjectServer::start(&bench.path("store"), [0, 0])?;
    let mut table = Table::new("objects", &bench);
    table.variables.extend(server.environment());
    table.variables.push(("SANDBOX_CACHE", bench.path("cache").into_string()));
    table.check(&[
        ("a run at a web server", "sandbox run tasks/demo --agent=noop --output=https://b.test/x"),
        ("a merged run", "sandbox merge s3://bucket/none --output=s3://bucket/x"),
        (
            "a merged snapshot",
            "sandbox snapshot merge s3://bucket/a s3://bucket/b --output=s3://bucket/x",
        ),
        ("no snapshot", "sandbox replay s3://bucket/none.wacz"),
        ("no run", "sandbox compare s3://bucket/runs/one s3://bucket/runs/other"),
        ("a signed address", "sandbox snapshot inspect 'https://b.test/x.wacz?X-Amz-Signature=x'"),
        (
            "a snapshot at a web server",
            "sandbox snapshot push snapshots/demo.wacz https://b.test/x",
        ),
    ])
}
