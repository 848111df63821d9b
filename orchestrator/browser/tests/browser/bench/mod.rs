//! A page for actions, with a log of what happens to it.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use actions::Dialect;
use browser::{CHROMIUM_VARIABLE, Determinism, Launch, Pace, Programs, Session};
use in_flight::InFlight;

use crate::web::Web;

/// The log of a page, for its end. Its scripts write to it with `say`.
pub(crate) const LOG: &str = "<p>Heard:</p><pre id=log></pre><p>So far.</p>
<script>const say = text => { log.textContent += text + '\\n'; };</script>";

/// The upload folder.
pub(crate) const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/bench");

pub(crate) fn world() -> Determinism {
    Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 }
}

/// Runs all tests of a file again, in Chromium instead of its headless shell, and in a process of
/// its own, because the environment selects the browser. `left_out` contains the calling test.
pub(crate) fn again_in_chromium(file: &str, left_out: &[&str]) {
    let programs = Programs::find().unwrap();
    if env::var_os(CHROMIUM_VARIABLE).is_some() {
        return;
    }
    assert!(programs.headless_shell.is_some(), "`make setup` installs the headless shell");
    let run = Command::new(env::current_exe().unwrap())
        .env(CHROMIUM_VARIABLE, programs.chromium.as_deref().unwrap())
        .arg(format!("{file}::"))
        .args(left_out.iter().flat_map(|test| ["--skip", test]))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && !said.contains(" 0 passed"), "{said}");
}

pub(crate) struct Bench {
    pub(crate) web: Web,
    pub(crate) session: Session,
    pub(crate) dialect: Dialect,
    /// How many lines of the log were read.
    pub(crate) heard: usize,
}

impl Bench {
    /// Serves the pages and opens the first one.
    pub(crate) async fn open(dialect: Dialect, pages: &[(&str, &str)]) -> Bench {
        Bench::open_with(dialect, pages, FILES.as_ref()).await
    }

    /// The same, with another upload folder.
    pub(crate) async fn open_with(dialect: Dialect, pages: &[(&str, &str)], files: &Path) -> Bench {
        let web = Web::serve(pages).await;
        let launch = Launch {
            determinism: Some(world()),
            pace: Pace::steady(Duration::from_secs(5)),
            search: "http://search.test/?q={}&n=10".to_owned(),
            files: Some(files.into()),
            ..Launch::new(web.address, "")
        };
        let session = Session::start(&launch).await.unwrap();
        let mut bench = Bench { session, web, dialect: Dialect::BrowserGym, heard: 0 };
        bench.act(&format!("goto('http://{}')", pages[0].0)).await;
        bench.dialect = dialect;
        bench
    }

    /// Carries out an action, in which names in braces stand for bids, and waits until the page has
    /// settled.
    pub(crate) async fn act(&mut self, text: &str) {
        self.try_to(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
    }

    pub(crate) async fn try_to(&mut self, text: &str) -> Result<(), String> {
        let seen = self.session.observe().await.unwrap();
        let mut named = text.to_owned();
        for element in &seen.elements {
            named = named.replace(&format!("{{{}}}", element.name), &element.bid);
        }
        let action = self.dialect.read_one(&named).unwrap();
        let done = self.session.act(&action).await.map_err(|error| error.to_string());
        self.session.settle(&InFlight::default(), Duration::from_secs(20)).await.unwrap();
        done
    }

    /// The new lines of the page's log.
    pub(crate) async fn said(&mut self) -> Vec<String> {
        let text = self.session.page_text().await.unwrap();
        let log = text.lines().skip_while(|line| *line != "Heard:").skip(1);
        let said = log.take_while(|line| *line != "So far.").filter(|line| !line.is_empty());
        let new: Vec<String> = said.skip(self.heard).map(str::to_owned).collect();
        self.heard += new.len();
        new
    }

    pub(crate) async fn title(&mut self) -> String {
        self.session.observe().await.unwrap().title
    }
}
