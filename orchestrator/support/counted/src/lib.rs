//! Formats a number with the noun that it counts.

use std::fmt::Display;

/// `1 page`, `2 pages`. `noun` is a singular with a plural in s.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_not_many() {
        assert_eq!(
            ["0 pages", "1 page", "2 pages"],
            [0, 1, 2].map(|number| counted(number, "page"))
        );
    }
}
