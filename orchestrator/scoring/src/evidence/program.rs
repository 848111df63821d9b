//! Scoring by a program: a benchmark's own verifier, or one of the user's.
//!
//! Here is what a task says of it, and what its end means. Whoever holds the world runs it.
//!
//! The program decides by its last line of standard output, where that is a JSON object: `{"score":
//! 0.5, "reason": "..."}`, or `{"error": "..."}` where it could not tell. Otherwise it decides by
//! its exit code: 0 is a score of 1, any other is 0. A program that could not be started, took too
//! long or was killed has decided nothing ([`Undecided`]).

use std::fmt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// How long a program may take that says nothing else.
const USUAL: Duration = Duration::from_secs(60);
/// The placeholder for the address of the episode's first site.
const URL: &str = "{url}";

/// A program that says what an episode is worth. Written as its command alone,
/// `[python3, verify.py, "{url}"]`, or as `{command: [...], timeout: 90s}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramCheck {
    /// The program and its arguments, without a shell between.
    pub command: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
    /// The folder that it runs in: the suite's.
    pub folder: Utf8PathBuf,
}

/// The decision of a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// From 0 to 1.
    pub score: f64,
    /// Why, in the program's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a program has decided nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// It was not started, was killed from outside, or says itself that it could not tell. What an
    /// agent did has no part in that.
    #[error("{0}")]
    Unable(String),
    /// It did not end in time, crashed, or wrote what nobody can read: on what an agent left it.
    #[error("{0}")]
    BrokeDown(String),
}

impl Undecided {
    /// The same with something added to its text.
    pub fn map(self, add: impl FnOnce(String) -> String) -> Undecided {
        match self {
            Undecided::Unable(why) => Undecided::Unable(add(why)),
            Undecided::BrokeDown(why) => Undecided::BrokeDown(add(why)),
        }
    }
}

/// How a program has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramExit<'a> {
    /// Its exit code; nothing where a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output.
    pub stdout: &'a str,
    /// The last of what it wrote to standard error.
    pub stderr: &'a str,
}

impl ProgramCheck {
    /// A program that may take as long as is usual, in the present folder.
    pub fn new(command: Vec<String>) -> ProgramCheck {
        ProgramCheck { command, timeout: USUAL, folder: Utf8PathBuf::new() }
    }

    /// Whether it has to be told the address of a site.
    pub fn wants_url(&self) -> bool {
        self.command.iter().any(|word| word.contains(URL))
    }

    /// The command with the address in its place. A program that is named by a path is the one
    /// below the folder.
    pub fn words(&self, url: &str) -> Vec<String> {
        let mut words: Vec<String> =
            self.command.iter().map(|word| word.replace(URL, url)).collect();
        if let Some(program) = words.first_mut()
            && program.contains('/')
        {
            *program = self.folder.join(&*program).into_string();
        }
        words
    }

    /// The files of the folder that its command names, which decide with it.
    pub fn files(&self) -> impl Iterator<Item = Utf8PathBuf> + '_ {
        self.command.iter().map(|word| self.folder.join(word)).filter(|path| path.is_file())
    }

    /// Reads a decision from the way in which the program ended.
    ///
    /// # Errors
    /// It did not run, could not tell, or its last line is none of those that it may be.
    pub fn decide(&self, ended: &ProgramExit<'_>) -> Result<Decision, Undecided> {
        let last = ended
            .stdout
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or_default();
        let with_stderr = |why: String| match ended.stderr.trim() {
            "" => why,
            stderr => format!("{why}; its standard error ends: {stderr}"),
        };
        let Some(code) = ended.code else {
            return Err(by_signal(ended.signal).map(with_stderr));
        };
        if matches!(code, NOT_RUNNABLE | NOT_FOUND) {
            let why = format!("it ended with exit code {code}, as what cannot be started does");
            return Err(Undecided::Unable(with_stderr(why)));
        }
        if last.starts_with('{') {
            return read(last).map_err(|why| why.map(with_stderr));
        }
        let reason = [ended.stderr.trim(), last].into_iter().find(|text| !text.is_empty());
        let said = || match reason {
            Some(reason) => format!("exit code {code}: {reason}"),
            None => format!("exit code {code}"),
        };
        Ok(match code {
            0 => Decision { score: 1.0, reason: None },
            _ => Decision { score: 0.0, reason: Some(said()) },
        })
    }

    /// Has it run in this folder, and finds what its command names there.
    pub(crate) fn run_in(&mut self, folder: &Utf8Path) {
        // The program is started in it, so that a relative name would be looked for in it twice.
        self.folder = folder.canonicalize_utf8().unwrap_or_else(|_| folder.to_owned());
    }
}

