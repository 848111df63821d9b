//! Short pieces of music as 8-bit mono WAV, made of sine tones.

use crate::data::cinema::Film;
use crate::data::seed::Seed;

const RATE: u32 = 8_000;

/// The chime of the stations or the score of a film that has one.
pub(super) fn named(name: &str, films: &[Film]) -> Option<Vec<u8>> {
    if name == "announcement" {
        return Some(wav(&[659, 523, 392], RATE / 3));
    }
    let film = films.iter().find(|film| film.slug == name && film.music)?;
    let scale = [262, 294, 330, 392, 440, 523];
    let mut draw = Seed::named(11, film.slug);
    let tones: Vec<u32> = (0..6).map(|_| *draw.pick(&scale)).collect();
    Some(wav(&tones, RATE / 4))
}

/// Tones (in hertz) one after the other, each fading over its length in samples.
fn wav(tones: &[u32], length: u32) -> Vec<u8> {
    let samples = tones.iter().flat_map(|hertz| {
        (0..length).map(move |at| {
            let phase = f64::from(at) * f64::from(*hertz) * std::f64::consts::TAU / f64::from(RATE);
            let loudness = 90.0 * (1.0 - f64::from(at) / f64::from(length));
            (128.0 + loudness * phase.sin()) as u8
        })
    });
    let data: Vec<u8> = samples.collect();
    let size = data.len() as u32;
    let mut file = Vec::with_capacity(44 + data.len());
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(36 + size).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    for field in [RATE, RATE] {
        file.extend_from_slice(&field.to_le_bytes());
    }
    file.extend_from_slice(b"\x01\0\x08\0data");
    file.extend_from_slice(&size.to_le_bytes());
    file.extend_from_slice(&data);
    file
}
