//! The session of chromedriver, and who has it.
//!
//! ```text
//! open, free -> a client's -> ended -> the next client's, opened anew
//! ```
//!
//! One session is open from the start, so that a chromedriver that cannot use the browser is known
//! before a client comes. One client has it at a time.

use std::sync::Arc;
use std::time::Duration;

use ::http::{Method, StatusCode};
use fantoccini::error::{CmdError, ErrorStatus, WebDriver};
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use processes::own_network::SERVER;
use processes::own_network::server::Dialer;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;
use url::{ParseError, Url};

use super::capabilities;
use super::connector::Connector;
use crate::Error;
use crate::launch::chromedriver::PORT;

/// How long chromedriver may take to start, and to attach to the browser.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// How long chromedriver may take to end a session. It finishes its last command before that.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The only session that there is.
#[derive(Debug)]
pub(super) struct Sessions {
    dialer: Arc<Dialer>,
    /// The browser's version.
    version: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: Option<Open>,
    /// A client has it.
    is_taken: bool,
}

#[derive(Debug)]
struct Open {
    client: Client,
    id: String,
    capabilities: Value,
    /// The behaviour of commands that the client has requested.
    behaviour: Map<String, Value>,
}

/// A client's command, as it is passed on.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) method: Method,
    /// The rest of the path, behind the session.
    pub(super) path: String,
    /// A JSON object, if the command has parameters.
    pub(super) body: Option<Value>,
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("/session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (self.method.clone(), self.body.as_ref().map(Value::to_string))
    }
}

impl Sessions {
    /// Opens the first session.
    pub(super) async fn open(dialer: Arc<Dialer>, version: String) -> Result<Self, Error> {
        let open = open(&dialer, Map::new()).await.map_err(|reason| Error::WebDriver { reason })?;
        let state = State { open: Some(open), is_taken: false };
        Ok(Sessions { dialer, version, state: Mutex::new(state) })
    }

    /// Whether a client may come.
    pub(super) async fn is_free(&self) -> bool {
        !self.state.lock().await.is_taken
    }

    /// Gives the session to a client, and tells what a client is told of it.
    pub(super) async fn take(&self, wishes: &Value) -> Result<Value, WebDriver> {
        let refused = |why: String| WebDriver::new(ErrorStatus::SessionNotCreated, why);
        let behaviour = capabilities::wanted(wishes, &self.version).map_err(refused)?;
        let mut state = self.state.lock().await;
        if state.is_taken {
            let id = state.open.as_ref().map_or_else(String::new, |open| open.id.clone());
            return Err(refused(format!(
                "another client has the session; it is free once that client has ended it (DELETE session/{id})"
            )));
        }
        if let Some(other) = state.open.take_if(|open| open.behaviour != behaviour) {
            close(other).await;
        }
        let open = match state.open.take() {
            Some(open) => open,
            None => open(&self.dialer, behaviour).await.map_err(refused)?,
        };
        let told = json!({ "sessionId": open.id, "capabilities": open.capabilities });
        *state = State { open: Some(open), is_taken: true };
        Ok(told)
    }

    /// Ends a client's part. The pages stay.
    pub(super) async fn end(&self, session: &str) -> Result<Value, WebDriver> {
        let mut state = self.state.lock().await;
        let open = state.open.take_if(|open| open.id == session).ok_or_else(|| unknown(session))?;
        state.is_taken = false;
        close(open).await;
        Ok(Value::Null)
    }

    /// Carries out a client's command.
    pub(super) async fn carry_out(
        &self,
        session: &str,
        command: Command,
    ) -> Result<Value, WebDriver> {
        let client = {
            let state = self.state.lock().await;
            let open = state.open.as_ref().filter(|open| state.is_taken && open.id == session);
            open.ok_or_else(|| unknown(session))?.client.clone()
        };
        let closes = command.method == Method::DELETE && command.path == "window";
        let result = client.issue_cmd(command).await.map_err(error);
        let is_over = match &result {
            // The session ends with its last window.
            Ok(windows) => closes && windows.as_array().is_some_and(Vec::is_empty),
            Err(error) => error.error == ErrorStatus::InvalidSessionId,
        };
        if is_over {
            // Another request may have noticed it, too.
            let _ = self.end(session).await;
        }
        result
    }

    /// Ends the session, whoever has it.
    pub(super) async fn close(&self) {
        let state = std::mem::take(&mut *self.state.lock().await);
        if let Some(open) = state.open {
            close(open).await;
        }
    }
}

fn unknown(session: &str) -> WebDriver {
    WebDriver::new(
        ErrorStatus::InvalidSessionId,
        format!("no session of this client has the id {session}"),
    )
}

async fn open(dialer: &Arc<Dialer>, behaviour: Map<String, Value>) -> Result<Open, String> {
    let mut wishes = behaviour.clone();
    let browser = json!({ "debuggerAddress": SERVER.to_string() });
    wishes.insert("goog:chromeOptions".to_owned(), browser);
    let mut builder = ClientBuilder::new(Connector(Arc::clone(dialer)));
    builder.capabilities(wishes);
    let address = format!("http://127.0.0.1:{PORT}/");
    let connecting = timeout(OPEN_TIMEOUT, builder.connect(&address)).await;
    let client = connecting
        .map_err(|_| format!("chromedriver has opened no session within {OPEN_TIMEOUT:?}"))?
        .map_err(|error| {
            format!("chromedriver opens no session: {}", error_text::with_causes(&error))
        })?;
    let id = client.session_id().await.map_err(|error| error.to_string())?;
    let id = id.ok_or("chromedriver has opened a session without an id")?;
    let mut capabilities = client.capabilities().cloned().map_or_else(|| json!({}), Value::from);
    // An address that only chromedriver reaches.
    if let Some(fields) = capabilities.as_object_mut() {
        fields.remove("goog:chromeOptions");
    }
    Ok(Open { client, id, capabilities, behaviour })
}

async fn close(open: Open) {
    match timeout(CLOSE_TIMEOUT, open.client.close()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "chromedriver did not end its session in order"),
        Err(_) => tracing::debug!("chromedriver did not end its session in time"),
    }
}

/// An error of chromedriver's as it is; what fails on the way to it as an unknown error.
fn error(error: CmdError) -> WebDriver {
    match error {
        CmdError::Standard(error) => error,
        other => {
            let why = format!("chromedriver does not answer: {}", error_text::with_causes(&other));
            WebDriver::new(ErrorStatus::UnknownError, why)
        }
    }
}

/// The status of an answer with an error.
pub(super) fn status(error: &WebDriver) -> StatusCode {
    error.http_status()
}
