//! The length to which a text of an agent or a page is cut before a rule looks at it.

/// The longest text, in bytes, that is given to a judge or a program, or that a pattern which goes
/// back is tried on. A longer one does not match such a pattern.
pub const LONGEST_TEXT: usize = 64 << 10;

/// The beginning of a text, for judges and programs that cannot be given a text of any length.
pub fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
