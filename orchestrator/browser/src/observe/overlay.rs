//! Bids drawn on a picture: a dashed frame around each element, and a black tag with its bid on the
//! upper left corner. This follows BrowserGym's `overlay_som` (`browsergym/utils/obs.py`): four
//! pixels of line and eight of gap, two pixels wide; nothing for less than 20 square pixels. They
//! are drawn on the picture, not in the page. The font is our own, as high as theirs.

use lodepng::{Bitmap, RGB};

/// A picture without transparency, row by row from the top.
type Image = Bitmap<RGB<u8>>;

const DASH: i64 = 4;
const GAP: i64 = 8;
const SMALLEST: f64 = 20.0;
const BLACK: RGB<u8> = RGB { r: 0, g: 0, b: 0 };
const WHITE: RGB<u8> = RGB { r: 255, g: 255, b: 255 };
/// The space between a tag's edge and its text.
const MARGIN: i64 = 3;
/// The row of a glyph's seven for each of the nine that it is high.
const ROWS: [usize; 9] = [0, 1, 1, 2, 3, 4, 5, 5, 6];
const WIDTH: i64 = 5;

/// Draws bids on elements at their bounds: left, top, width and height in pixels of the picture.
pub(crate) fn draw(image: &mut Image, elements: &[(String, [f64; 4])]) {
    for (id, [x, y, width, height]) in elements {
        if width * height < SMALLEST || !width.is_finite() || !height.is_finite() {
            continue;
        }
        let (left, top) = (rounded(*x), rounded(*y));
        let (right, bottom) = (rounded(x + width), rounded(y + height));
        for start in (0..right - left).step_by((DASH + GAP) as usize) {
            let end = (start + DASH).min(right - left);
            fill(image, [left + start, top - 1, left + end, top], BLACK);
            fill(image, [right - end, bottom - 1, right - start, bottom], BLACK);
        }
        for start in (0..bottom - top).step_by((DASH + GAP) as usize) {
            let end = (start + DASH).min(bottom - top);
            fill(image, [right - 1, top + start, right, top + end], BLACK);
            fill(image, [left - 1, bottom - end, left, bottom - start], BLACK);
        }
        tag(image, id, left, rounded(*y));
    }
}

/// The colour of an outline: it stands out on white and on black.
const OUTLINE: RGB<u8> = RGB { r: 230, g: 40, b: 60 };
const OUTLINE_WIDTH: i64 = 3;

/// Draws a solid frame just outside of these bounds.
pub(crate) fn outline(image: &mut Image, [x, y, width, height]: [f64; 4]) {
    if ![x, y, width, height].iter().all(|side| side.is_finite()) {
        return;
    }
    let edge = |at: f64| rounded(at.clamp(-1e6, 1e6));
    let (left, top) = (edge(x) - OUTLINE_WIDTH, edge(y) - OUTLINE_WIDTH);
    let (right, bottom) =
        (edge(x + width) + OUTLINE_WIDTH - 1, edge(y + height) + OUTLINE_WIDTH - 1);
    let across = OUTLINE_WIDTH - 1;
    fill(image, [left, top, right, top + across], OUTLINE);
    fill(image, [left, bottom - across, right, bottom], OUTLINE);
    fill(image, [left, top, left + across, bottom], OUTLINE);
    fill(image, [right - across, top, right, bottom], OUTLINE);
}

fn tag(image: &mut Image, id: &str, left: i64, top: i64) {
    let letters = i64::try_from(id.chars().count()).unwrap_or(i64::MAX / 8);
    let width = letters * (WIDTH + 1) - 1 + 2 * MARGIN;
    let height = ROWS.len() as i64 + 2 * MARGIN;
    let top = top - height / 2 + 4;
    let (right, bottom) = (left + width - 1, top + height - 1);
    fill(image, [left, top, right, bottom], WHITE);
    fill(image, [left + 1, top + 1, right - 1, bottom - 1], BLACK);
    for (place, letter) in id.chars().enumerate() {
        let x = left + MARGIN + place as i64 * (WIDTH + 1);
        for (row, &shown) in ROWS.iter().enumerate() {
            let bits = glyph(letter)[shown];
            for column in (0..WIDTH).filter(|column| bits & (0b10000 >> column) != 0) {
                let (x, y) = (x + column, top + MARGIN + row as i64);
                fill(image, [x, y, x, y], WHITE);
            }
        }
    }
}

/// Fills the part of a rectangle that is on the picture, its last column and row included.
fn fill(image: &mut Image, [left, top, right, bottom]: [i64; 4], colour: RGB<u8>) {
    let clipped = |from: i64, to: i64, size: usize| {
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        (from.clamp(0, size) as usize)..((to + 1).clamp(0, size) as usize)
    };
    let columns = clipped(left, right, image.width);
    for y in clipped(top, bottom, image.height) {
        let row = y * image.width;
        if let Some(pixels) =
            image.buffer.get_mut(row + columns.start..row + columns.end.max(columns.start))
        {
            pixels.fill(colour);
        }
    }
}

/// Clamped to a value far outside of any picture.
#[expect(clippy::cast_possible_truncation, reason = "it is clamped")]
fn rounded(place: f64) -> i64 {
    place.round().clamp(-1e6, 1e6) as i64
}

