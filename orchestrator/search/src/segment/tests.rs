//! Segments written and read again, whole and broken.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek, Write};

use super::*;
use crate::words::words;

/// Pages of few words, so that every word is in many of them.
fn pages(count: u32) -> Vec<Document> {
    let mut number = 1u64;
    let mut next = |below: u64| {
        number =
            number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % below
    };
    let language =
        ["the", "of", "oak", "pine", "old", "town", "is", "京", "都", "walnut", "ash", "elm"];
    let mut some = |most: u64| -> String {
        let count = next(most);
        (0..count)
            .map(|_| language[(next(12) * next(12) / 12) as usize])
            .collect::<Vec<_>>()
            .join(" ")
    };
    (0..count)
        .map(|page| Document {
            url: format!("https://h{}.test/{page}", page % 7),
            host: format!("h{}.test", page % 7),
            title: some(5),
            text: some(40),
        })
        .collect()
}

fn written(pages: &[Document], memory: usize) -> Vec<u8> {
    let mut file = tempfile::tempfile().unwrap();
    let mut writer = SegmentWriter::within(&file, memory).unwrap();
    pages.iter().for_each(|page| writer.add(page).unwrap());
    writer.defer("https://else.test/");
    writer.finish("state").unwrap();
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// Reads everything in a segment that the words of these pages lead to.
fn read_all(
    segment: &Segment,
) -> Result<BTreeMap<&'static str, BTreeMap<u32, Vec<u32>>>, SegmentError> {
    let mut found = BTreeMap::new();
    for word in [
        "the", "of", "oak", "pine", "old", "town", "is", "京", "都", "walnut", "ash", "elm", "none",
    ] {
        let Some(list) = segment.list(hash_of("word", word))? else { continue };
        let mut pages = Vec::new();
        list.for_each(|page, _| pages.push(page))?;
        let mut places = BTreeMap::new();
        let read = |range| segment.places(range);
        list.occurrences(&pages, &mut u64::MAX.clone(), read, |page, at| {
            places.insert(page, at.to_vec());
        })?;
        found.insert(word, places);
    }
    for page in 0..segment.pages() {
        let head = segment.text(page)?;
        segment.chunk(&head, 0)?;
    }
    Ok(found)
}

#[test]
fn every_word_is_found_where_it_is() {
    let pages = pages(1000);
    let segment = Segment::open(file_of(&written(&pages, usize::MAX)), "state").unwrap().unwrap();
    let mut expected: BTreeMap<String, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
    for (number, page) in pages.iter().enumerate() {
        for (text, at) in [(&page.title, TITLE_AT), (&page.text, TEXT_AT)] {
            for (place, word) in words(text).into_iter().enumerate() {
                expected
                    .entry(word)
                    .or_default()
                    .entry(number as u32)
                    .or_default()
                    .push(at + place as u32);
            }
        }
    }
    let found = read_all(&segment).unwrap();
    let found: BTreeMap<String, _> =
        found.into_iter().map(|(word, pages)| (word.to_owned(), pages)).collect();
    assert_eq!(found, expected);
    for (number, page) in pages.iter().enumerate() {
        let head = segment.text(number as u32).unwrap();
        let text = segment.chunk(&head, 0).unwrap();
        assert_eq!((&head.url, &head.title, &text), (&page.url, &page.title, &page.text));
    }
    assert_eq!(segment.deferred, [hash_of("page", "https://else.test/")]);
    assert!(Segment::open(file_of(&written(&pages, usize::MAX)), "other").unwrap().is_none());
}

#[test]
fn some_of_the_pages_of_a_word_are_found_without_the_others() {
    let segment = Segment::read(file_of(&written(&pages(1000), usize::MAX))).unwrap();
    let list = segment.list(hash_of("word", "oak")).unwrap().unwrap();
    let mut all = BTreeSet::new();
    list.for_each(|page, _| assert!(all.insert(page))).unwrap();
    for step in [1, 2, 3, 130, 999] {
        let asked: Vec<u32> = (0..1000).step_by(step).collect();
        let expected: Vec<u32> = asked.iter().copied().filter(|page| all.contains(page)).collect();
        let mut kept = asked.clone();
        list.retain(&mut kept).unwrap();
        let mut found = Vec::new();
        let read = |range| segment.places(range);
        list.occurrences(&asked, &mut u64::MAX.clone(), read, |page, _| found.push(page)).unwrap();
        assert_eq!((&kept, &found), (&expected, &expected), "every {step}th");
    }
    let mut budget = 1;
    let read = |range| segment.places(range);
    list.occurrences(&[1, 2, 3], &mut budget, read, |_, _| panic!("it costs too much")).unwrap();
    assert_eq!(budget, 0);
}

#[test]
fn the_memory_of_building_does_not_show_in_the_file() {
    let pages = pages(300);
    let whole = written(&pages, usize::MAX);
    assert!(whole == written(&pages, 1) && whole == written(&pages, 20_000));
}

#[test]
fn an_empty_segment_has_nothing() {
    let segment = Segment::read(file_of(&written(&[], usize::MAX))).unwrap();
    assert_eq!((segment.pages(), read_all(&segment).unwrap().len()), (0, 0));
}

#[test]
fn long_texts_are_read_by_their_chunks() {
    let text: String = (0..5000).map(|number| format!("w{number} ")).collect();
    let page = Document { text, ..Document::default() };
    let segment = Segment::read(file_of(&written(&[page], usize::MAX))).unwrap();
    let head = segment.text(0).unwrap();
    for place in [0, 1023, 1024, 4999, 9999] {
        let (number, first) = head.chunk_of(TEXT_AT + place);
        let chunk = segment.chunk(&head, number).unwrap();
        let begin = format!("w{} ", first - TEXT_AT);
        assert!(chunk.starts_with(&begin), "{place}: {}", &chunk[..20]);
        assert_eq!(head.goes_on(number), place < 4096);
    }
}

#[test]
fn broken_files_are_errors_or_what_they_were() {
    let pages = pages(150);
    let whole = written(&pages, usize::MAX);
    let expected = read_all(&Segment::read(file_of(&whole)).unwrap()).unwrap();
    for cut in [0, 1, 255, 256, 300, whole.len() / 2, whole.len() - 1] {
        assert!(Segment::read(file_of(&whole[..cut])).is_err(), "cut at {cut}");
    }
    for at in (0..whole.len()).step_by(151).chain(0..256) {
        let mut broken = whole.clone();
        broken[at] ^= 1 << (at % 8);
        // Without checksums anything may be read, but nothing panics.
        let _ = read_hostile(&broken);
        let Ok(segment) = Segment::read(file_of(&broken)) else { continue };
        // Which pages have a word is covered by checksums; where in a page is not.
        if let Ok(found) = read_all(&segment) {
            for (word, pages) in found {
                assert!(pages.keys().eq(expected[word].keys()), "byte {at}, {word}");
            }
        }
    }
}
