//! Keys by their names in pages (`KeyboardEvent.key`), also in combinations such as
//! `Control+Shift+K`.

use actions::Modifier;

/// One key of the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) key: String,
    pub(crate) code: String,
    /// Its Windows key code; pages see it as `keyCode`.
    pub(crate) number: u32,
    /// The text that it types.
    pub(crate) text: Option<String>,
}

/// Modifier keys with their bits in the protocol.
const MODIFIERS: &[(&str, u32, &str, u32)] = &[
    ("Alt", 1, "AltLeft", 18),
    ("Control", 2, "ControlLeft", 17),
    ("ControlOrMeta", 2, "ControlLeft", 17),
    ("Meta", 4, "MetaLeft", 91),
    ("Shift", 8, "ShiftLeft", 16),
];

const NAMED: &[(&str, u32, Option<&str>)] = &[
    ("AltGraph", 225, None),
    ("ArrowDown", 40, None),
    ("ArrowLeft", 37, None),
    ("ArrowRight", 39, None),
    ("ArrowUp", 38, None),
    ("Backspace", 8, None),
    ("CapsLock", 20, None),
    ("ContextMenu", 93, None),
    ("Delete", 46, None),
    ("End", 35, None),
    ("Enter", 13, Some("\r")),
    ("Escape", 27, None),
    ("F1", 112, None),
    ("F2", 113, None),
    ("F3", 114, None),
    ("F4", 115, None),
    ("F5", 116, None),
    ("F6", 117, None),
    ("F7", 118, None),
    ("F8", 119, None),
    ("F9", 120, None),
    ("F10", 121, None),
    ("F11", 122, None),
    ("F12", 123, None),
    ("Home", 36, None),
    ("Insert", 45, None),
    ("NumLock", 144, None),
    ("PageDown", 34, None),
    ("PageUp", 33, None),
    ("Pause", 19, None),
    ("PrintScreen", 44, None),
    ("ScrollLock", 145, None),
    ("Tab", 9, None),
];

/// Keys other than letters and digits on an American keyboard: plain, shifted, code, number.
const SIGNS: &[(char, char, &str, u32)] = &[
    (' ', ' ', "Space", 32),
    ('`', '~', "Backquote", 192),
    ('-', '_', "Minus", 189),
    ('=', '+', "Equal", 187),
    ('[', '{', "BracketLeft", 219),
    (']', '}', "BracketRight", 221),
    ('\\', '|', "Backslash", 220),
    (';', ':', "Semicolon", 186),
    ('\'', '"', "Quote", 222),
    (',', '<', "Comma", 188),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
];
const SHIFTED_DIGITS: &str = ")!@#$%^&*(";

/// Modifiers with their bits, and the key for which they are held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Combination {
    pub(crate) modifiers: Vec<(Key, u32)>,
    pub(crate) key: Key,
}

/// Parses a combination. The error is the unknown part.
pub(crate) fn parse(keys: &str) -> Result<Combination, String> {
    // The plus sign is a key, too: `+` alone, or at the end of `Control++`.
    let (prefix, last) = match keys.strip_suffix('+') {
        Some(prefix) => (prefix.strip_suffix('+').unwrap_or(prefix), "+"),
        None => keys.rsplit_once('+').unwrap_or(("", keys)),
    };
    let mut modifiers = Vec::new();
    for name in prefix.split('+').filter(|name| !name.is_empty()) {
        let found = Modifier::ALL.into_iter().find(|modifier| modifier.as_str() == name);
        modifiers.push(modifier(found.ok_or_else(|| name.to_owned())?));
    }
    let mut key = single(last).ok_or_else(|| last.to_owned())?;
    let bits: u32 = modifiers.iter().map(|(_, bit)| bit).sum();
    if bits & 8 != 0 && key.key.chars().count() == 1 {
        key.key = key.key.to_uppercase();
        key.text = Some(key.key.clone());
    }
    if bits & (1 | 2 | 4) != 0 {
        // A shortcut types nothing.
        key.text = None;
    }
    Ok(Combination { modifiers, key })
}

