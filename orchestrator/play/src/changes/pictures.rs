//! Compares the pictures of a page, and keeps them beside the report.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};
use std::{fs, io};

use camino::Utf8Path;
use lodepng::RGB;
use serde::Serialize;
use similar::{Algorithm, capture_diff_slices_deadline};

/// The largest height of a kept picture, in pixels. The rest is cut off.
const HIGHEST: usize = 3000;
/// Side of the squares that are compared, in pixels.
const SQUARE: usize = 32;
/// The greatest difference, from 0 to 255, of two values of a colour that count as equal. Text is
/// drawn smoothly.
const NEAR: u8 = 24;

/// The visible differences between two pictures of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PictureChange {
    /// The file of the old picture, in the folder of pictures. Absent if the page was not shown.
    pub old: Option<String>,
    /// The file of the new picture.
    pub new: Option<String>,
    /// Share of the squares that differ, from 0 to 1.
    pub share: f64,
    /// The areas that differ in the new picture: left, top, width and height, from 0 to 1.
    pub boxes: Vec<[f64; 4]>,
}

struct Image {
    pixels: Vec<RGB<u8>>,
    width: usize,
    height: usize,
}

impl Image {
    /// A number for each line of pixels; equal lines have equal numbers.
    fn lines(&self) -> Vec<u64> {
        let number = |line: &[RGB<u8>]| {
            let mut hasher = DefaultHasher::new();
            line.iter().for_each(|pixel| [pixel.r, pixel.g, pixel.b].hash(&mut hasher));
            hasher.finish()
        };
        self.pixels.chunks_exact(self.width.max(1)).map(number).collect()
    }
}

/// Writes both pictures of a page with this number. An empty one is none. `None` if there is no
/// picture.
pub(super) fn write(
    folder: &Utf8Path,
    number: usize,
    old: Vec<u8>,
    new: Vec<u8>,
) -> io::Result<Option<PictureChange>> {
    let (old, new) = (read(&old), read(&new));
    if old.is_none() && new.is_none() {
        return Ok(None);
    }
    let differing = match (&old, &new) {
        (Some(old), Some(new)) => differing(old, new),
        _ => Vec::new(),
    };
    let rows = new.as_ref().map_or(0, |image| image.height.div_ceil(SQUARE));
    let columns = new.as_ref().map_or(0, |image| image.width.div_ceil(SQUARE));
    let keep = |image: Option<Image>, side: &str| -> io::Result<Option<String>> {
        let Some(image) = image else { return Ok(None) };
        let name = format!("{:04}-{side}.png", number + 1);
        // Encoded again, because `read` has cut off the bottom of high pages.
        let png = lodepng::encode24(&image.pixels, image.width, image.height)
            .map_err(io::Error::other)?;
        fs::write(folder.join(&name), png)?;
        Ok(Some(name))
    };
    let boxes = match &new {
        Some(image) => boxes(&differing, image.width, image.height),
        None => Vec::new(),
    };
    Ok(Some(PictureChange {
        old: keep(old, "old")?,
        new: keep(new, "new")?,
        share: differing.len() as f64 / (rows * columns).max(1) as f64,
        boxes,
    }))
}

/// Decodes a picture, cut off at the bottom. `None` if it is no PNG.
fn read(png: &[u8]) -> Option<Image> {
    let image = lodepng::decode24(png).ok()?;
    let height = image.height.min(HIGHEST);
    let mut pixels = image.buffer;
    pixels.truncate(image.width * height);
    Some(Image { pixels, width: image.width, height })
}

/// The squares of the new picture that differ, by column and row. What has only moved up or down
/// does not differ; what lies outside the old picture does.
fn differing(old: &Image, new: &Image) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let lines = aligned(old, new);
    for row in 0..new.height.div_ceil(SQUARE) {
        for column in 0..new.width.div_ceil(SQUARE) {
            if square_differs(old, new, &lines, column * SQUARE, row * SQUARE) {
                found.push((column, row));
            }
        }
    }
    found
}

/// The line of the old picture that each line of the new one is compared with. `None` if it is new.
fn aligned(old: &Image, new: &Image) -> Vec<Option<usize>> {
    /// The time limit for the search for the best alignment.
    const LONGEST: Duration = Duration::from_secs(2);
    let (ours, theirs) = (old.lines(), new.lines());
    let deadline = Some(Instant::now() + LONGEST);
    let steps = capture_diff_slices_deadline(Algorithm::Myers, &ours, &theirs, deadline);
    let mut lines = vec![None; new.height];
    for step in steps {
        let (_, from, to) = step.as_tag_tuple();
        // Of what was replaced, lines are compared one by one.
        to.zip(from).for_each(|(new, old)| lines[new] = Some(old));
    }
    lines
}

