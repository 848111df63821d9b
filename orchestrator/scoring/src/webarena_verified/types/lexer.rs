//! `dateutil`'s tokens: words, numbers, and everything else one by one. Its texts are ASCII here.

/// The state of the lexer: in a word or a number, with or without dots so far.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Word,
    Number,
    WordWithDot,
    NumberWithDot,
}

/// `_timelex.split(text)`.
pub(super) fn split(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().filter(|c| *c != '\0').collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let start = at;
        let c = chars[at];
        at += 1;
        let mut state = match c {
            c if c.is_alphabetic() => State::Word,
            c if c.is_ascii_digit() => State::Number,
            c => {
                tokens.push(if c.is_whitespace() { " ".to_owned() } else { c.to_string() });
                continue;
            }
        };
        let mut seen_letters = false;
        while at < chars.len() {
            seen_letters |= matches!(state, State::Word | State::WordWithDot);
            let (c, before) = (chars[at], chars[at - 1]);
            state = match state {
                State::Word if c.is_alphabetic() => State::Word,
                State::Word if c == '.' => State::WordWithDot,
                State::Number if c.is_ascii_digit() => State::Number,
                State::Number if c == '.' || (c == ',' && at - start >= 2) => State::NumberWithDot,
                State::WordWithDot if c == '.' || c.is_alphabetic() => State::WordWithDot,
                State::WordWithDot if c.is_ascii_digit() && before == '.' => State::NumberWithDot,
                State::NumberWithDot if c == '.' || c.is_ascii_digit() => State::NumberWithDot,
                State::NumberWithDot if c.is_alphabetic() && before == '.' => State::WordWithDot,
                _ => break,
            };
            at += 1;
        }
        push(chars[start..at].iter().collect(), state, seen_letters, &mut tokens);
    }
    tokens
}

/// Adds a token. One with several dots, or with one at its end, falls into its parts.
fn push(token: String, state: State, seen_letters: bool, tokens: &mut Vec<String>) {
    let dotted = matches!(state, State::WordWithDot | State::NumberWithDot);
    let broken = seen_letters || token.matches('.').count() > 1 || token.ends_with(['.', ',']);
    if !dotted || !broken {
        let comma_is_point = state == State::NumberWithDot && !token.contains('.');
        tokens.push(if comma_is_point { token.replace(',', ".") } else { token });
        return;
    }
    let mut part = String::new();
    for c in token.chars() {
        if matches!(c, '.' | ',') {
            if !part.is_empty() {
                tokens.push(std::mem::take(&mut part));
            }
            tokens.push(c.to_string());
        } else {
            part.push(c);
        }
    }
    if !part.is_empty() {
        tokens.push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn tokens_are_found() {
        for (text, expect) in [
            ("may 23 2023", vec!["may", " ", "23", " ", "2023"]),
            ("1.2.2023", vec!["1", ".", "2", ".", "2023"]),
            ("10.5", vec!["10.5"]),
            ("10,5", vec!["10.5"]),
            ("a.m.", vec!["a", ".", "m", "."]),
            ("12h30", vec!["12", "h", "30"]),
        ] {
            assert_eq!(split(text), expect, "{text}");
        }
    }
}