/// Five pixels a row, the left one in the highest bit.
fn glyph(letter: char) -> [u8; 7] {
    match letter {
        '0' => [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
        '1' => [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
        '2' => [0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f],
        '3' => [0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e],
        '4' => [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
        '5' => [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
        '6' => [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
        '7' => [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
        '8' => [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
        '9' => [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
        'A' => [0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11],
        'B' => [0x1e, 0x11, 0x11, 0x1e, 0x11, 0x11, 0x1e],
        'C' => [0x0e, 0x11, 0x10, 0x10, 0x10, 0x11, 0x0e],
        'D' => [0x1e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1e],
        'E' => [0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f],
        'F' => [0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x10],
        'G' => [0x0e, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0f],
        'H' => [0x11, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11],
        'I' => [0x0e, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e],
        'J' => [0x07, 0x02, 0x02, 0x02, 0x02, 0x12, 0x0c],
        'K' => [0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11],
        'L' => [0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x1f],
        'M' => [0x11, 0x1b, 0x15, 0x15, 0x11, 0x11, 0x11],
        'N' => [0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11],
        'O' => [0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e],
        'P' => [0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10, 0x10],
        'Q' => [0x0e, 0x11, 0x11, 0x11, 0x15, 0x12, 0x0d],
        'R' => [0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11],
        'S' => [0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e],
        'T' => [0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04],
        'U' => [0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e],
        'V' => [0x11, 0x11, 0x11, 0x11, 0x11, 0x0a, 0x04],
        'W' => [0x11, 0x11, 0x11, 0x15, 0x15, 0x1b, 0x11],
        'X' => [0x11, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0x11],
        'Y' => [0x11, 0x11, 0x0a, 0x04, 0x04, 0x04, 0x04],
        'Z' => [0x1f, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1f],
        'a' => [0x00, 0x00, 0x0e, 0x01, 0x0f, 0x11, 0x0f],
        'b' => [0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x1e],
        'c' => [0x00, 0x00, 0x0e, 0x10, 0x10, 0x10, 0x0e],
        'd' => [0x01, 0x01, 0x0f, 0x11, 0x11, 0x11, 0x0f],
        'e' => [0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e],
        'f' => [0x06, 0x08, 0x1e, 0x08, 0x08, 0x08, 0x08],
        'g' => [0x00, 0x0f, 0x11, 0x11, 0x0f, 0x01, 0x0e],
        'h' => [0x10, 0x10, 0x1e, 0x11, 0x11, 0x11, 0x11],
        'i' => [0x04, 0x00, 0x0c, 0x04, 0x04, 0x04, 0x0e],
        'j' => [0x02, 0x00, 0x06, 0x02, 0x02, 0x12, 0x0c],
        'k' => [0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12],
        'l' => [0x0c, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0e],
        'm' => [0x00, 0x00, 0x1a, 0x15, 0x15, 0x15, 0x15],
        'n' => [0x00, 0x00, 0x1e, 0x11, 0x11, 0x11, 0x11],
        'o' => [0x00, 0x00, 0x0e, 0x11, 0x11, 0x11, 0x0e],
        'p' => [0x00, 0x1e, 0x11, 0x11, 0x1e, 0x10, 0x10],
        'q' => [0x00, 0x0f, 0x11, 0x11, 0x0f, 0x01, 0x01],
        'r' => [0x00, 0x00, 0x16, 0x18, 0x10, 0x10, 0x10],
        's' => [0x00, 0x00, 0x0f, 0x10, 0x0e, 0x01, 0x1e],
        't' => [0x08, 0x08, 0x1e, 0x08, 0x08, 0x08, 0x06],
        'u' => [0x00, 0x00, 0x11, 0x11, 0x11, 0x11, 0x0f],
        'v' => [0x00, 0x00, 0x11, 0x11, 0x11, 0x0a, 0x04],
        'w' => [0x00, 0x00, 0x11, 0x15, 0x15, 0x15, 0x0a],
        'x' => [0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11],
        'y' => [0x00, 0x11, 0x11, 0x0f, 0x01, 0x11, 0x0e],
        'z' => [0x00, 0x00, 0x1f, 0x02, 0x04, 0x08, 0x1f],
        _ => [0x1f; 7],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_and_a_tag_are_drawn() {
        let (width, height) = (46, 30);
        let grey = RGB { r: 128, g: 128, b: 128 };
        let mut image = Image { width, height, buffer: vec![grey; width * height] };
        draw(
            &mut image,
            &[
                ("a07".to_owned(), [4.0, 10.0, 37.6, 15.0]),
                ("9".to_owned(), [1.0, 1.0, 3.0, 3.0]),
                ("12".to_owned(), [-5.0, 27.0, 1e9, 40.0]),
            ],
        );
        let row = |pixels: &[RGB<u8>]| -> String {
            pixels.iter().map(|pixel| ['#', '.', ' '][usize::from(pixel.r.div_ceil(128))]).collect()
        };
        let rows: Vec<String> = image.buffer.chunks_exact(width).map(row).collect();
        insta::assert_snapshot!(rows.join("\n"));
    }
}
