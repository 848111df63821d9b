//! Serves a site for a look: `cargo run -p embedded-sites --example serve -- forum 9999`, then open
//! http://127.0.0.1:9999/. `desk` serves the desk with both sites.

use std::error::Error;

use embedded_sites::desk::{ListedAccount, ListedSite, SiteList};
use embedded_sites::{Clock, Golden, Options, desk, forum};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let site = arguments.next().unwrap_or_else(|| "forum".to_owned());
    let port: u16 = arguments.next().map_or(Ok(9999), |port| port.parse())?;
    let golden = Golden::open(std::env::temp_dir().join("sandbox-golden"))?;
    let options = Options::new(Clock::fixed("2023-06-15T09:00:00Z".parse()?));
    let copy = match site.as_str() {
        "forum" => forum::start(&golden, &options)?,
        "desk" => desk::start(&golden, &options, &town().into())?,
        other => return Err(format!("no site is called {other}: forum or desk").into()),
    };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/", listener.local_addr()?);
    Ok(axum::serve(listener, copy.router()).await?)
}

fn town() -> SiteList {
    let accounts = forum::ACCOUNTS.iter().map(|account| ListedAccount {
        username: account.username.to_owned(),
        password: account.password.to_owned(),
        role: account.role.to_owned(),
    });
    let forum = ListedSite {
        title: "Forum".to_owned(),
        url: "https://forum.test/".to_owned(),
        about: "Talk about books, space, films and thirty other things.".to_owned(),
        accounts: accounts.collect(),
    };
    let desk = ListedSite {
        title: "Desk".to_owned(),
        url: "https://desk.test/".to_owned(),
        about: "Calculator, notes, passwords, manuals.".to_owned(),
        accounts: Vec::new(),
    };
    SiteList { sites: vec![forum, desk] }
}
