//! Pictures as Pillow handles them: `Image.open`, `resize` with its Lanczos filter, `convert("L")`.

mod png;
mod resample;

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};

/// More pixels than this are a `DecompressionBombError`.
const MOST_PIXELS: u64 = 178_956_970;

/// A picture in memory, eight bits a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// 1 grey, 2 grey and opacity, 3 colours, 4 colours and opacity.
    channels: usize,
    /// Row by row.
    pixels: Vec<u8>,
    /// A palette or black and white: Pillow's modes `P` and `1`, which are not filtered when their
    /// size changes.
    indexed: bool,
}

/// Why there is no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageError {
    /// `Image.open` raises: these are no picture's first bytes.
    NoPicture,
    /// It opens, and raises when its pixels are needed.
    Broken,
}

impl Picture {
    /// `Image.open(..)`, and what it opens. Of moving pictures it is the first.
    pub fn open(bytes: &[u8]) -> Result<Picture, ImageError> {
        if bytes.starts_with(png::SIGNATURE) {
            return png::open(bytes);
        }
        let mut reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|_| ImageError::NoPicture)?;
        let indexed = reader.format().ok_or(ImageError::NoPicture)? == ImageFormat::Gif;
        reader.limits(Limits::no_limits());
        let decoder = reader.into_decoder().map_err(|_| ImageError::NoPicture)?;
        let (width, height) = decoder.dimensions();
        check_size(width, height)?;
        let picture = DynamicImage::from_decoder(decoder).map_err(|_| ImageError::Broken)?;
        let (channels, pixels) = match picture {
            DynamicImage::ImageLuma8(grey) => (1, grey.into_raw()),
            DynamicImage::ImageLumaA8(grey) => (2, grey.into_raw()),
            DynamicImage::ImageRgb8(colours) => (3, colours.into_raw()),
            colours => (4, colours.into_rgba8().into_raw()),
        };
        Ok(Picture { width, height, channels, pixels, indexed })
    }

    /// `resize((width, height), Image.LANCZOS)`.
    pub fn resize(&self, width: u32, height: u32) -> Picture {
        if (width, height) == (self.width, self.height) {
            return self.clone();
        }
        let pixels = if self.indexed {
            resample::nearest(self, width, height)
        } else if self.channels.is_multiple_of(2) {
            let faded = Picture { pixels: resample::multiply_opacity(self), ..self.clone() };
            resample::divide_opacity(resample::lanczos(&faded, width, height), self.channels)
        } else {
            resample::lanczos(self, width, height)
        };
        Picture { width, height, pixels, ..*self }
    }

    /// The pixels of `convert("L")`: the luma of ITU-R 601-2, opacity left out.
    pub fn grey(&self) -> Vec<u8> {
        let luma = |pixel: &[u8]| match pixel {
            &[red, green, blue, ..] => {
                let sum =
                    19595 * u32::from(red) + 38470 * u32::from(green) + 7471 * u32::from(blue);
                ((sum + 0x8000) >> 16) as u8
            }
            &[grey, ..] => grey,
            [] => 0,
        };
        self.pixels.chunks_exact(self.channels).map(luma).collect()
    }
}

/// Whether a picture of this size is opened.
fn check_size(width: u32, height: u32) -> Result<(), ImageError> {
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MOST_PIXELS { Err(ImageError::NoPicture) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, channels: usize, pixels: &[u8]) -> Picture {
        Picture { width, height, channels, pixels: pixels.to_vec(), indexed: false }
    }

    #[test]
    fn bytes_that_are_no_picture_do_not_open() {
        assert_eq!(Picture::open(b"<html></html>"), Err(ImageError::NoPicture));
        assert_eq!(Picture::open(b""), Err(ImageError::NoPicture));
        let grey: Vec<u8> = (0..1200).map(|at| (at * 7) as u8).collect();
        let mut png =
            lodepng::encode_memory(&grey, 40, 30, lodepng::ColorType::GREY, 8).expect("a PNG");
        assert_eq!(
            Picture::open(&png).map(|picture| (picture.width, picture.grey())),
            Ok((40, grey))
        );
        png.truncate(png.len() - 20);
        assert_eq!(Picture::open(&png), Err(ImageError::Broken));
    }

    #[test]
    fn colours_become_grey_by_their_luma() {
        let colours = picture(4, 1, 3, &[255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(colours.grey(), [76, 150, 29, 255]);
        assert_eq!(picture(2, 1, 4, &[10, 10, 10, 0, 20, 20, 20, 255]).grey(), [10, 20]);
    }

    /// The output of Pillow 13 for the same pixels.
    #[test]
    fn sizes_change_as_in_pillow() {
        let row = picture(4, 1, 1, &[0, 255, 0, 255]);
        assert_eq!(row.resize(8, 1).pixels, [0, 64, 222, 219, 36, 33, 191, 255]);
        assert_eq!(row.resize(2, 1).pixels, [101, 154]);
        assert_eq!(row.resize(4, 1).pixels, row.pixels);
        let faded = picture(2, 1, 2, &[200, 255, 100, 0]);
        assert_eq!(faded.resize(4, 1).pixels, [235, 255, 199, 196, 203, 59, 0, 0]);
        let indexed = Picture { indexed: true, ..row };
        assert_eq!(indexed.resize(6, 1).pixels, [0, 255, 255, 0, 0, 255]);
    }
}
