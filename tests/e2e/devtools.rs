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
        loop {
            let said = self.evaluate(script).await;
            if matches!(said, Ok(Value::Bool(true))) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{script} does not come true: {said:?}");
        }
    }

    pub(crate) async fn goto(&mut self, url: &str) -> Result<()> {
        self.call("Page.navigate", json!({ "url": url })).await?;
        self.until(&format!("location.href === '{url}' && document.readyState === 'complete'"))
            .await
    }

    /// How many tabs show a URL with this part.
    pub(crate) async fn count_tabs(&mut self, part: &str) -> Result<usize> {
        let targets = self.call("Target.getTargets", json!({})).await?;
        let targets = targets["targetInfos"].as_array().context("targets")?;
        let shows = |target: &&Value| {
            target["type"] == "page" && target["url"].as_str().is_some_and(|url| url.contains(part))
        };
        Ok(targets.iter().filter(shows).count())
    }

    /// Speaks to a tab that is open already, as soon as one shows a URL with this part.
    pub(crate) async fn switch(&mut self, part: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        self.session = None;
        loop {
            let targets = self.call("Target.getTargets", json!({})).await?;
            let targets = targets["targetInfos"].as_array().context("targets")?;
            let shows = |target: &&Value| {
                target["type"] == "page"
                    && target["url"].as_str().is_some_and(|url| url.contains(part))
            };
            if let Some(target) = targets.iter().find(shows) {
                let attach = json!({ "targetId": target["targetId"], "flatten": true });
                let session = self.call("Target.attachToTarget", attach).await?;
                self.session = Some(session["sessionId"].as_str().context("a session")?.to_owned());
                return self.until("document.readyState === 'complete'").await;
            }
            ensure!(Instant::now() < deadline, "no tab shows {part}: {targets:#?}");
        }
    }

    /// Clicks the middle of the element that an expression gives, with the mouse.
    pub(crate) async fn click(&mut self, element: &str) -> Result<()> {
        self.click_with(element, "left", 0).await
    }

    /// Clicks with a button of the mouse, while keys are held: the protocol's bits of modifiers.
    /// The element is clicked once it has been in one place for a frame.
    pub(crate) async fn click_with(
        &mut self,
        element: &str,
        button: &str,
        modifiers: u32,
    ) -> Result<()> {
        // Until its styles are there an element may still move.
        self.until(&format!("document.readyState === 'complete' && !!({element})")).await?;
        let middle = format!(
            "(() => {{ const element = {element}; element.scrollIntoView({{ block: 'center' }});
                let {{ x, y, width, height }} = element.getBoundingClientRect();
                for (let view = element.ownerDocument.defaultView; view.frameElement; view = view.parent) {{
                    const frame = view.frameElement.getBoundingClientRect();
                    x += frame.x + view.frameElement.clientLeft;
                    y += frame.y + view.frameElement.clientTop;
                }}
                return [x + width / 2, y + height / 2]; }})()"
        );
        let frame = "new Promise(done => { requestAnimationFrame(done); setTimeout(done, 500); })";
        let deadline = Instant::now() + PATIENCE;
        let mut place = self.evaluate(&middle).await?;
        let middle = loop {
            self.evaluate(&format!("{frame}.then(() => 0)")).await?;
            let next = self.evaluate(&middle).await?;
            if next == place {
                break next;
            }
            ensure!(
                Instant::now() < deadline,
                "{element} does not come to rest: {place}, then {next}"
            );
            place = next;
        };
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let mut event =
                json!({ "type": kind, "x": middle[0], "y": middle[1], "modifiers": modifiers });
            if kind != "mouseMoved" {
                (event["button"], event["clickCount"]) = (json!(button), json!(1));
            }
            self.call("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// Types a text, key by key, where the cursor is.
    pub(crate) async fn type_text(&mut self, text: &str) -> Result<()> {
        for letter in text.chars() {
            self.press(&letter.to_string()).await?;
        }
        Ok(())
    }

    /// Presses and lets go of a key, by its name and the text that it gives, if it gives any.
    pub(crate) async fn press(&mut self, key: &str) -> Result<()> {
        let mut event = json!({ "type": "keyDown", "key": key });
        if key.chars().count() == 1 {
            event["text"] = json!(key);
        }
        let code = match key {
            "Tab" => Some(9),
            "Enter" => Some(13),
            "Escape" => Some(27),
            _ => None,
        };
        if let Some(code) = code {
            event["windowsVirtualKeyCode"] = json!(code);
        }
        if key == "Enter" {
            event["text"] = json!("\r");
        }
        self.call("Input.dispatchKeyEvent", event.clone()).await?;
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", event).await.map(drop)
    }
}
