//! CDXJ lines, the block list of a ZipNum index in both forms, SURT keys and folded requests.

use snapshots::cdxj::CdxLines;
use snapshots::{surt, zipnum};

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    for line in CdxLines::new("index.cdx", bytes).flatten() {
        let text = line.to_string();
        let again =
            snapshots::cdxj::CdxLine::parse(&text).expect("a line that was read is read again");
        assert_eq!(again.to_string(), text);
        let _ = (line.timestamp(), line.offset(), line.length(), line.status());
    }
    let _ = zipnum::read_index("index.idx", bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = surt::surt(text);
    }
}