fn square_differs(
    old: &Image,
    new: &Image,
    lines: &[Option<usize>],
    left: usize,
    top: usize,
) -> bool {
    let (right, bottom) = ((left + SQUARE).min(new.width), (top + SQUARE).min(new.height));
    if right > old.width {
        return true;
    }
    (top..bottom).any(|y| {
        let Some(before) = lines[y] else { return true };
        let ours = &old.pixels[before * old.width + left..before * old.width + right];
        let theirs = &new.pixels[y * new.width + left..y * new.width + right];
        ours.iter().zip(theirs).any(|(a, b)| !is_near(*a, *b))
    })
}

fn is_near(a: RGB<u8>, b: RGB<u8>) -> bool {
    a.r.abs_diff(b.r) <= NEAR && a.g.abs_diff(b.g) <= NEAR && a.b.abs_diff(b.b) <= NEAR
}

/// Boxes around the squares: neighbours in a row are one box, and equal boxes of neighbouring rows
/// too.
fn boxes(squares: &[(usize, usize)], width: usize, height: usize) -> Vec<[f64; 4]> {
    let mut runs: Vec<(usize, usize, usize, usize)> = Vec::new();
    for &(column, row) in squares {
        match runs.last_mut() {
            Some((_, right, _, bottom)) if *right == column && *bottom == row + 1 => *right += 1,
            _ => runs.push((column, column + 1, row, row + 1)),
        }
    }
    let mut joined: Vec<(usize, usize, usize, usize)> = Vec::new();
    for (left, right, top, bottom) in runs {
        let above = joined.iter_mut().find(|(l, r, _, b)| (*l, *r, *b) == (left, right, top));
        match above {
            Some((_, _, _, end)) => *end = bottom,
            None => joined.push((left, right, top, bottom)),
        }
    }
    let (width, height) = (width.max(1) as f64, height.max(1) as f64);
    let place = |at: usize, size: f64| ((at * SQUARE) as f64 / size).min(1.0);
    let sides = |(left, right, top, bottom): (usize, usize, usize, usize)| {
        let (x, y) = (place(left, width), place(top, height));
        [x, y, place(right, width) - x, place(bottom, height) - y]
    };
    joined.into_iter().map(sides).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A grey picture with a rectangle of white pixels.
    fn png(width: usize, height: usize, white: [usize; 4]) -> Vec<u8> {
        let [left, top, right, bottom] = white;
        let pixels = (0..width * height).map(|at| {
            let (x, y) = (at % width, at / width);
            let is_white = (left..right).contains(&x) && (top..bottom).contains(&y);
            let value: u8 = if is_white { 255 } else { 128 };
            RGB { r: value, g: value, b: value }
        });
        lodepng::encode24(&pixels.collect::<Vec<_>>(), width, height).unwrap()
    }

    fn change(old: Vec<u8>, new: Vec<u8>) -> Option<PictureChange> {
        let folder = tempfile::tempdir().unwrap();
        write(Utf8Path::from_path(folder.path()).unwrap(), 0, old, new).unwrap()
    }

    #[test]
    fn what_differs_has_one_box() {
        let plain = png(128, 128, [0; 4]);
        let found = change(plain.clone(), png(128, 128, [40, 40, 90, 70])).unwrap();
        // Squares 1 and 2 of both directions.
        assert_eq!((found.share, found.boxes), (4.0 / 16.0, vec![[0.25, 0.25, 0.5, 0.5]]));
        let same = change(plain.clone(), plain.clone()).unwrap();
        assert_eq!((same.share, same.boxes.len()), (0.0, 0));
        let longer = change(plain.clone(), png(128, 256, [0; 4])).unwrap();
        assert_eq!((longer.share, longer.boxes), (0.5, vec![[0.0, 0.5, 1.0, 0.5]]));
        // Every line is another grey. 32 of them come in at the top.
        let lines = |first: u8| {
            let pixels = (0..64 * 128).map(|at| first + (at / 64) as u8).map(|value| RGB {
                r: value,
                g: value,
                b: value,
            });
            lodepng::encode24(&pixels.collect::<Vec<_>>(), 64, 128).unwrap()
        };
        let moved = change(lines(50), lines(18)).unwrap();
        assert_eq!((moved.share, moved.boxes), (0.25, vec![[0.0, 0.0, 1.0, 0.25]]));
        let gone = change(plain, Vec::new()).unwrap();
        assert_eq!((gone.old.is_some(), gone.new), (true, None));
        assert_eq!(change(Vec::new(), b"no PNG".to_vec()), None);
    }

    #[test]
    fn a_very_high_picture_is_cut() {
        let found = change(png(32, 40, [0; 4]), png(32, 4000, [0; 4])).unwrap();
        let lines = HIGHEST.div_ceil(SQUARE);
        assert_eq!(found.share, (lines - 1) as f64 / lines as f64);
    }
}
