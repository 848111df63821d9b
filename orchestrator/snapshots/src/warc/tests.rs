#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};

use camino::Utf8Path;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use crate::{Archive, Damage, Error, RecordKind};

fn record(url: &str, extra: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\n{extra}Content-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The readable URLs, each with the length of its block, and the damage reported between them.
fn read(bytes: &[u8]) -> Vec<Result<(String, u64), Damage>> {
    let mut file = tempfile::Builder::new().suffix(".warc").tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let Ok(archive) = Archive::open(Utf8Path::from_path(file.path()).unwrap()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for record in archive.records() {
        found.push(match record {
            Ok((at, record)) => {
                let again = archive.read_at(at).unwrap();
                assert_eq!(again.headers, record.headers);
                let mut block = record.block;
                let length = std::io::copy(&mut block, &mut std::io::sink()).unwrap();
                let url = again.target_uri().unwrap_or_default().into_owned();
                Ok((url, length))
            }
            Err(Error::Damaged { damage, .. }) => Err(damage),
            Err(other) => panic!("{other}"),
        });
        assert!(found.len() <= bytes.len() + 1, "the reading does not end");
    }
    found
}

fn urls(found: &[Result<(String, u64), Damage>]) -> Vec<&str> {
    found.iter().flatten().map(|(url, _)| url.as_str()).collect()
}

#[test]
fn a_broken_member_costs_only_itself() {
    let members: Vec<Vec<u8>> =
        ["u:a", "u:b", "u:c"].iter().map(|url| gzip(&record(url, "", &[b'x'; 3000]))).collect();
    let mut flipped = members[1].clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xff;
    let found = read(&[&members[0][..], &flipped, &members[2]].concat());
    assert_eq!(urls(&found), ["u:a", "u:c"]);
    assert!(found.iter().any(Result::is_err));

    // Only the checksum is wrong.
    let mut flipped = members[1].clone();
    let crc = flipped.len() - 6;
    flipped[crc] ^= 0xff;
    let found = read(&[&members[0][..], &flipped, &members[2]].concat());
    assert_eq!(urls(&found), ["u:a", "u:c"]);
    assert!(matches!(&found[1], Err(Damage::Gzip(_))), "{found:?}");

    // Garbage between members, and a truncated member.
    let cut = &members[2][..members[2].len() - 10];
    let found = read(&[&members[0][..], b"\x1f\x8bgarbage", &members[1], cut].concat());
    assert_eq!(urls(&found), ["u:a", "u:b"]);
    assert!(matches!(found.last(), Some(Err(Damage::Gzip(_)))), "{found:?}");
}

#[test]
fn a_length_that_lies_is_found_out() {
    let (a, c) = (record("u:a", "", b"aaa"), record("u:c", "", b"ccc"));
    let lie = |length: &str| {
        let text = format!(
            "WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: u:b\r\nContent-Length: {length}\r\n\r\nbbb\r\n\r\n"
        );
        read(&[&a[..], text.as_bytes(), &c].concat())
    };
    for length in ["2", "1", "0", "20"] {
        let found = lie(length);
        assert_eq!(urls(&found), ["u:a", "u:b", "u:c"], "{length}: {found:?}");
        assert!(
            found.iter().any(|item| matches!(item, Err(Damage::Stray { .. }))),
            "{length}: {found:?}"
        );
    }
    for length in ["99999", "18446744073709551615"] {
        let found = lie(length);
        assert_eq!(urls(&found), ["u:a", "u:c"], "{length}: {found:?}");
        assert!(
            matches!(&found[1], Err(Damage::Truncated { found: _, .. })),
            "{length}: {found:?}"
        );
    }
    for length in ["-1", "", "abc", "18446744073709551616", "0x10"] {
        let found = lie(length);
        assert_eq!(urls(&found), ["u:a", "u:c"], "{length}: {found:?}");
        assert!(matches!(&found[1], Err(Damage::Head(_))), "{length}: {found:?}");
    }
    // In a gzip member the end is known, so no later record is lost.
    let text =
        b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: u:b\r\nContent-Length: 50\r\n\r\nbbb\r\n\r\n";
    let found = read(&[gzip(&a), gzip(text), gzip(&c)].concat());
    assert_eq!(urls(&found), ["u:a", "u:c"]);
    assert!(matches!(&found[1], Err(Damage::Truncated { expected: 50, .. })), "{found:?}");
}

#[test]
fn a_file_in_one_member_is_unpacked() {
    let both = gzip(&[record("u:a", "", b"a"), record("u:b", "", b"b")].concat());
    assert_eq!(urls(&read(&both)), ["u:a", "u:b"]);
    // Not if the file begins with a valid member: that is damage, which only `repair` searches.
    let found = read(&[gzip(&record("u:c", "", b"c")), both].concat());
    assert_eq!(urls(&found), ["u:c", "u:a"]);
    assert_eq!(found[2], Err(Damage::SharedMember));
}

#[test]
fn a_bomb_does_not_fill_the_memory() {
    // 200 MB of zeros after a small record in a member of 200 KB, and as the block of one.
    let zeros = vec![0; 200 << 20];
    let stray = gzip(&[&record("u:a", "", b"a")[..], &zeros].concat());
    let found = read(&[stray, gzip(&record("u:b", "", b"b"))].concat());
    assert_eq!(urls(&found), ["u:b"]);
    assert!(matches!(&found[0], Err(Damage::Stray { .. })), "{found:?}");
    let found = read(&gzip(&record("u:big", "", &zeros)));
    assert_eq!(found, [Ok(("u:big".to_owned(), 200 << 20))]);
}

#[test]
fn long_headers_are_read_up_to_a_limit() {
    let long = |size: usize| format!("X-Long: {}\r\n", "y".repeat(size));
    for pack in [|bytes: &[u8]| bytes.to_vec(), gzip] {
        let fine = pack(&record("u:a", &long(200_000), b"abc"));
        let endless = pack(&record("u:b", &long(3 << 20), b"abc"));
        let found = read(&[fine, endless, pack(&record("u:c", "", b"c"))].concat());
        assert_eq!(urls(&found), ["u:a", "u:c"], "{found:?}");
        assert!(found.contains(&Err(Damage::HeadTooLong { limit: super::MAX_HEAD })));
    }
}

#[test]
fn members_of_nothing_and_blank_lines_are_passed_over() {
    let bytes = [
        gzip(b""),
        gzip(&record("u:a", "", b"a")),
        gzip(b"\r\n\r\n"),
        gzip(b""),
        gzip(&record("u:b", "", b"b")),
    ];
    assert_eq!(read(&bytes.concat()), [Ok(("u:a".to_owned(), 1)), Ok(("u:b".to_owned(), 1))]);
    let plain = [
        b"\r\n\n".to_vec(),
        record("u:a", "", b"a"),
        b"\n\n\n".repeat(100),
        record("u:b", "", b"b"),
    ];
    assert_eq!(urls(&read(&plain.concat())), ["u:a", "u:b"]);
    // Compressed and plain records in one file.
    let mixed = [record("u:a", "", b"a"), gzip(&record("u:b", "", b"b")), record("u:c", "", b"c")];
    assert_eq!(urls(&read(&mixed.concat())), ["u:a", "u:b", "u:c"]);
}

#[test]
fn a_record_inside_a_record_is_payload() {
    let inner = record("u:inner", "", b"x");
    assert_eq!(
        urls(&read(&[record("u:outer", "", &inner), record("u:next", "", b"n")].concat())),
        ["u:outer", "u:next"]
    );
}

#[test]
fn kinds_and_odd_uris() {
    let bytes = record("<https://harbour.test/a b>", "WARC-Record-ID: <urn:x>\r\n", b"");
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    let archive = Archive::open(Utf8Path::from_path(file.path()).unwrap()).unwrap();
    let (at, mut record) = archive.records().next().unwrap().unwrap();
    assert_eq!(record.target_uri().unwrap(), "https://harbour.test/a%20b");
    assert_eq!((record.id(), record.kind()), (Some("urn:x"), RecordKind::Resource));
    assert_eq!(record.block.read(&mut [0; 8]).unwrap(), 0);
    assert!(matches!(
        archive.read_at(crate::RecordRef { segment: 1, ..at }),
        Err(Error::NoSuchSegment { .. })
    ));
    assert!(archive.read_at(crate::RecordRef { offset: u64::MAX, ..at }).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(start in 0_usize..5, bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let start: &[u8] = [&b""[..], b"WARC/1.0\r\n", b"\x1f\x8b\x08\0", b"http://a/ 1 20200101000000 t 3\n", b"PK\x03\x04"][start];
        read(&[start, &bytes].concat());
    }

    #[test]
    fn any_damage_to_a_file_is_survived(
        compressed in any::<bool>(),
        at in 0_usize..4000,
        change in proptest::collection::vec(any::<u8>(), 0..20),
        remove in 0_usize..60,
    ) {
        let records: Vec<Vec<u8>> = (0..6).map(|n| record(&format!("u:{n}"), "", &vec![n + 60; 300 * n as usize])).collect();
        let mut bytes: Vec<u8> = records.iter().flat_map(|r| if compressed { gzip(r) } else { r.clone() }).collect();
        let at = at % bytes.len();
        let end = (at + remove).min(bytes.len());
        bytes.splice(at..end, change);
        let found = read(&bytes);
        // Damage in one place may cost at most the two adjacent records.
        prop_assert!(urls(&found).len() >= 4, "{:?}", found);
    }

    #[test]
    fn what_is_written_is_read(bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..2000), 1..6)) {
        for compressed in [false, true] {
            let bytes: Vec<u8> = bodies
                .iter()
                .enumerate()
                .map(|(n, body)| record(&format!("u:{n}"), "", body))
                .flat_map(|r| if compressed { gzip(&r) } else { r })
                .collect();
            let expect: Vec<_> = bodies.iter().enumerate().map(|(n, body)| Ok((format!("u:{n}"), body.len() as u64))).collect();
            prop_assert_eq!(read(&bytes), expect);
        }
    }
}
