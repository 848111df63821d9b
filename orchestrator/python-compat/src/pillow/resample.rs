//! `Image.resize`: Pillow's fixed-point filters, so that every pixel comes out as there
//! (`src/libImaging/Resample.c`, `Geometry.c`, `Convert.c`).

use super::Picture;

/// Bits behind the point of a coefficient.
const PRECISION: u32 = 32 - 8 - 2;
/// How far the filter reaches, in pixels of the smaller picture.
const SUPPORT: f64 = 3.0;

/// The pixels that make one pixel: the first of them, and how much of each.
struct Mix {
    first: usize,
    weights: Vec<i32>,
}

/// The pixels of the nearest places.
pub(super) fn nearest(picture: &Picture, width: u32, height: u32) -> Vec<u8> {
    let places = |from: u32, to: u32| {
        let step = f64::from(from) / f64::from(to);
        // Steps are added up, as there.
        let places = std::iter::successors(Some(step * 0.5), move |place| Some(place + step));
        places.take(to as usize).map(|place| place as usize).collect::<Vec<usize>>()
    };
    let (columns, channels) = (places(picture.width, width), picture.channels);
    let row_length = picture.width as usize * channels;
    let mut pixels = Vec::with_capacity(width as usize * height as usize * channels);
    for row in places(picture.height, height) {
        for column in &columns {
            let at = row * row_length + column * channels;
            pixels.extend_from_slice(&picture.pixels[at..at + channels]);
        }
    }
    pixels
}

/// The pixels by the Lanczos filter, first along rows, then along columns, each rounded.
pub(super) fn lanczos(picture: &Picture, width: u32, height: u32) -> Vec<u8> {
    let channels = picture.channels;
    let mut pixels = picture.pixels.clone();
    if width != picture.width {
        let mixes = mixes(picture.width, width);
        let row_length = picture.width as usize * channels;
        pixels = pixels
            .chunks_exact(row_length)
            .flat_map(|row| mix(row, &mixes, channels, channels))
            .collect();
    }
    if height != picture.height {
        // A row of pixels is mixed as one pixel is, channel by channel.
        let row_length = width as usize * channels;
        pixels = mix(&pixels, &mixes(picture.height, height), row_length, row_length);
    }
    pixels
}

/// Mixes pixels of so many channels that stand so far apart.
fn mix(pixels: &[u8], mixes: &[Mix], channels: usize, apart: usize) -> Vec<u8> {
    let mut mixed = Vec::with_capacity(mixes.len() * channels);
    let mut sums = vec![0_i32; channels];
    for Mix { first, weights } in mixes {
        sums.fill(1 << (PRECISION - 1));
        for (pixel, weight) in pixels[first * apart..].chunks_exact(apart).zip(weights) {
            for (sum, value) in sums.iter_mut().zip(pixel) {
                *sum += i32::from(*value) * weight;
            }
        }
        mixed.extend(sums.iter().map(|sum| (sum >> PRECISION).clamp(0, 255) as u8));
    }
    mixed
}

/// `precompute_coeffs` and `normalize_coeffs_8bpc`.
fn mixes(from: u32, to: u32) -> Vec<Mix> {
    let scale = f64::from(from) / f64::from(to);
    let stretch = scale.max(1.0);
    let reach = SUPPORT * stretch;
    let mix = |place: u32| {
        let centre = (f64::from(place) + 0.5) * scale;
        let first = (centre - reach + 0.5).max(0.0) as usize;
        let end = ((centre + reach + 0.5) as usize).min(from as usize);
        let weight = |at: usize| filter((at as f64 - centre + 0.5) * (1.0 / stretch));
        let weights: Vec<f64> = (first..end).map(weight).collect();
        let whole: f64 = weights.iter().sum();
        let fixed = |weight: f64| {
            let weight =
                if whole == 0.0 { weight } else { weight / whole } * f64::from(1 << PRECISION);
            (weight + if weight < 0.0 { -0.5 } else { 0.5 }) as i32
        };
        Mix { first, weights: weights.into_iter().map(fixed).collect() }
    };
    (0..to).map(mix).collect()
}

/// The Lanczos filter.
fn filter(x: f64) -> f64 {
    if (-SUPPORT..SUPPORT).contains(&x) { sinc(x) * sinc(x / SUPPORT) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let x = x * std::f64::consts::PI;
    x.sin() / x
}

/// `convert("RGBa")`: what is seen of colours through their opacity.
pub(super) fn multiply_opacity(picture: &Picture) -> Vec<u8> {
    let mut pixels = picture.pixels.clone();
    for pixel in pixels.chunks_exact_mut(picture.channels) {
        let Some((opacity, colours)) = pixel.split_last_mut() else { continue };
        for colour in colours {
            let product = u32::from(*colour) * u32::from(*opacity) + 128;
            *colour = (((product >> 8) + product) >> 8) as u8;
        }
    }
    pixels
}

/// `convert("RGBA")`: the way back.
pub(super) fn divide_opacity(mut pixels: Vec<u8>, channels: usize) -> Vec<u8> {
    for pixel in pixels.chunks_exact_mut(channels) {
        let Some((&mut opacity, colours)) = pixel.split_last_mut() else { continue };
        if opacity == 0 || opacity == 255 {
            continue;
        }
        for colour in colours {
            *colour = (255 * u32::from(*colour) / u32::from(opacity)).min(255) as u8;
        }
    }
    pixels
}
