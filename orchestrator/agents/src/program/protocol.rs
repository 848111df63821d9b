//! The messages of the agent protocol. `PROTOCOL.md` describes them.

use std::path::Path;

use actions::Dialect;
use observation::{Dialog, Download, Field, Html, ObservationOptions, Properties, Tab};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::{ActionFormat, Error, GoalImage, Reply, Utterance, View};

/// The version of the protocol.
pub const VERSION: u64 = 1;

/// A message to the agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Message<'a> {
    /// The first message. The agent answers with its own hello.
    Hello {
        /// The version of the protocol.
        protocol: u64,
        /// The version of `sandbox`.
        sandbox: &'a str,
        /// The dialect of the agent's actions.
        dialect: Dialect,
        /// Whether an answer may contain several actions.
        multiaction: bool,
    },
    /// The task. Needs no answer.
    Task {
        /// Id of the task.
        task: &'a str,
        /// The goal as text.
        goal: &'a str,
        /// Images that belong to the goal.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        images: &'a [GoalImage],
        /// The page where the episode starts, if the task names one.
        start_url: Option<&'a str>,
        /// Maximum number of actions.
        max_steps: u32,
    },
    /// An observation. The agent answers with an action or the end.
    Observation(Box<ObservationMessage<'a>>),
    /// The episode is over. Needs no answer.
    End {
        /// The outcome in one word.
        outcome: &'a str,
    },
}

/// An observation as it is sent: fields for every agent, and the formats that this one chose.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Observation")]
pub(super) struct ObservationMessage<'a> {
    /// The number of the next action, from 1.
    step: u32,
    /// The page's URL.
    url: &'a str,
    /// The page's title.
    title: &'a str,
    /// All open tabs.
    tabs: &'a [Tab],
    /// The index of the active tab, from 0.
    active_tab: usize,
    /// The id of the focused element.
    focused: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axtree: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "by_bid")]
    #[schemars(with = "std::collections::BTreeMap<String, Properties>")]
    properties: &'a [(String, Properties)],
    #[serde(skip_serializing_if = "Option::is_none")]
    webarena: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visualwebarena: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webcanvas: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turkingbench: Option<&'a [Field]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<&'a [Html]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pruned_html: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dom: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axtree_object: Option<&'a Value>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    /// Dialogs that opened since the previous action.
    dialogs: &'a [Dialog],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    /// Files downloaded since the previous action.
    downloads: &'a [Download],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    /// Texts that have appeared since the previous action and are gone again.
    notices: &'a [String],
    /// The conversation so far.
    chat: &'a [Utterance],
    /// The previous action in BrowserGym's spelling.
    last_action: Option<&'a str>,
    /// Why the previous action failed.
    last_action_error: Option<&'a str>,
    /// The age of the episode in milliseconds, by the page's own clock.
    elapsed_ms: u64,
    /// The path of a PNG screenshot.
    screenshot: Option<&'a Path>,
}

impl<'a> ObservationMessage<'a> {
    /// The message for an agent that chose the formats in `options`.
    pub(super) fn new(view: View<'a>, options: &ObservationOptions) -> Self {
        let seen = view.observation;
        Self {
            step: view.step,
            url: &seen.url,
            title: &seen.title,
            tabs: &seen.tabs,
            active_tab: seen.active_tab,
            focused: seen.focused.as_deref(),
            axtree: options.axtree.as_ref().map(|_| &*seen.axtree),
            properties: &seen.properties,
            webarena: seen.webarena.as_deref(),
            visualwebarena: seen.visualwebarena.as_deref(),
            webcanvas: seen.webcanvas.as_deref(),
            turkingbench: seen.turkingbench.as_deref(),
            html: seen.html.as_deref(),
            pruned_html: seen.pruned_html.as_deref(),
            dom: seen.dom.as_ref(),
            axtree_object: seen.axtree_object.as_ref(),
            dialogs: &seen.dialogs,
            downloads: &seen.downloads,
            notices: &seen.notices,
            chat: view.chat,
            last_action: seen.last_action.as_deref(),
            last_action_error: view.last_action_error,
            elapsed_ms: seen.elapsed_ms,
            screenshot: view.screenshot,
        }
    }
}

