//! The messages of the agent protocol, as `PROTOCOL.md` has them.

use std::path::Path;

use browser::{Dialect, Look, Properties};
use serde::{Deserialize, Serialize, Serializer};

use crate::{Error, Reply};

/// Version of the protocol spoken here.
pub const VERSION: u64 = 1;

/// What is sent to the program.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Message<'a> {
    Hello {
        protocol: u64,
        sandbox: &'a str,
        dialect: Dialect,
        multiaction: bool,
    },
    Task {
        task: &'a str,
        goal: &'a str,
        start_url: Option<&'a str>,
        max_steps: u32,
    },
    Observation {
        step: u32,
        url: &'a str,
        title: &'a str,
        axtree: &'a str,
        #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "by_bid")]
        properties: &'a [(String, Properties)],
        last_action_error: Option<&'a str>,
        screenshot: Option<&'a Path>,
    },
    End {
        outcome: &'a str,
    },
}

impl Message<'_> {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Message::Hello { .. } => "hello",
            Message::Task { .. } => "task",
            Message::Observation { .. } => "observation",
            Message::End { .. } => "end",
        }
    }
}

#[derive(Deserialize)]
struct Hello {
    protocol: u64,
    name: Option<String>,
    #[serde(default)]
    observe: Look,
}

/// What a program has said of itself.
#[derive(Debug)]
pub(super) struct Greeting {
    pub(super) name: Option<String>,
    /// How it wants to see pages.
    pub(super) look: Look,
}

fn by_bid<S: Serializer>(properties: &[(String, Properties)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(properties.iter().map(|(bid, known)| (bid, known)))
}

#[derive(Deserialize)]
struct Answer {
    action: Option<String>,
    reason: Option<String>,
    #[serde(default)]
    stop: bool,
}

/// Reads the program's half of the handshake.
pub(super) fn read_hello(line: &[u8]) -> Result<Greeting, Error> {
    let hello: Hello = serde_json::from_slice(line).map_err(|why| garbage("hello", why.to_string(), line))?;
    if hello.protocol != VERSION {
        return Err(Error::Protocol { theirs: hello.protocol, ours: VERSION });
    }
    Ok(Greeting { name: hello.name, look: hello.observe })
}

/// Reads the answer to an observation.
pub(super) fn read_answer(line: &[u8]) -> Result<Reply, Error> {
    let answer: Answer =
        serde_json::from_slice(line).map_err(|why| garbage("observation", why.to_string(), line))?;
    match answer {
        Answer { action: Some(action), reason, stop: false } => Ok(Reply::Act { action, reason }),
        Answer { action: None, reason, stop: true } => Ok(Reply::Stop { reason }),
        Answer { action: Some(_), stop: true, .. } => {
            Err(garbage("observation", "it has both `action` and `stop`".to_owned(), line))
        }
        Answer { action: None, stop: false, .. } => {
            Err(garbage("observation", "it has neither `action` nor `stop`".to_owned(), line))
        }
    }
}

fn garbage(asked: &'static str, why: String, line: &[u8]) -> Error {
    let excerpt = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
    Error::Garbage { asked, why, excerpt }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_an_action_or_a_stop() {
        let act = read_answer(br#"{"action":"noop()","reason":"why not","extra":1}"#).unwrap();
        assert_eq!(act, Reply::Act { action: "noop()".to_owned(), reason: Some("why not".to_owned()) });
        assert_eq!(read_answer(br#"{"stop":true}"#).unwrap(), Reply::Stop { reason: None });
        for bad in ["", "null", "{}", "[]", r#"{"action":3}"#, r#"{"action":"noop()","stop":true}"#] {
            assert!(matches!(read_answer(bad.as_bytes()), Err(Error::Garbage { .. })), "{bad}");
        }
    }

    #[test]
    fn a_program_says_how_it_wants_to_see_pages() {
        let hello = br#"{"protocol":1,"observe":{"axtree":{"with_visible":true},"properties":true}}"#;
        let look = read_hello(hello).unwrap().look;
        assert!(look.properties && look.axtree.with_visible && look.axtree.skip_generic);
        let typo = read_hello(br#"{"protocol":1,"observe":{"axtree":{"with_visibel":true}}}"#).unwrap_err();
        assert!(typo.to_string().contains("with_visibel"), "{typo}");
    }

    #[test]
    fn another_protocol_is_refused_by_number() {
        assert_eq!(read_hello(br#"{"protocol":1,"name":"x"}"#).unwrap().name.as_deref(), Some("x"));
        let error = read_hello(br#"{"protocol":2}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "agree on a protocol with the agent program: it speaks version 2, this is version 1"
        );
    }

    #[test]
    fn messages_are_written_as_documented() {
        let hello =
            Message::Hello { protocol: 1, sandbox: "0.1.0", dialect: Dialect::WebArena, multiaction: false };
        assert_eq!(
            serde_json::to_string(&hello).unwrap(),
            r#"{"type":"hello","protocol":1,"sandbox":"0.1.0","dialect":"webarena","multiaction":false}"#
        );
        let message = Message::Observation {
            step: 1,
            url: "https://rail.test/",
            title: "Rail",
            axtree: "RootWebArea 'Rail'",
            properties: &[],
            last_action_error: None,
            screenshot: None,
        };
        assert_eq!(
            serde_json::to_string(&message).unwrap(),
            r#"{"type":"observation","step":1,"url":"https://rail.test/","title":"Rail","axtree":"RootWebArea 'Rail'","last_action_error":null,"screenshot":null}"#
        );
    }
}
