//! The WebDriver side: chromedriver starts Chromium, tells the address of its DevTools socket, and
//! closes it again.

use std::{path::Path, time::Duration};

use fantoccini::{
    Client, ClientBuilder,
    wd::{Capabilities, WebDriverCompatibleCommand},
};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    Error, Launch,
    launch::{
        flags,
        process::DriverProcesses,
        programs::{Programs, check_display},
    },
};

const SESSION_START_TIMEOUT: Duration = Duration::from_secs(60);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);
const SESSION_END_TIMEOUT: Duration = Duration::from_secs(5);

/// A WebDriver session and the processes behind it.
#[derive(Debug)]
pub(crate) struct Driver {
    client: Option<Client>,
    processes: DriverProcesses,
    /// `host:port` of the DevTools socket.
    pub(crate) debugger: String,
    /// Chromium's version.
    pub(crate) version: String,
    /// The language with which it was started.
    pub(crate) locale: String,
    /// See [`crate::clock::screen`].
    pub(crate) begin_frame_control: bool,
}

impl Driver {
    /// Starts chromedriver and the browser.
    pub(crate) async fn start(launch: &Launch) -> Result<Self, Error> {
        let programs = Programs::find()?;
        let browser = programs.browser(launch)?;
        check_display(launch)?;
        let processes = DriverProcesses::start(&programs, launch).await?;
        let is_headless_shell =
            browser.file_name().is_some_and(|name| name.to_string_lossy().ends_with("headless-shell"));
        let begin_frame_control = is_headless_shell && launch.is_frozen();
        let mut args = flags::command_line(launch, begin_frame_control, flags::own_sandbox());
        args.push(format!("--user-data-dir={}", processes.profile().display()));
        let mut capabilities = Capabilities::new();
        let name = if is_headless_shell { "chrome-headless-shell" } else { "chrome" };
        capabilities.insert("browserName".to_owned(), json!(name));
        capabilities.insert("pageLoadStrategy".to_owned(), json!("none"));
        capabilities.insert("unhandledPromptBehavior".to_owned(), json!("ignore"));
        capabilities.insert(
            "goog:chromeOptions".to_owned(),
            json!({
                "binary": browser,
                "args": args,
                "prefs": flags::preferences(),
                "excludeSwitches": ["enable-logging"],
            }),
        );
        let url = format!("http://127.0.0.1:{}", processes.port);
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        let client = match timeout(SESSION_START_TIMEOUT, builder.connect(&url)).await {
            Ok(client) => client.map_err(|error| Error::Session { reason: error.to_string() })?,
            Err(_) => {
                let condition = "chromedriver to open a session".to_owned();
                return Err(Error::Deadline { condition, waited: SESSION_START_TIMEOUT });
            }
        };
        let granted = client.capabilities().cloned().unwrap_or_default();
        let debugger = granted
            .get("goog:chromeOptions")
            .and_then(|options| options.get("debuggerAddress"))
            .and_then(Value::as_str)
            .ok_or(Error::Shape { method: "new session", field: "goog:chromeOptions.debuggerAddress" })?
            .to_owned();
        let version =
            granted.get("browserVersion").and_then(Value::as_str).unwrap_or("an unknown version").to_owned();
        let locale = launch.device.locale.clone();
        Ok(Self { client: Some(client), processes, debugger, version, locale, begin_frame_control })
    }

    /// The folder of the processes.
    pub(crate) fn folder(&self) -> &Path {
        self.processes.folder()
    }

    /// Carries out a DevTools command in Chromium's first tab, which belongs to no episode.
    pub(crate) async fn execute_in_first_tab(
        &self,
        method: &'static str,
        params: Value,
    ) -> Result<(), Error> {
        let Some(client) = &self.client else { return Err(Error::Gone { waiting_for: method.to_owned() }) };
        match timeout(COMMAND_TIMEOUT, client.issue_cmd(DevTools { method, params })).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                Err(Error::Refused { method: method.to_owned(), code: 0, message: error.to_string() })
            }
            Err(_) => Err(Error::Deadline {
                condition: format!("chromedriver to answer `{method}`"),
                waited: COMMAND_TIMEOUT,
            }),
        }
    }

    /// Ends the session in order. A process that does not end in time is killed.
    pub(crate) async fn close(mut self) {
        if let Some(client) = self.client.take()
            && !matches!(timeout(SESSION_END_TIMEOUT, client.close()).await, Ok(Ok(())))
        {
            tracing::debug!("chromedriver did not end its session in order");
        }
        self.processes.end().await;
    }
}

/// chromedriver's own command for DevTools commands.
#[derive(Debug)]
struct DevTools {
    method: &'static str,
    params: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(json!({ "cmd": self.method, "params": self.params }).to_string()))
    }
}