impl Message<'_> {
    /// The type of the first message.
    pub(super) const HELLO: &'static str = "hello";

    pub(super) fn name(&self) -> &'static str {
        match self {
            Message::Hello { .. } => Self::HELLO,
            Message::Task { .. } => "task",
            Message::Observation(_) => "observation",
            Message::End { .. } => "end",
        }
    }
}

/// The agent's hello.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Hello {
    /// The version of the protocol.
    protocol: u64,
    /// The agent's name, shown in results.
    name: Option<String>,
    /// The observation formats that it wants.
    #[serde(default)]
    observe: ObservationOptions,
}

/// The content of an agent's hello.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) name: Option<String>,
    /// The observation formats that it wants.
    pub(super) options: ObservationOptions,
}

fn by_bid<S: Serializer>(
    properties: &[(String, Properties)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(properties.iter().map(|(bid, known)| (bid, known)))
}

/// The answer to an observation: either `action`, or `stop` as true.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Answer {
    /// An action in the chosen dialect.
    action: Option<String>,
    /// The reason, shown in the report.
    reason: Option<String>,
    /// Whether to end the episode without an answer.
    #[serde(default)]
    stop: bool,
}

/// Parses the agent's hello.
pub(super) fn read_hello(who: &str, line: &[u8]) -> Result<Greeting, Error> {
    let garbage = |why: serde_json::Error| garbage(who, "hello", why.to_string(), line);
    let hello: Hello = serde_json::from_slice(line).map_err(garbage)?;
    if hello.protocol != VERSION {
        return Err(Error::Protocol { who: who.to_owned(), theirs: hello.protocol, ours: VERSION });
    }
    Ok(Greeting { name: hello.name, options: hello.observe })
}

/// Parses the answer to an observation, with its actions.
pub(super) fn read_answer(who: &str, line: &[u8], format: ActionFormat) -> Result<Reply, Error> {
    let garbage = |why: &str| garbage(who, "observation", why.to_owned(), line);
    let answer: Answer = serde_json::from_slice(line).map_err(|why| garbage(&why.to_string()))?;
    match answer {
        Answer { action: Some(action), reason, stop: false } => {
            Ok(format.read_reply(action, reason))
        }
        Answer { action: None, reason, stop: true } => Ok(Reply::Stop { reason }),
        Answer { action: Some(_), stop: true, .. } => {
            Err(garbage("it has both `action` and `stop`"))
        }
        Answer { action: None, stop: false, .. } => {
            Err(garbage("it has neither `action` nor `stop`"))
        }
    }
}

