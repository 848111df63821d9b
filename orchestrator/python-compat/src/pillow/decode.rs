//! The decoders of pictures that are no PNG. Each gives the whole picture with eight bits a
//! channel; of a moving picture it is the first frame.

use std::io::Cursor;

use gif::{ColorOutput, DecodeOptions, MemoryLimit};
use image_webp::WebPDecoder;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{ImageError, Picture, check_size};

/// A JPEG: grey where it is recorded so, and else colours, also of one with four inks.
pub(super) fn jpeg(bytes: &[u8]) -> Result<Picture, ImageError> {
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(|_| ImageError::NoPicture)?;
    let (width, height) = decoder.dimensions().ok_or(ImageError::NoPicture)?;
    let (width, height) = check_size(width, height)?;
    let (colours, channels) = match decoder.input_colorspace() {
        Some(ColorSpace::Luma) => (ColorSpace::Luma, 1),
        _ => (ColorSpace::RGB, 3),
    };
    decoder.set_options(options.jpeg_set_out_colorspace(colours));
    let pixels = decoder.decode().map_err(|_| ImageError::Broken)?;
    Picture::of(width, height, channels, pixels, false)
}

/// A WebP, with or without loss.
pub(super) fn webp(bytes: &[u8]) -> Result<Picture, ImageError> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(|_| ImageError::NoPicture)?;
    let (width, height) = decoder.dimensions();
    let (width, height) = check_size(width as usize, height as usize)?;
    let channels = if decoder.has_alpha() { 4 } else { 3 };
    let mut pixels = vec![0; decoder.output_buffer_size().ok_or(ImageError::NoPicture)?];
    decoder.read_image(&mut pixels).map_err(|_| ImageError::Broken)?;
    Picture::of(width, height, channels, pixels, false)
}

/// A GIF. Its first frame may cover only a part of it; the rest is transparent.
pub(super) fn gif(bytes: &[u8]) -> Result<Picture, ImageError> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    // The size is checked here, by Pillow's bound.
    options.set_memory_limit(MemoryLimit::Unlimited);
    let mut decoder = options.read_info(bytes).map_err(|_| ImageError::NoPicture)?;
    let (width, height) = check_size(decoder.width().into(), decoder.height().into())?;
    let frame = decoder.read_next_frame().map_err(|_| ImageError::Broken)?;
    let frame = frame.ok_or(ImageError::Broken)?;
    let across = width as usize * 4;
    let mut pixels = vec![0; across * height as usize];
    let (left, wide) = (usize::from(frame.left) * 4, usize::from(frame.width) * 4);
    if wide > 0 && left < across {
        let rows = pixels.chunks_exact_mut(across).skip(frame.top.into());
        for (row, shown) in rows.zip(frame.buffer.chunks_exact(wide)) {
            let room = wide.min(across - left);
            row[left..left + room].copy_from_slice(&shown[..room]);
        }
    }
    Picture::of(width, height, 4, pixels, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A GIF of 3 x 2 whose only frame, of one white row, stands so far from its edge.
    fn file(left: u16, top: u16, width: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = gif::Encoder::new(&mut bytes, 3, 2, &[0, 0, 0, 255, 255, 255]).unwrap();
        let frame = gif::Frame {
            left,
            top,
            width,
            height: 1,
            buffer: vec![1; width.into()].into(),
            ..gif::Frame::default()
        };
        encoder.write_frame(&frame).unwrap();
        drop(encoder);
        bytes
    }

    #[test]
    fn a_frame_that_is_smaller_than_its_picture_keeps_its_place() {
        let grey = |left, top, width| gif(&file(left, top, width)).unwrap().grey();
        assert_eq!(grey(0, 0, 3), [255, 255, 255, 0, 0, 0]);
        assert_eq!(grey(1, 1, 2), [0, 0, 0, 0, 255, 255]);
        assert_eq!(grey(2, 1, 3), [0, 0, 0, 0, 0, 255]);
        assert_eq!(grey(3, 0, 1), [0; 6]);
        assert_eq!(grey(0, 2, 3), [0; 6]);
    }

    #[test]
    fn files_that_break_off_are_broken_and_no_pictures() {
        let whole = file(0, 0, 3);
        assert_eq!(gif(&whole[..9]), Err(ImageError::NoPicture));
        assert_eq!(gif(&whole[..whole.len() - 4]), Err(ImageError::Broken));
        for decode in [gif, jpeg, webp] {
            assert_eq!(decode(b"RIFF"), Err(ImageError::NoPicture));
        }
    }
}
