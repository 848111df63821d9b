//! The counting of `:nth-child()` and its relatives.

use super::token::Cursor;

/// `even`, `odd`, `an+b` or `b`.
pub(super) fn steps(cursor: &mut Cursor<'_>) -> Option<(i128, i128)> {
    for (word, steps) in [("even", (2, 0)), ("odd", (2, 1))] {
        if let Some(start) = cursor.rest.get(..word.len())
            && start.eq_ignore_ascii_case(word)
        {
            cursor.rest = &cursor.rest[word.len()..];
            return Some(steps);
        }
    }
    let sign = sign(cursor).unwrap_or(1);
    let digits = cursor.digits();
    if !cursor.eat("n") && !cursor.eat("N") {
        return Some((0, sign * number(digits)?));
    }
    let a = sign * if digits.is_empty() { 1 } else { number(digits)? };
    let b = cursor.attempt(|ahead| {
        ahead.spaces_and_comments();
        let sign = self::sign(ahead)?;
        ahead.spaces_and_comments();
        let digits = ahead.digits();
        (!digits.is_empty()).then_some((sign, digits))
    });
    match b {
        Some((sign, digits)) => Some((a, sign * number(digits)?)),
        None => Some((a, 0)),
    }
}

fn sign(cursor: &mut Cursor<'_>) -> Option<i128> {
    if cursor.eat("-") { Some(-1) } else { cursor.eat("+").then_some(1) }
}

/// Numbers beyond any count of elements are as good as the largest.
fn number(digits: &str) -> Option<i128> {
    const LONGEST: usize = 4300;
    match digits.len() {
        0 => None,
        length if length > LONGEST => None,
        _ => Some(digits.parse().unwrap_or(i128::from(i64::MAX)).min(i128::from(i64::MAX))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        for (text, expect) in [
            ("EVEN", Some((2, 0))),
            ("-2n + 1", Some((-2, 1))),
            ("n", Some((1, 0))),
            ("+3", Some((0, 3))),
            ("- n", None),
            ("x", None),
        ] {
            assert_eq!(steps(&mut Cursor { rest: text }), expect, "{text}");
        }
    }
}