/// The key and the bit of a modifier.
pub(crate) fn modifier(modifier: Modifier) -> (Key, u32) {
    let name = modifier.as_str();
    let &(_, bit, code, number) =
        MODIFIERS.iter().find(|entry| entry.0 == name).unwrap_or(&MODIFIERS[0]);
    let name = if modifier == Modifier::ControlOrMeta { "Control" } else { name };
    (Key { key: name.to_owned(), code: code.to_owned(), number, text: None }, bit)
}

/// The bit of a key that is a modifier; otherwise 0.
pub(crate) fn bit(key: &Key) -> u32 {
    MODIFIERS.iter().find(|modifier| modifier.0 == key.key).map_or(0, |modifier| modifier.1)
}

/// The key of this name.
pub(crate) fn single(name: &str) -> Option<Key> {
    let name = if name == "Space" { " " } else { name };
    if let Some(&(key, number, text)) = NAMED.iter().find(|named| named.0 == name) {
        return Some(Key {
            key: key.to_owned(),
            code: key.to_owned(),
            number,
            text: text.map(str::to_owned),
        });
    }
    if let Some((key, _, code, number)) = MODIFIERS.iter().find(|modifier| modifier.0 == name) {
        return Some(Key {
            key: (*key).to_owned(),
            code: (*code).to_owned(),
            number: *number,
            text: None,
        });
    }
    let mut chars = name.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return None };
    let (code, number) = if c.is_ascii_alphabetic() {
        let upper = c.to_ascii_uppercase();
        (format!("Key{upper}"), u32::from(upper))
    } else if let Some(digit) =
        c.to_digit(10).map(|d| d as usize).or_else(|| SHIFTED_DIGITS.find(c))
    {
        (format!("Digit{digit}"), 48 + u32::try_from(digit).ok()?)
    } else if let Some((_, _, code, number)) = SIGNS.iter().find(|sign| sign.0 == c || sign.1 == c)
    {
        ((*code).to_owned(), *number)
    } else {
        // It has no key, but can still be typed.
        (String::new(), 0)
    };
    Some(Key { key: c.to_string(), code, number, text: Some(c.to_string()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_read() {
        let check =
            |keys: &str, key: &str, code: &str, number: u32, text: Option<&str>, bits: u32| {
                let read = parse(keys).unwrap();
                assert_eq!(
                    (&*read.key.key, &*read.key.code, read.key.number),
                    (key, code, number),
                    "{keys}"
                );
                assert_eq!(read.key.text.as_deref(), text, "{keys}");
                assert_eq!(read.modifiers.iter().map(|(_, bit)| bit).sum::<u32>(), bits, "{keys}");
            };
        check("Enter", "Enter", "Enter", 13, Some("\r"), 0);
        check("a", "a", "KeyA", 65, Some("a"), 0);
        check("Shift+a", "A", "KeyA", 65, Some("A"), 8);
        check("Control+a", "a", "KeyA", 65, None, 2);
        check("Control+Shift+K", "K", "KeyK", 75, None, 10);
        check("+", "+", "Equal", 187, Some("+"), 0);
        check("Control++", "+", "Equal", 187, None, 2);
        check("!", "!", "Digit1", 49, Some("!"), 0);
        check("é", "é", "", 0, Some("é"), 0);
        check("Space", " ", "Space", 32, Some(" "), 0);
        check("ContextMenu", "ContextMenu", "ContextMenu", 93, None, 0);
        check("Shift+Pause", "Pause", "Pause", 19, None, 8);
    }

    #[test]
    fn what_is_no_key_is_named() {
        assert_eq!(parse("Enterr"), Err("Enterr".to_owned()));
        assert_eq!(parse("Ctrl+a"), Err("Ctrl".to_owned()));
        assert_eq!(parse(""), Err(String::new()));
    }
}
