//! PNG, with the modes that Pillow gives it.

use lodepng::{ColorType, Decoder};

use super::{ImageError, Picture, check_size};

/// The first bytes of every PNG.
pub(super) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The length of that and of the chunk behind it, which says what the picture is like.
const HEADER: usize = 33;

/// Opens a file with that signature.
pub(super) fn open(bytes: &[u8]) -> Result<Picture, ImageError> {
    let mut decoder = Decoder::new();
    // Of a file that breaks off behind its header Pillow says so only later.
    let header = bytes.get(..HEADER).ok_or(ImageError::NoPicture)?;
    let (width, height) = decoder.inspect(header).map_err(|_| ImageError::NoPicture)?;
    let (width, height) = check_size(width, height)?;
    let colours = decoder.info_png().color.clone();
    // What a file says to be seen through, beside its pixels, changes nothing of its mode.
    let (channels, indexed) = match colours.colortype() {
        ColorType::GREY => (1, colours.bitdepth() == 1),
        ColorType::GREY_ALPHA => (2, false),
        ColorType::RGB => (3, false),
        ColorType::PALETTE => (3, true),
        _ => (4, false),
    };
    let picture = lodepng::decode32(bytes).map_err(|_| ImageError::Broken)?;
    let taken = |pixel: &lodepng::RGBA| {
        let lodepng::RGBA { r, g, b, a } = *pixel;
        match channels {
            1 => [r, 0, 0, 0],
            2 => [r, a, 0, 0],
            _ => [r, g, b, a],
        }
    };
    let pixels =
        picture.buffer.iter().flat_map(|pixel| taken(pixel).into_iter().take(channels)).collect();
    Ok(Picture { width, height, channels, pixels, indexed })
}
