//! HTTP heads and chunked bodies. A head that was read is written and read again the same.

use std::io::{Read, sink};

use snapshots::http::{Dechunk, parse_request, parse_response, write_request, write_response};

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    if let Ok((head, end)) = parse_request(bytes) {
        assert!(end <= bytes.len());
        let mut out = Vec::new();
        write_request(&mut out, &head.method, &head.target, &head.headers);
        let (again, _) = parse_request(&out).expect("a head that was written is read");
        assert_eq!(again.method, head.method);
    }
    if let Ok((head, end)) = parse_response(bytes) {
        assert!(end <= bytes.len());
        let mut out = Vec::new();
        write_response(&mut out, head.status, &head.reason, &head.headers);
        let (again, _) = parse_response(&out).expect("a head that was written is read");
        assert_eq!(again.status, head.status);
    }
    let _ = std::io::copy(&mut Dechunk::new(bytes).take(1 << 20), &mut sink());
}
