//! Chromium that opens pages from a folder, and what holds of each of them.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use crate::devtools::Tab;
use crate::harness::Bench;

/// A browser with a profile of its own; it ends with the test.
pub(crate) struct Browser {
    child: Child,
    address: String,
}

impl Browser {
    pub(crate) fn start(bench: &Bench) -> Result<Browser> {
        let programs = browser::Programs::find()?;
        let program = programs.headless_shell.or(programs.chromium).context("a browser")?;
        let mut child = Command::new(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--remote-debugging-port=0",
                "--window-size=1280,900",
            ])
            .arg(format!("--user-data-dir={}", bench.path("profile")))
            .arg("about:blank")
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
        let address = loop {
            let line = lines.next().context("the browser says where its DevTools are")??;
            if let Some(address) = line.strip_prefix("DevTools listening on ") {
                break address.to_owned();
            }
        };
        // What else it says is nobody's business, but a full pipe would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Browser { child, address })
    }

    /// A tab that tells what pages ask for and complain of.
    pub(crate) async fn tab(&self) -> Result<Tab> {
        let mut tab = Tab::connect(&self.address).await?;
        tab.open(json!({ "url": "about:blank" })).await?;
        for domain in ["Network", "Runtime", "Log", "Page"] {
            tab.call(&format!("{domain}.enable"), json!({})).await?;
        }
        Ok(tab)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Nothing was asked for but files, and nothing was complained of.
pub(crate) fn is_silent(tab: &Tab) -> Result<()> {
    asks_only(tab, &["file:", "data:"])
}

/// Nothing was asked for but what begins with one of these, and nothing was complained of.
pub(crate) fn asks_only(tab: &Tab, known: &[&str]) -> Result<()> {
    for event in &tab.events {
        let method = event["method"].as_str().unwrap_or_default();
        let complains = matches!(
            method,
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded"
        );
        ensure!(!complains, "{event:#}");
        if method == "Network.requestWillBeSent" {
            let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
            ensure!(known.iter().any(|known| url.starts_with(known)), "{url}");
        }
    }
    let request_count =
        tab.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent").count();
    ensure!(request_count > 0, "the page itself is a request");
    Ok(())
}

/// No element that is shown stands out of the window, at the width of a desk and of a phone.
pub(crate) async fn fits(tab: &mut Tab) -> Result<()> {
    let own = tab.evaluate("innerWidth").await?;
    for width in [1400, 390] {
        let device =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        tab.call("Emulation.setDeviceMetricsOverride", device).await?;
        // The window has its new size when the page knows of it.
        tab.until(&format!("innerWidth === {width}")).await?;
        let beyond = "[...document.querySelectorAll('body *')].filter(part => part.getBoundingClientRect().right > innerWidth + 1)
            .filter(part => !part.closest('.strip')).map(part => part.outerHTML.slice(0, 200))";
        ensure!(
            tab.evaluate(beyond).await? == json!([]),
            "beyond {width} pixels: {:#}",
            tab.evaluate(beyond).await?
        );
        let wide = tab.evaluate("document.documentElement.scrollWidth").await?;
        ensure!(wide.as_u64().is_some_and(|wide| wide <= width), "{wide} of {width} pixels");
    }
    tab.call("Emulation.clearDeviceMetricsOverride", json!({})).await?;
    // What is clicked next is where it will be.
    tab.until(&format!("innerWidth === {own}")).await
}

/// The page is dark where that is preferred, and light otherwise.
pub(crate) async fn follows_preference(tab: &mut Tab) -> Result<()> {
    for (scheme, dark) in [("dark", true), ("light", false)] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        tab.call("Emulation.setEmulatedMedia", json!({ "features": features })).await?;
        let paper = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0)";
        let paper = tab.evaluate(paper).await?.as_f64().context("a colour")?;
        ensure!((paper < 200.0) == dark, "{scheme}: {paper}");
    }
    Ok(())
}
