//! The texts of an HTML document between its tags, each for itself.

use html5gum::Token;

use crate::{tokens, words};

/// What has text that is not shown.
const HIDDEN: [&[u8]; 4] = [b"script", b"style", b"noscript", b"template"];

/// The texts between the tags of a document, in order, each with single spaces. Those of scripts
/// and styles are left out.
pub fn texts(html: &str) -> Vec<String> {
    let (mut found, mut within): (Vec<String>, Option<Vec<u8>>) = (Vec::new(), None);
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) if within.is_none() && HIDDEN.contains(&&tag.name[..]) => {
                within = (!tag.self_closing).then(|| tag.name.to_vec());
            }
            Token::EndTag(tag) if within.as_deref() == Some(&tag.name[..]) => within = None,
            Token::String(text) if within.is_none() => {
                let text = words(&String::from_utf8_lossy(&text));
                found.extend((!text.is_empty()).then_some(text));
            }
            _ => {}
        }
    }
    found
}

/// The text of the first `title`, if there is one that ends and is not empty.
pub fn title(html: &str) -> Option<String> {
    let is_title =
        |token: &Token| matches!(token, Token::StartTag(tag) if &tag.name[..] == b"title");
    let mut within = tokens(html).skip_while(|token| !is_title(token)).skip(1);
    let mut text = Vec::new();
    loop {
        match within.next()? {
            Token::String(part) => text.extend_from_slice(&part),
            Token::EndTag(_) => break,
            _ => {}
        }
    }
    let text = words(&String::from_utf8_lossy(&text));
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees() {
        let html = "<!doctype html><title>A &amp; B</title><script>if (a<b) x('<p>')</script>\
                    <p title='no'>one\n two<br>three<!-- no --><style>p {}</style>\
                    <noscript>turn on</noscript><template><p>later</p></template> 4<";
        assert_eq!(texts(html), ["A & B", "one two", "three", "4<"]);
        assert!(texts("<script>").is_empty());
        assert_eq!(title("<TITLE lang=en> A &amp;\n B </title> C").as_deref(), Some("A & B"));
        assert_eq!(title("<title></title><title>C</title>"), None);
    }
}
