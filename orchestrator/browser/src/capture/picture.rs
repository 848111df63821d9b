//! An element marked on a picture of its page.

use crate::observe::overlay;

/// The picture with a frame around these bounds: left, top, width and height in pixels. The part of
/// the frame that is outside of the picture is not drawn.
///
/// Nothing for what is no PNG file.
pub fn outlined(png: &[u8], bounds: [f64; 4]) -> Option<Vec<u8>> {
    let mut image = lodepng::decode24(png).ok()?;
    overlay::outline(&mut image, bounds);
    lodepng::encode24(&image.buffer, image.width, image.height).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_drawn_around_the_element_and_cut_at_the_edges() {
        let white = vec![lodepng::RGB { r: 255u8, g: 255, b: 255 }; 40 * 30];
        let png = lodepng::encode24(&white, 40, 30).unwrap();
        for bounds in
            [[10.0, 10.0, 12.0, 8.0], [-5.0, -5.0, 500.0, 500.0], [f64::NAN, 0.0, 1.0, 1.0]]
        {
            let drawn = lodepng::decode24(outlined(&png, bounds).unwrap()).unwrap();
            assert_eq!((drawn.width, drawn.height), (40, 30));
            let changed = drawn.buffer.iter().filter(|pixel| pixel.g != 255).count();
            assert_eq!(changed > 0, bounds[0] == 10.0, "{bounds:?}");
        }
        let drawn = lodepng::decode24(outlined(&png, [10.0, 10.0, 12.0, 8.0]).unwrap()).unwrap();
        assert_eq!(drawn.buffer[14 * 40 + 15].g, 255, "what is inside stays");
        assert!(outlined(b"no picture", [0.0; 4]).is_none());
    }
}
