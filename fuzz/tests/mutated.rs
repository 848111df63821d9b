//! Every target on its seeds, each changed in many ways. The changes are the same each time.

#![allow(clippy::unwrap_used)]

use std::fs;

use fastrand::Rng;

/// How many times each seed is changed.
const TIMES: u64 = 400;
/// Most changes of one input.
const MOST_CHANGES: usize = 6;
/// Numbers at which readers tend to be wrong, and marks that mean something to them.
const MARKS: [&[u8]; 14] = [
    b"0",
    b"-1",
    b"4294967295",
    b"18446744073709551615",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\r\n",
    b"\r\n\r\n",
    b"../",
    b"\"",
    b"{",
    b"[[[[",
    b"PK\x03\x04",
    b"\x1f\x8b\x08\x00",
];

/// The inputs that a target has to start from.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds/");
    let mut files: Vec<_> = fs::read_dir(format!("{folder}{target}"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Makes one change: a bit, a byte, a mark, or a piece that goes, comes twice or is from elsewhere.
fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Rng) {
    let at = random.usize(..=bytes.len());
    let piece = at..(at + random.usize(..64)).min(bytes.len());
    match random.u8(..7) {
        0 if !piece.is_empty() => bytes[at] ^= 1 << random.u8(..8),
        1 if !piece.is_empty() => bytes[at] = random.u8(..),
        2 => drop(bytes.splice(piece, MARKS[random.usize(..MARKS.len())].iter().copied())),
        3 => drop(bytes.splice(at..at, MARKS[random.usize(..MARKS.len())].iter().copied())),
        4 => drop(bytes.drain(piece)),
        5 => {
            let twice = bytes[piece].to_vec();
            drop(bytes.splice(at..at, twice));
        }
        _ => {
            let other = &others[random.usize(..others.len())];
            bytes.truncate(at);
            bytes.extend_from_slice(&other[at.min(other.len())..]);
        }
    }
}

/// Lets a target have its seeds, then each of them changed. A panic names the change's number.
fn mutate(name: &str) {
    let (_, check) = fuzz::TARGETS.iter().find(|(target, _)| *target == name).unwrap();
    let seeds = seeds(name);
    for (at, seed) in seeds.iter().enumerate() {
        check(seed);
        for number in 0..TIMES {
            let mut random = Rng::with_seed(number);
            let mut bytes = seed.clone();
            for _ in 0..random.usize(1..=MOST_CHANGES) {
                change(&mut bytes, &seeds, &mut random);
            }
            let result = std::panic::catch_unwind(|| check(&bytes));
            assert!(result.is_ok(), "{name}: seed {at}, change {number}: {}", bytes.escape_ascii());
        }
    }
}

/// One test a target, so that they are played at once.
macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test] fn $name() { mutate(stringify!($name)); })*

        #[test]
        fn all_are_played() {
            let played = [$(stringify!($name)),*];
            assert!(fuzz::TARGETS.map(|(name, _)| name) == played, "{played:?}");
        }
    };
}

targets!(arc coding collection har http import index score segment wacz warc);
