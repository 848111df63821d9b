//! Counts in one byte: small ones exactly, larger ones in eight steps for each doubling.

/// How many codes a frequency may have.
pub(crate) const TF_CODES: usize = 256;
/// How many codes a length may have.
pub(crate) const LENGTH_CODES: usize = 160;

/// The code of a weighted frequency of a word. Exact below 64.
pub(crate) fn tf_code(frequency: u32) -> u8 {
    coded(frequency, 6)
}

/// The frequency of a code.
pub(crate) fn tf_of(code: u8) -> u32 {
    decoded(code, 6)
}

/// The code of a page's length in words. Exact below 16.
pub(crate) fn length_code(length: u32) -> u8 {
    coded(length.min(1 << 21), 4)
}

/// The length of a code.
pub(crate) fn length_of(code: u8) -> u32 {
    decoded(code, 4)
}

/// `exact`: the numbers below 2^exact are their own code.
fn coded(number: u32, exact: u32) -> u8 {
    if number < 1 << exact {
        return number as u8;
    }
    let exponent = number.ilog2();
    let code = (1 << exact) + (exponent - exact) * 8 + ((number >> (exponent - 3)) & 7);
    code.min(255) as u8
}

fn decoded(code: u8, exact: u32) -> u32 {
    let code = u32::from(code);
    let Some(steps) = code.checked_sub(1 << exact) else { return code };
    let exponent = (exact + steps / 8).min(28);
    (8 + steps % 8) << (exponent - 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_keep_their_order_and_nearly_their_size() {
        let mut last = (0, 0);
        for number in (0..5000).chain((5000..2_000_000).step_by(997)) {
            let codes = (tf_code(number), length_code(number));
            assert!(codes.0 >= last.0 && codes.1 >= last.1, "{number}");
            for near in [tf_of(codes.0), length_of(codes.1)] {
                assert!(near <= number && number - near <= number / 8, "{number} as {near}");
            }
            last = codes;
        }
        assert!(usize::from(length_code(u32::MAX)) < LENGTH_CODES);
        assert_eq!((tf_of(63), tf_of(tf_code(64)), length_of(15)), (63, 64, 15));
        for code in 0..=255 {
            let _ = (tf_of(code), length_of(code));
        }
    }
}