/// The exit code of shells and others for a program that cannot be started.
const NOT_RUNNABLE: i32 = 126;
/// And where there is none.
const NOT_FOUND: i32 = 127;

/// The signals that somebody sends, such as the kernel where memory is short: SIGHUP, SIGINT,
/// SIGKILL and SIGTERM. By all others a program ends itself.
const FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];

/// Describes the end by a signal.
fn by_signal(signal: Option<i32>) -> Undecided {
    match signal {
        Some(signal) if !FROM_OUTSIDE.contains(&signal) => {
            Undecided::BrokeDown(format!("it crashed with signal {signal}"))
        }
        Some(signal) => Undecided::Unable(format!("it was killed by signal {signal}")),
        None => Undecided::Unable("it was killed by a signal".to_owned()),
    }
}

/// The last line of a program that decides by it.
fn read(line: &str) -> Result<Decision, Undecided> {
    #[derive(Deserialize)]
    struct ProgramOutput {
        score: Option<f64>,
        reason: Option<Value>,
        error: Option<String>,
    }
    let shortened: String = line.chars().take(200).collect();
    let wrong = |what: &str| Undecided::BrokeDown(format!("its last line {what}: {shortened}"));
    let said: ProgramOutput = serde_json::from_str(line)
        .map_err(|error| wrong(&format!("is no JSON object with a `score` ({error})")))?;
    if let Some(error) = said.error {
        return Err(Undecided::Unable(error));
    }
    let reason =
        said.reason.map(|reason| reason.as_str().map_or_else(|| reason.to_string(), str::to_owned));
    match said.score {
        Some(score) if (0.0..=1.0).contains(&score) => Ok(Decision { score, reason }),
        Some(_) => Err(wrong("has a `score` that is not between 0 and 1")),
        None => Err(wrong("has no `score`")),
    }
}

/// The long form.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ProgramSettings")]
struct Keys {
    /// The program and its arguments, without a shell between.
    #[serde(deserialize_with = "read_command")]
    command: Vec<String>,
    /// How long it may take, such as `90s`.
    #[serde(
        default = "usual",
        deserialize_with = "read_timeout",
        serialize_with = "write_timeout"
    )]
    #[schemars(with = "String")]
    timeout: Duration,
}

fn usual() -> Duration {
    USUAL
}

fn read_command<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let command = Vec::<String>::deserialize(input)?;
    match command.first().is_some_and(|program| !program.is_empty()) {
        true => Ok(command),
        false => Err(serde::de::Error::custom(
            "a command begins with a program, such as [python3, verify.py]",
        )),
    }
}

fn read_timeout<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    yaml::text(input, yaml::period)
}

fn write_timeout<S: Serializer>(timeout: &Duration, output: S) -> Result<S::Ok, S::Error> {
    match timeout.subsec_millis() {
        0 => output.collect_str(&format_args!("{}s", timeout.as_secs())),
        _ => output.collect_str(&format_args!("{}ms", timeout.as_millis())),
    }
}

impl Serialize for ProgramCheck {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        if self.timeout == USUAL {
            return self.command.serialize(output);
        }
        Keys { command: self.command.clone(), timeout: self.timeout }.serialize(output)
    }
}

impl<'de> Deserialize<'de> for ProgramCheck {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<ProgramCheck, D::Error> {
        input.deserialize_any(Either)
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = ProgramCheck;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a command, or `command` and `timeout`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, words: A) -> Result<ProgramCheck, A::Error> {
        Ok(ProgramCheck::new(read_command(SeqAccessDeserializer::new(words))?))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ProgramCheck, A::Error> {
        let Keys { command, timeout } = Keys::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ProgramCheck { timeout, ..ProgramCheck::new(command) })
    }
}