fn garbage(who: &str, message_type: &'static str, why: String, line: &[u8]) -> Error {
    let excerpt = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
    Error::Garbage { message_type, who: who.to_owned(), why, excerpt }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use actions::Action;
    use observation::{Marks, Observation, ScreenshotOptions, WebArena};

    use super::*;

    const WHO: &str = "the agent program";

    #[test]
    fn answers_are_an_action_or_a_stop() {
        let read = |line: &[u8]| read_answer(WHO, line, ActionFormat::default());
        let act = read(br#"{"action":"noop()","reason":"why not","extra":1}"#).unwrap();
        assert_eq!(act, Reply::act(Action::Noop, Some("why not".to_owned())));
        assert_eq!(read(br#"{"stop":true}"#).unwrap(), Reply::Stop { reason: None });
        let unread = read(br#"{"action":"noop"}"#).unwrap();
        assert!(
            matches!(&unread, Reply::Act { actions: Err(_), text, .. } if text == "noop"),
            "{unread:?}"
        );
        for bad in ["", "null", "{}", "[]", r#"{"action":3}"#, r#"{"action":"noop()","stop":true}"#]
        {
            assert!(matches!(read(bad.as_bytes()), Err(Error::Garbage { .. })), "{bad}");
        }
    }

    #[test]
    fn a_program_says_how_it_wants_to_see_pages() {
        let hello =
            br#"{"protocol":1,"observe":{"axtree":{"with_visible":true},"properties":true}}"#;
        let options = read_hello(WHO, hello).unwrap().options;
        let axtree = options.axtree.clone().unwrap();
        assert!(options.properties && axtree.with_visible && axtree.skip_generic);
        assert_eq!((options.webarena, options.html), (None, false));
        let hello = br#"{"protocol":1,"observe":{"axtree":null,"webarena":{"max_tokens":3840},"visualwebarena":true,"webcanvas":true,
            "turkingbench":true,"html":true,"pruned_html":{"with_visible":true},"dom":true,
            "screenshot":{"full_page":true,"marks":"browsergym"}}}"#;
        let options = read_hello(WHO, hello).unwrap().options;
        assert_eq!(options.axtree, None);
        assert_eq!(
            options.webarena,
            Some(WebArena { viewport_only: false, frames: false, max_tokens: Some(3840) })
        );
        assert!(
            options.webcanvas
                && options.turkingbench
                && options.html
                && options.dom
                && options.visualwebarena
        );
        assert!(options.pruned_html.unwrap().with_visible);
        assert_eq!(
            options.screenshot,
            ScreenshotOptions { full_page: true, marks: Some(Marks::BrowserGym) }
        );
        let typo = read_hello(WHO, br#"{"protocol":1,"observe":{"axtree":{"with_visibel":true}}}"#)
            .unwrap_err();
        assert!(typo.to_string().contains("with_visibel"), "{typo}");
    }

    #[test]
    fn another_protocol_is_answered_by_number() {
        assert_eq!(
            read_hello(WHO, br#"{"protocol":1,"name":"x"}"#).unwrap().name.as_deref(),
            Some("x")
        );
        let error = read_hello(WHO, br#"{"protocol":2}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "agree on a protocol with the agent program: it speaks version 2, this is version 1"
        );
    }

    #[test]
    fn messages_are_written_as_documented() {
        let hello = Message::Hello {
            protocol: 1,
            sandbox: "0.1.0",
            dialect: Dialect::WebArena,
            multiaction: false,
        };
        assert_eq!(
            serde_json::to_string(&hello).unwrap(),
            r#"{"type":"hello","protocol":1,"sandbox":"0.1.0","dialect":"webarena","multiaction":false}"#
        );
        let mut page = Observation {
            url: "https://rail.test/".to_owned(),
            title: "Rail".to_owned(),
            axtree: "RootWebArea 'Rail'".to_owned(),
            tabs: vec![Tab { url: "https://rail.test/".to_owned(), title: "Rail".to_owned() }],
            elapsed_ms: 5000,
            ..Observation::default()
        };
        let written = |page: &Observation, options: &ObservationOptions| {
            let view = View {
                step: 1,
                observation: page,
                chat: &[],
                last_action_error: None,
                screenshot: None,
            };
            serde_json::to_string(&Message::Observation(Box::new(ObservationMessage::new(
                view, options,
            ))))
            .unwrap()
        };
        assert_eq!(
            written(&page, &ObservationOptions::default()),
            r#"{"type":"observation","step":1,"url":"https://rail.test/","title":"Rail","tabs":[{"url":"https://rail.test/","title":"Rail"}],"active_tab":0,"focused":null,"axtree":"RootWebArea 'Rail'","chat":[],"last_action":null,"last_action_error":null,"elapsed_ms":5000,"screenshot":null}"#
        );
        page.webarena = Some("Tab 0 (current): Rail".to_owned());
        page.turkingbench =
            Some(vec![Field { name: "q".to_owned(), kind: "text".to_owned(), html: None }]);
        page.html = Some(vec![Html {
            frame: String::new(),
            url: page.url.clone(),
            html: "<p>".to_owned(),
        }]);
        assert_eq!(
            written(&page, &ObservationOptions { axtree: None, ..ObservationOptions::default() }),
            r#"{"type":"observation","step":1,"url":"https://rail.test/","title":"Rail","tabs":[{"url":"https://rail.test/","title":"Rail"}],"active_tab":0,"focused":null,"webarena":"Tab 0 (current): Rail","turkingbench":[{"name":"q","kind":"text","html":null}],"html":[{"frame":"","url":"https://rail.test/","html":"<p>"}],"chat":[],"last_action":null,"last_action_error":null,"elapsed_ms":5000,"screenshot":null}"#
        );
    }
}
