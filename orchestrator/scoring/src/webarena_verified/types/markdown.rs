//! `MarkdownString`: markdown with its spaces, list marks and links in one form.

use std::sync::LazyLock;

use python_compat::Value;
use python_compat::pattern::{Flags, Pattern};
use python_compat::text::{split, strip};

use super::Normal;
use crate::webarena_verified::PythonException;

/// Patterns in the order of the reference, with what takes the place of a match.
static STEPS: LazyLock<[(Pattern, &str); 5]> = LazyLock::new(|| {
    let lines = Flags { multi_line: true, ..Flags::default() };
    [
        (Pattern::ours(r"[ \t]+$", lines), ""),
        (Pattern::ours(r"\n{3,}", lines), "\n\n"),
        (Pattern::ours(r"^(\s*)(#{1,6})[ \t]+", lines), "${1}${2} "),
        (Pattern::ours(r"^(\s*)[\*\+][ \t]+", lines), "${1}- "),
        (Pattern::ours(r"^[ \t]+(-)", lines), "  ${1}"),
    ]
});

static SPLIT_LINK: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::ours(r"\[([^\]]*?)\n\s*([^\]]*?)\](\([^\)]+\))", Flags::default()));
static LINK_TEXT: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::ours(r"\[([^\]]+)\]", Flags::default()));
static LINK_URL: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::ours(r"\(\s*([^\)]+?)\s*\)", Flags::default()));

pub(super) fn normalise(value: &Value) -> Result<Normal, PythonException> {
    let Value::Str(text) = value else {
        return Err(PythonException::new("MarkdownString only accepts string input."));
    };
    let text = strip(text);
    if text.is_empty() {
        return Err(PythonException::new("Markdown string is empty"));
    }
    let mut content = text.replace("\r\n", "\n").replace('\r', "\n");
    for (pattern, replacement) in &*STEPS {
        content = pattern.replace_all(&content, replacement);
    }
    content = SPLIT_LINK.replace_with(&content, |groups| match groups {
        [_, first, second, url] => format!("[{first} {second}]{url}"),
        other => other.concat(),
    });
    content = LINK_TEXT.replace_with(&content, |groups| {
        let words: Vec<&str> = groups.get(1).map(|text| split(text).collect()).unwrap_or_default();
        format!("[{}]", words.join(" "))
    });
    content = LINK_URL.replace_all(&content, "(${1})");
    Ok(Normal::Text(strip(&content).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_made_one() {
        for (text, expect) in [
            ("##  Birds  \r\n*  wren\n+ owl", "## Birds\n- wren\n- owl"),
            ("a\n\n\n\nb", "a\n\nb"),
            ("[an  old\n  oak]( https://oak.test/ )", "[an old oak](https://oak.test/)"),
            ("x\n     - y", "x\n  - y"),
        ] {
            let read = normalise(&Value::Str(text.to_owned()));
            assert_eq!(read, Ok(Normal::Text(expect.to_owned())), "{text:?}");
        }
    }
}
