//! The dialogs of pages, and how they are answered.
//!
//! While a dialog is open its page stands still and cannot be observed. So each is answered at
//! once, by the agent's policy. Without one, the answer is Playwright's default for dialogs without
//! a listener. The next observation shows the question and the answer. An agent that wants another
//! answer changes the policy and acts again.

use serde_json::{Value, json};

use crate::act::state::ActState;
use crate::{Dialog, Session};

/// The answer to dialogs from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DialogPolicy {
    pub(crate) accept: bool,
    /// The text for a `prompt`; its default if `None`.
    pub(crate) text: Option<String>,
}

impl Session {
    /// The dialogs since the last action began.
    pub(crate) fn dialogs(&self) -> Vec<Dialog> {
        let state = self.tracker.lock();
        let act = state.part::<ActState>();
        act.dialogs.iter().skip(act.dialogs_before_action).cloned().collect()
    }
}

/// The answer to the event of an opening dialog, and its record.
pub(crate) fn answer(event: &Value, policy: Option<&DialogPolicy>) -> (Value, Dialog) {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = text("type");
    let accepted = match policy {
        Some(policy) => policy.accept,
        // Declining changes least. An alert can only be accepted, and leaving a page is what the
        // agent wants.
        None => matches!(&*kind, "alert" | "beforeunload"),
    };
    let entered = (accepted && kind == "prompt").then(|| {
        policy.and_then(|policy| policy.text.clone()).unwrap_or_else(|| text("defaultPrompt"))
    });
    let mut params = json!({ "accept": accepted });
    if let Some(entered) = &entered {
        params["promptText"] = json!(entered);
    }
    (params, Dialog { kind, message: text("message"), accepted, entered })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_declined_unless_the_agent_says_otherwise() {
        let event =
            |kind: &str| json!({ "type": kind, "message": "Really?", "defaultPrompt": "old" });
        let answered = |kind: &str, policy: Option<DialogPolicy>| {
            let (params, dialog) = answer(&event(kind), policy.as_ref());
            assert_eq!(params["accept"], json!(dialog.accepted));
            assert_eq!(params.get("promptText").and_then(Value::as_str), dialog.entered.as_deref());
            (dialog.accepted, dialog.entered)
        };
        let policy = |accept, text: Option<&str>| {
            Some(DialogPolicy { accept, text: text.map(str::to_owned) })
        };
        assert_eq!(answered("alert", None), (true, None));
        assert_eq!(answered("beforeunload", None), (true, None));
        assert_eq!(answered("confirm", None), (false, None));
        assert_eq!(answered("prompt", None), (false, None));
        assert_eq!(answered("confirm", policy(true, Some("x"))), (true, None));
        assert_eq!(answered("prompt", policy(true, Some("new"))), (true, Some("new".to_owned())));
        assert_eq!(answered("prompt", policy(true, None)), (true, Some("old".to_owned())));
        assert_eq!(answered("beforeunload", policy(false, None)), (false, None));
    }
}
