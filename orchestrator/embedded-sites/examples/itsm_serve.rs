//! Serves the desk on loopback, for trials by hand and by the package that tests it.
//!
//! ```text
//! cargo run -p embedded-sites --example itsm_serve -- PORT [FOLDER]
//! ```
//!
//! The administrator is `admin` with the password `admin`.
//!
//! Prints a line once it listens. Each line `reset` on its input restores the golden state, which
//! is answered by a line `reset`. It ends with its input.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;

use embedded_sites::{Clock, Golden, Options, itsm};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let port: u16 = arguments.next().ok_or("give a port")?.parse()?;
    let folder = arguments.next();
    let golden = Golden::open(std::env::temp_dir().join("itsm-golden"))?;
    let data = itsm::Data::open(folder.as_deref().map(Path::new))?;
    let passwords = BTreeMap::from([("admin".to_owned(), "admin".to_owned())]);
    let options = Options::new(Clock::new(jiff::Timestamp::now)).with_passwords(passwords.into());
    let instance = itsm::start(&golden, &options, &data)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let router = instance.router();
    let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", port)))?;
    let say = |text: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush())
    };
    say(&format!("http://{}", listener.local_addr()?))?;
    runtime.spawn(async move { axum::serve(listener, router).await });
    for line in std::io::stdin().lock().lines() {
        if line?.trim() == "reset" {
            instance.reset()?;
            say("reset")?;
        }
    }
    Ok(())
}
