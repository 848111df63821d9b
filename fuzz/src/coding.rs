//! Content codings: the first byte chooses them, the rest is the body. Nothing decodes to more than
//! is allowed.

use snapshots::http::decode_content;

const CODINGS: [&str; 8] =
    ["gzip", "deflate", "br", "zstd", "gzip, br", "br, gzip", "zstd, deflate", "identity"];
const LIMIT: u64 = 1 << 20;

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    let Some((choice, body)) = bytes.split_first() else { return };
    if let Ok(decoded) = decode_content(CODINGS[usize::from(*choice) % CODINGS.len()], body, LIMIT)
    {
        assert!(decoded.len() as u64 <= LIMIT);
    }
}