impl JsonSchema for ProgramCheck {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ProgramCheck".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let keys = generator.subschema_for::<Keys>();
        json_schema!({
            "description": "A program and its arguments, or `command` and `timeout`.",
            "anyOf": [{ "type": "array", "items": { "type": "string" }, "minItems": 1 }, keys]
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn decide(code: i32, stdout: &str, stderr: &str) -> Result<(f64, Option<String>), String> {
        let check = ProgramCheck::new(vec!["verify".to_owned()]);
        let ended = ProgramExit { code: Some(code), signal: None, stdout, stderr };
        let decided = check.decide(&ended).map(|decision| (decision.score, decision.reason));
        decided.map_err(|why| why.to_string())
    }

    #[test]
    fn the_last_line_decides_or_else_the_exit_code() {
        let half = Ok((0.5, Some("so so".to_owned())));
        assert_eq!(decide(0, "", ""), Ok((1.0, None)));
        assert_eq!(decide(0, "looks good\n", "a warning"), Ok((1.0, None)));
        assert_eq!(decide(1, "", "no star"), Ok((0.0, Some("exit code 1: no star".to_owned()))));
        assert_eq!(decide(3, "no star\n", ""), Ok((0.0, Some("exit code 3: no star".to_owned()))));
        assert_eq!(decide(0, "working\n{\"score\": 0.5, \"reason\": \"so so\"}\n\n", ""), half);
        assert_eq!(decide(1, "{\"score\": 0.5, \"reason\": \"so so\"}", ""), half);
        assert_eq!(decide(0, "{\"score\": 0}", ""), Ok((0.0, None)));
        assert_eq!(
            decide(0, "{\"score\": 0.2}\nthe end", ""),
            Ok((1.0, None)),
            "it is not the last line"
        );
    }

    #[test]
    fn what_decides_nothing_is_an_error_with_its_last_words() {
        for (code, stdout, why) in [
            (
                0,
                "{\"score\": 2}",
                "its last line has a `score` that is not between 0 and 1: {\"score\": 2}",
            ),
            (0, "{\"points\": 1}", "its last line has no `score`: {\"points\": 1}"),
            (0, "{score: 1}", "its last line is no JSON object with a `score` ("),
            (0, "{\"error\": \"no state\"}", "no state"),
            (127, "", "it ended with exit code 127, as what cannot be started does"),
        ] {
            let error = decide(code, stdout, "oh\n").unwrap_err();
            assert!(
                error.starts_with(why) && error.ends_with("; its standard error ends: oh"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_machine_at_fault_is_told_from_what_an_agent_left() {
        let check = ProgramCheck::new(vec!["verify".to_owned()]);
        let blames_agent = |code: Option<i32>, signal: Option<i32>, stdout: &str| {
            let why = check.decide(&ProgramExit { code, signal, stdout, stderr: "" }).unwrap_err();
            matches!(why, Undecided::BrokeDown(_))
        };
        for (code, signal, stdout) in [
            (Some(127), None, ""),
            (Some(126), None, ""),
            (Some(1), None, "{\"error\": \"no state\"}"),
            (None, Some(9), "{\"score\": 1}"),
            (None, Some(15), ""),
            (None, None, ""),
        ] {
            assert!(!blames_agent(code, signal, stdout), "{code:?} {signal:?} {stdout}");
        }
        for (code, signal, stdout) in
            [(None, Some(11), ""), (None, Some(6), ""), (Some(0), None, "{title")]
        {
            assert!(blames_agent(code, signal, stdout), "{code:?} {signal:?} {stdout}");
        }
    }

    #[test]
    fn commands_are_read_in_both_forms() {
        let read = |text: &str| {
            serde_yaml::from_str::<ProgramCheck>(text).map_err(|error| error.to_string())
        };
        let check = read("[python3, verify.py, '{url}']").unwrap();
        assert_eq!(check.words("https://a.test"), ["python3", "verify.py", "https://a.test"]);
        assert!(check.wants_url() && check.timeout == USUAL);
        let slow = read("{command: [./verify], timeout: 90s}").unwrap();
        assert!(!slow.wants_url() && slow.timeout == Duration::from_secs(90));
        for check in [check, slow] {
            let text = serde_yaml::to_string(&check).unwrap();
            assert_eq!(read(&text).unwrap(), check, "{text}");
        }
        let mut placed = read("[./verify]").unwrap();
        placed.run_in("/suite".into());
        assert_eq!(placed.words(""), ["/suite/./verify"]);
        assert!(read("[]").unwrap_err().contains("a command begins with a program"));
        assert!(
            read("{command: [a], timeout: 90}").unwrap_err().contains("`90` is not a duration")
        );
        assert!(read("{command: [a], wait: 90s}").unwrap_err().contains("unknown field `wait`"));
        assert!(read("verify.py").unwrap_err().contains("a command, or `command` and `timeout`"));
    }
}
