//! Quotes of a program's or server's output for errors. Line breaks stay; terminal control
//! sequences are removed.

/// Maximum number of quoted lines, unless they are a traceback.
const LINES: usize = 20;
/// The first line of a Python traceback.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// `; INTRO: text`. Several lines start on a new line. Empty if nothing was printed.
pub(crate) fn quoted(intro: &str, printed: &str) -> String {
    let text = plain(printed);
    let lines: Vec<&str> =
        text.trim_end().lines().skip_while(|line| line.trim().is_empty()).collect();
    let traceback = lines.iter().position(|line| line.contains(TRACEBACK));
    let from = traceback.unwrap_or_else(|| lines.len().saturating_sub(LINES));
    match &lines[from..] {
        [] => String::new(),
        [line] => format!("; {intro}: {}", line.trim()),
        several => format!("; {intro}:\n{}", several.join("\n")),
    }
}

/// The text without control characters (except tabs and line feeds) and without terminal colour
/// sequences.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' && letters.next_if_eq(&'[').is_some() {
            // Skip the parameters of the sequence and its final letter.
            while letters.next_if(|letter| (' '..='?').contains(letter)).is_some() {}
            letters.next_if(|letter| ('@'..='~').contains(letter));
        } else if !letter.is_control() || matches!(letter, '\n' | '\t') {
            plain.push(letter);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceback_is_quoted_whole_and_with_its_line_breaks() {
        let traceback = format!(
            "{TRACEBACK}\n  File \"agent.py\", line 3, in <module>\n    raise ValueError(\"x\")\nValueError: x\n"
        );
        let printed = format!("loading\nloaded\n{traceback}");
        assert_eq!(
            quoted("it ends with", &printed),
            format!("; it ends with:\n{}", traceback.trim_end())
        );
    }

    #[test]
    fn the_last_lines_of_anything_else_are_quoted() {
        let many: Vec<String> = (1..=50).map(|line| format!("line {line}")).collect();
        let text = quoted("it said", &many.join("\n"));
        assert!(text.starts_with("; it said:\nline 31\n") && text.ends_with("\nline 50"), "{text}");
        assert_eq!(quoted("it said", " no model \n"), "; it said: no model");
        assert_eq!(quoted("it said", " \n\n"), "");
    }

    #[test]
    fn nothing_that_is_quoted_commands_a_terminal() {
        let printed = "\u{1b}[1;31mred\u{1b}[0m\r\n\u{1b}]0;title\u{7}two\tthree\n";
        assert_eq!(quoted("it said", printed), "; it said:\nred\n]0;titletwo\tthree");
    }
}
