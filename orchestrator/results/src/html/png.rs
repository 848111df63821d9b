//! Reads the size of PNG images.

/// Width and height from the header of a PNG file.
pub(crate) fn dimensions(png: &[u8]) -> Option<(u32, u32)> {
    let head = png.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let (width, height) = (number(8)?, number(12)?);
    (head.get(4..8)? == b"IHDR" && width > 0 && height > 0).then_some((width, height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    pub(crate) fn dimensions_are_read_from_the_head_only() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x05\0\0\0\x02\xd0".to_vec();
        assert_eq!(dimensions(&png), Some((1280, 720)));
        png.truncate(20);
        assert_eq!(dimensions(&png), None);
        assert_eq!(dimensions(b"GIF89a"), None);
    }
}
