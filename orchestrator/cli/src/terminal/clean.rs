//! Text of others on a terminal: goals, titles, commands, paths, errors, lines of programs.
//!
//! A terminal obeys control characters: they hide text, write the clipboard, or turn the order of
//! letters round. Everything that commands print passes [`text`], because the printing functions of
//! `out` and `progress` do. What is not shown as it is becomes `\u{1b}`, so that nothing is hidden.

use std::borrow::Cow;

/// A text in which only line feeds and tabs are left of what a terminal obeys.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |letter| letter != '\n' && letter != '\t' && is_control(letter),
        |letter| letter.escape_unicode().to_string(),
    )
}

/// A text on one line.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_control, |letter| match letter {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        letter => letter.escape_unicode().to_string(),
    })
}

/// A JSON text, or lines of it: the same characters as escapes of JSON, so that it says the same.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    escaped(
        text,
        |letter| letter != '\n' && letter != '\t' && is_control(letter),
        |letter| {
            let mut units = [0; 2];
            letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        },
    )
}

/// A line of the log, which has colours of its own. No other sequence passes, and none that hides.
pub(crate) fn log(line: &str) -> String {
    let mut done = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        done.push_str(&text(before));
        match STYLES.iter().find(|style| after.starts_with(**style)) {
            Some(style) => {
                done.push('\u{1b}');
                done.push_str(style);
                rest = &after[style.len()..];
            }
            None => {
                done.push_str(&text("\u{1b}"));
                rest = after;
            }
        }
    }
    done.push_str(&text(rest));
    done
}

/// The styles of log lines: reset, bold, dim, italic and the colours of levels.
const STYLES: [&str; 9] = ["[0m", "[1m", "[2m", "[3m", "[31m", "[32m", "[33m", "[34m", "[35m"];

/// The lines of a program, which may have colours, without them.
pub(crate) fn without_colors(line: &str) -> String {
    anstream::adapter::strip_str(line).to_string()
}

fn escaped(
    text: &str,
    is_bad: impl Fn(char) -> bool,
    escape: impl Fn(char) -> String,
) -> Cow<'_, str> {
    if !text.contains(&is_bad) {
        return Cow::Borrowed(text);
    }
    let mut done = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_bad(letter) { done.push_str(&escape(letter)) } else { done.push(letter) }
    }
    Cow::Owned(done)
}

/// Whether a terminal obeys a character, or shows nothing of it.
fn is_control(letter: char) -> bool {
    match letter {
        // C0, DEL and C1.
        _ if letter.is_control() => true,
        // Without a width: joiners, marks of direction, fillers.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{3164}' | '\u{ffa0}' => true,
        // Separators of lines and paragraphs; embeddings, overrides and isolates.
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' => true,
        // Tags, which write text that nobody sees.
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character that hides, moves or reorders text.
    fn hostile() -> impl Iterator<Item = char> {
        let ranges = [0x00..=0x1f, 0x7f..=0x9f, 0x200b..=0x200f, 0x2028..=0x202e, 0x2060..=0x206f];
        let all = ranges.into_iter().flatten().chain([0xad, 0x61c, 0x180e, 0xfeff, 0xe0041]);
        all.filter_map(char::from_u32)
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        for letter in hostile() {
            let given = format!("a{letter}b");
            for done in [text(&given).into_owned(), log(&given), json(&given).into_owned()] {
                let is_left = done.contains(letter);
                assert_eq!(is_left, matches!(letter, '\n' | '\t'), "{letter:?} in {done:?}");
            }
            assert!(!one_line(&given).contains(letter), "{letter:?}");
        }
    }

    #[test]
    fn other_text_stays_as_it_is() {
        for plain in ["", "héllo wörld", "日本語", "شكرا", "🦀 → ✓", "a\n\tb"] {
            assert_eq!(text(plain), plain);
            assert_eq!(json(plain), plain);
        }
        assert_eq!(text("\u{1b}[8mx"), "\\u{1b}[8mx");
        assert_eq!(one_line("a\nb\u{202e}"), "a\\nb\\u{202e}");
    }

    #[test]
    fn json_says_the_same() {
        let value = serde_json::json!({ "a": "x\u{9b}\u{202e}\u{e0041}\u{7f}" });
        let shown = json(&value.to_string()).into_owned();
        assert!(!shown.chars().any(is_control), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).ok(), Some(value));
    }

    #[test]
    fn logs_keep_their_own_colours_alone() {
        let own = "\u{1b}[2mtime\u{1b}[0m \u{1b}[33m WARN\u{1b}[0m";
        assert_eq!(log(own), own);
        assert_eq!(
            log("\u{1b}[8mhidden\u{1b}]52;c;x\u{7}"),
            "\\u{1b}[8mhidden\\u{1b}]52;c;x\\u{7}"
        );
    }
}
