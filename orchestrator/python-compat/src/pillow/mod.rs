//! Pictures as Pillow handles them: `Image.open`, `resize` with its Lanczos filter, `convert("L")`.

mod decode;
mod png;
mod resample;

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
        match media_type(bytes) {
            Some("image/png") => png::open(bytes),
            Some("image/jpeg") => decode::jpeg(bytes),
            Some("image/webp") => decode::webp(bytes),
            Some("image/gif") => decode::gif(bytes),
            _ => Err(ImageError::NoPicture),
        }
    }

    /// A decoded picture, with as many pixels as its size asks for.
    fn of(
        width: u32,
        height: u32,
        channels: usize,
        pixels: Vec<u8>,
        indexed: bool,
    ) -> Result<Picture, ImageError> {
        let wanted = width as usize * height as usize * channels;
        let picture = Picture { width, height, channels, pixels, indexed };
        if picture.pixels.len() == wanted { Ok(picture) } else { Err(ImageError::Broken) }
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

/// The media type of a picture, by its first bytes.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 8] = [
        (png::SIGNATURE, "image/png"),
        (b"\xFF\xD8\xFF", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"GIF87a", "image/gif"),
        (b"MM\0*", "image/tiff"),
        (b"II*\0", "image/tiff"),
        (b"BM", "image/bmp"),
        (b"\0\0\x01\0", "image/x-icon"),
    ];
    // The length of the file, or of its first part, stands before these.
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    if bytes.get(4..12) == Some(b"ftypavif") {
        return Some("image/avif");
    }
    kinds.into_iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| kind)
}

/// The sides of a picture, unless it is too large to be opened.
fn check_size(width: usize, height: usize) -> Result<(u32, u32), ImageError> {
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(width), Ok(height)) if u64::from(width) * u64::from(height) <= MOST_PIXELS => {
            Ok((width, height))
        }
        _ => Err(ImageError::NoPicture),
    }
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
