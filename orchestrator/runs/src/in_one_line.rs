//! A text of several lines where there is room for one.

/// The first line, and of several the last, too: what a program prints as it dies ends with why.
pub fn in_one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match (lines.next_back(), lines.next()) {
        (None, _) => first.to_owned(),
        (Some(last), None) => format!("{first} {last}"),
        (Some(last), Some(_)) => format!("{first} … {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::in_one_line;

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
