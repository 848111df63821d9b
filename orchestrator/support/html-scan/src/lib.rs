//! Reads HTML documents by their tags: links, hidden fields, texts, and whatever else walks through
//! the tokens. No tree is built, and nothing that scripts would add is seen.

mod encoding;
mod links;
mod text;

use std::borrow::Cow;

pub use encoding::encoding;
use html5gum::{DefaultEmitter, Tokenizer};
pub use html5gum::{StartTag, Token};
pub use links::{hidden_fields, links};
pub use text::{texts, title};

/// Whether this media type is HTML.
pub fn is_html(media_type: &str) -> bool {
    let media_type = media_type.trim_start().to_ascii_lowercase();
    media_type.starts_with("text/html") || media_type.starts_with("application/xhtml")
}

/// The text of a document in its [`encoding`].
pub fn decode<'a>(media_type: &str, document: &'a [u8]) -> Cow<'a, str> {
    encoding(media_type, document).decode(document).0
}

/// The tokens of a document. What is within scripts is text.
pub fn tokens(html: &str) -> impl Iterator<Item = Token> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).map(|Ok(token)| token)
}

/// The start tags of a document.
pub fn tags(html: &str) -> impl Iterator<Item = StartTag<()>> {
    tokens(html).filter_map(|token| match token {
        Token::StartTag(tag) => Some(tag),
        _ => None,
    })
}

/// The value of an attribute.
pub fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| String::from_utf8_lossy(value).into_owned())
}
