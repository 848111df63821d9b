//! Reads HTML documents by their tags: links, forms, hidden fields, texts, and single tags for what
//! else is looked for. No tree is built, and nothing that scripts would add is seen.

mod encoding;
mod forms;
mod links;
mod page_text;
mod text;

use std::borrow::Cow;

pub use encoding::encoding;
pub use forms::{Control, Form, forms};
pub use html5gum::StartTag;
use html5gum::{DefaultEmitter, Token, Tokenizer};
pub use links::{hidden_fields, links};
pub use page_text::{PageText, page_text};
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
fn tokens(html: &str) -> impl Iterator<Item = Token> {
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

/// A text with single spaces.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
