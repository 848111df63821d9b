//! The encoding of an HTML document.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Number of bytes in which a document may declare its encoding.
const HEAD: usize = 1024;

/// The encoding: from the media type, from the document's declaration, UTF-8 if valid, or the
/// browsers' default.
pub fn encoding(media_type: &str, bytes: &[u8]) -> &'static Encoding {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
    let metas = head.split("<meta").skip(1).filter_map(|rest| rest.split('>').next());
    // A declaration of UTF-16 that can be read as ASCII is wrong.
    let declared = metas
        .filter_map(labelled)
        .map(|found| if found.output_encoding() == found { found } else { UTF_8 })
        .next();
    let supposed = if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 };
    labelled(&media_type.to_ascii_lowercase()).or(declared).unwrap_or(supposed)
}

/// The encoding that a lower-case text names as its `charset`.
fn labelled(text: &str) -> Option<&'static Encoding> {
    let (_, label) = text.split_once("charset=")?;
    let label = label.trim_start_matches(['"', '\'', ' ']);
    Encoding::for_label(label.split(['"', '\'', ';', ' ', '/']).next()?.as_bytes())
}
