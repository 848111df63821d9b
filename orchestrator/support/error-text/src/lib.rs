//! The text of an error with its causes, as every message to a person shows it.
//!
//! Many errors repeat the text of their cause, others leave it out. Both read the same here: each
//! cause is named once, from the outermost to the first.

use std::error::Error;
use std::iter::successors;

/// An error with its causes, joined by `: `. A cause that the text before it already names is left
/// out.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    for cause in causes(error).skip(1).map(ToString::to_string) {
        if text.contains(&cause) {
            continue;
        }
        text = match cause.strip_prefix(&text) {
            // The cause repeats the error's text and adds to it.
            Some(_) => cause,
            None => format!("{text}: {cause}"),
        };
    }
    text
}

/// The first cause of an error: "Connection refused" rather than "client error".
pub fn root_cause(error: &dyn Error) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}

/// The first line of a text, and of several the last one too. The last line of a program that dies
/// usually says why.
pub fn in_one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match (lines.next_back(), lines.next()) {
        (None, _) => first.to_owned(),
        (Some(last), None) => format!("{first} {last}"),
        (Some(last), Some(_)) => format!("{first} … {last}"),
    }
}

fn causes<'a>(error: &'a (dyn Error + 'a)) -> impl Iterator<Item = &'a (dyn Error + 'a)> {
    successors(Some(error), |&error| error.source())
}

#[cfg(test)]
mod tests {
    use std::fmt::{self, Display, Formatter};

    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl Display for Layer {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|layer| layer as &dyn Error)
        }
    }

    /// An error of these texts, the outermost first.
    fn error(texts: &[&'static str]) -> Layer {
        let (first, rest) = texts.split_first().expect("at least one text");
        Layer(first, (!rest.is_empty()).then(|| Box::new(error(rest))))
    }

    #[test]
    fn each_cause_is_named_once() {
        for (texts, expected) in [
            (&["load"][..], "load"),
            (&["load", "open x", "no such file"], "load: open x: no such file"),
            (&["load", "open x: no such file", "no such file"], "load: open x: no such file"),
            (
                &[
                    "open the snapshots",
                    "open the snapshots: open x: no such file",
                    "open x: no such file",
                ],
                "open the snapshots: open x: no such file",
            ),
            (&["a: c", "b", "c"], "a: c: b"),
        ] {
            assert_eq!(with_causes(&error(texts)), expected);
        }
    }

    #[test]
    fn the_root_cause_is_the_innermost() {
        assert_eq!(root_cause(&error(&["client error", "connect", "refused"])), "refused");
        assert_eq!(root_cause(&error(&["refused"])), "refused");
    }

    #[test]
    fn the_first_line_and_the_last_are_left() {
        for (text, expected) in [
            ("", ""),
            ("one\n", "one"),
            ("it ended:\n  two\n\n", "it ended: two"),
            ("it ended:\nTraceback\n  File\nValueError: x\n", "it ended: … ValueError: x"),
        ] {
            assert_eq!(in_one_line(text), expected);
        }
    }
}
