//! A tab of Chromium, driven by the DevTools protocol and nothing else.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

/// How long the browser may take to answer, and a condition to come true.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a tab, or to the browser until a tab is opened.
pub(crate) struct Tab {
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    session: Option<String>,
    sent: u64,
    /// What the browser has told without being asked, in its order.
    pub(crate) events: Vec<Value>,
}

impl Tab {
    pub(crate) async fn connect(url: &str) -> Result<Tab> {
        let (socket, _) = tokio_tungstenite::connect_async(url).await?;
        Ok(Tab { socket, session: None, sent: 0, events: Vec::new() })
    }

    /// Opens a tab and speaks to that from now on.
    pub(crate) async fn open(&mut self, target: Value) -> Result<()> {
        let target = self.call("Target.createTarget", target).await?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", attach).await?;
        self.session = Some(session["sessionId"].as_str().context("a session")?.to_owned());
        Ok(())
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(message.to_string())).await?;
        let answer = async {
            while let Some(message) = self.socket.next().await {
                let message: Value = serde_json::from_str(message?.to_text()?)?;
                if message["id"] == self.sent {
                    ensure!(message["error"].is_null(), "{method}: {message}");
                    return Ok(message["result"].clone());
                }
                self.events.push(message);
            }
            anyhow::bail!("{method}: the browser has gone")
        };
        tokio::time::timeout(PATIENCE, answer).await?
    }

    pub(crate) async fn evaluate(&mut self, script: &str) -> Result<Value> {
        let params = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", params).await?;
        ensure!(answer["exceptionDetails"].is_null(), "{script}: {answer}");
        Ok(answer["result"]["value"].clone())
    }

    /// Asks again and again until a script says true. On its way to another page a tab may refuse
    /// to answer.
    pub(crate) async fn until(&mut self, script: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !matches!(self.evaluate(script).await, Ok(Value::Bool(true))) {
            ensure!(Instant::now() < deadline, "{script} does not come true");
        }
        Ok(())
    }

    pub(crate) async fn goto(&mut self, url: &str) -> Result<()> {
        self.call("Page.navigate", json!({ "url": url })).await?;
        self.until(&format!("location.href === '{url}' && document.readyState === 'complete'")).await
    }

    /// Presses and lets go of a key, by its name and the text that it gives, if it gives any.
    pub(crate) async fn press(&mut self, key: &str) -> Result<()> {
        let mut event = json!({ "type": "keyDown", "key": key });
        if key.chars().count() == 1 {
            event["text"] = json!(key);
        }
        if key == "Escape" {
            event["windowsVirtualKeyCode"] = json!(27);
        }
        self.call("Input.dispatchKeyEvent", event.clone()).await?;
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", event).await.map(drop)
    }
}
