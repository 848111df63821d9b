#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

/// Method, content type, body, and what the reference implementation appends.
#[rustfmt::skip]
const APPENDED: &[(&str, &str, &[u8], &str)] = &[
    ("POST", "application/json", b"{\"tide\": {\"at\": \"noon & later\", \"level\": 4.0, \"spring\": true, \"next\": null}}", "?__wb_method=POST&at=noon+%26+later&level=4&spring=true&next=null"),
    ("POST", "application/json", b"[{\"id\": 7}, {\"id\": 7.5}, {\"id\": -0.0}]", "?__wb_method=POST&id=7&id.2_=7.5&id.3_=0"),
    ("POST", "application/json", b"{\"a\": 1e21, \"b\": 1e23, \"c\": 1.5e-7, \"d\": 0.0001, \"e\": 12345678901234567890123}", "?__wb_method=POST&a=1000000000000000000000&b=99999999999999991611392&c=1.5e-07&d=0.0001&e=12345678901234567890123"),
    ("POST", "application/json", b"{\"a\": 1, \"a\": 2, \"b\": [\"x\", [\"y\"]], \"\": 3}", "?__wb_method=POST&a=2&b=x&b.2_=y"),
    ("POST", "application/json", b"{\"a\": 01}", "?__wb_method=POST"),
    ("POST", "application/json", b"{", "?__wb_method=POST"),
    ("PUT", "application/json", b"\"alone\"", "?__wb_method=PUT"),
    ("POST", "application/x-www-form-urlencoded", b"a=1&b=%26+x", "?__wb_method=POST&a=1&b=& x"),
    ("POST", "application/x-www-form-urlencoded", b"a=\xff", "?__wb_method=POST&__wb_post_data=YT3/"),
    ("POST", "text/plain", b"{\"a\":\"\xc3\xbc\"}", "?__wb_method=POST&a=%C3%BC"),
    ("POST", "text/plain", b"hello world", "?__wb_method=POST&__wb_post_data=aGVsbG8gd29ybGQ="),
    ("POST", "multipart/form-data; boundary=b0und", b"--b0und\r\nContent-Disposition: form-data; name=\"berth\"\r\n\r\n4 b\r\n--b0und\r\nContent-Disposition: form-data; name=\"log\"; filename=\"l.txt\"\r\nContent-Type: text/plain\r\n\r\nwind\r\nSW\r\n--b0und--\r\n", "?__wb_method=POST&berth=4+b&log=wind%0D%0ASW"),
    ("POST", "multipart/form-data", b"--b0und\r\n", "?__wb_method=POST&__wb_post_data=LS1iMHVuZA0K"),
    ("POST", "application/octet-stream", b"\x00\x01", "?__wb_method=POST&__wb_post_data=AAE="),
    ("POST", "", b"x", "?__wb_method=POST&__wb_post_data=eA=="),
    ("POST", "application/json", b"", "?__wb_method=POST"),
    ("DELETE", "application/json", b"{\"a\":1}", "?__wb_method=DELETE"),
    ("options", "", b"", "?__wb_method=OPTIONS"),
    ("HEAD", "", b"", "?__wb_method=HEAD"),
    ("GET", "", b"", ""),
];

#[test]
fn requests_are_folded_as_the_reference_does() {
    for (method, content_type, body, appended) in APPENDED {
        let url = append_post_query("https://harbour.test/api", method, content_type, body);
        assert_eq!(url, format!("https://harbour.test/api{appended}"));
    }
    assert_eq!(append_post_query("u?x", "POST", "", b""), "u?x&__wb_method=POST");
}

#[test]
fn a_long_body_is_cut() {
    let query =
        post_query("POST", "application/x-www-form-urlencoded", "é".repeat(5000).as_bytes())
            .unwrap();
    assert_eq!(query.body.chars().count(), 4096);
    let query = post_query("POST", "application/octet-stream", &[1; 1 << 20]).unwrap();
    assert_eq!(query.body.len(), 4096);
}

proptest! {
    #[test]
    fn any_body_is_folded(
        kind in "(application/json|text/plain|multipart/form-data; boundary=b|application/x-www-form-urlencoded)",
        body in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        post_query("POST", &kind, &body);
    }

    #[test]
    fn any_parts_are_folded(body in "(--b\r\n|--b--|Content-Disposition: form-data; name=\"|a|\"|;|=|\r\n){0,40}") {
        post_query("POST", "multipart/form-data; boundary=b", body.as_bytes());
    }
}
