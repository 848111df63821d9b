//! Serves the script until it is killed: `fake-model [PORT]` prints its base URL.

use anyhow::{Context as _, Result};

fn main() -> Result<()> {
    let port = std::env::args().nth(1).map_or(Ok(0), |text| text.parse());
    let server = fake_model::Server::start_at(
        port.context("the argument is a port")?,
        fake_model::walker::script,
    )?;
    println!("{}", server.base_url());
    loop {
        std::thread::park();
    }
}
