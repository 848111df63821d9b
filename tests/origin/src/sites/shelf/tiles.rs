//! Map tiles: a city as streets on paper, drawn pixel by pixel and written as a PNG with a palette.

use std::io::Write;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use crate::data::seed::Seed;

const WIDTH: u32 = 256;
const HEIGHT: u32 = 160;
const PALETTE: [[u8; 3]; 4] =
    [[0xf3, 0xee, 0xe4], [0xff, 0xff, 0xff], [0xa9, 0xcf, 0xe3], [0xcf, 0xe0, 0xba]];
const STREET: u8 = 1;
const WATER: u8 = 2;
const PARK: u8 = 3;

/// The map of a city; the name decides where water, parks and streets lie.
pub(super) fn map(name: &str) -> Vec<u8> {
    let mut draw = Seed::named(3, name);
    let mut pixels = vec![0u8; (WIDTH * HEIGHT) as usize];
    let mut fill = |left: u32, top: u32, width: u32, height: u32, colour: u8| {
        for y in top..(top + height).min(HEIGHT) {
            for x in left..(left + width).min(WIDTH) {
                pixels[(y * WIDTH + x) as usize] = colour;
            }
        }
    };
    for _ in 0..4 {
        fill(
            draw.between(0, 220),
            draw.between(0, 130),
            draw.between(16, 48),
            draw.between(12, 36),
            PARK,
        );
    }
    fill(0, draw.between(20, 120), WIDTH, draw.between(8, 20), WATER);
    for _ in 0..9 {
        fill(draw.between(0, WIDTH - 4), 0, draw.between(2, 4), HEIGHT, STREET);
        fill(0, draw.between(0, HEIGHT - 4), WIDTH, draw.between(2, 4), STREET);
    }
    png(&pixels).unwrap_or_default()
}

fn png(pixels: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::best());
    for row in pixels.chunks(WIDTH as usize) {
        rows.write_all(&[0])?;
        rows.write_all(row)?;
    }
    let mut head = Vec::new();
    head.extend_from_slice(&WIDTH.to_be_bytes());
    head.extend_from_slice(&HEIGHT.to_be_bytes());
    head.extend_from_slice(&[8, 3, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [
        (b"IHDR", head),
        (b"PLTE", PALETTE.concat()),
        (b"IDAT", rows.finish()?),
        (b"IEND", Vec::new()),
    ] {
        let mut sum = Crc::new();
        sum.update(kind);
        sum.update(&data);
        file.extend_from_slice(&(data.len() as u32).to_be_bytes());
        file.extend_from_slice(kind);
        file.extend_from_slice(&data);
        file.extend_from_slice(&sum.sum().to_be_bytes());
    }
    Ok(file)
}
