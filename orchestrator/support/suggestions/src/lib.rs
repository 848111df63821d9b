//! "Did you mean" proposals for error messages about unknown names.

/// The name that is nearest to the text by edit distance, ignoring case. `None` if more than a
/// third of the letters differ.
pub fn nearest<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = text.to_lowercase();
    let far = |name: &str| strsim::osa_distance(&lower, &name.to_lowercase());
    let (name, far) =
        names.into_iter().map(|name| (name, far(name))).min_by_key(|(_, far)| *far)?;
    (far * 3 <= text.chars().count()).then_some(name)
}

/// ` (did you mean NAME?)`, to append to an error message. Empty if no name is near.
pub fn did_you_mean<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(text, names).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_proposed_where_it_is_like_the_text() {
        let names = || ["oracle", "negative", "noop", "random"];
        for (text, expected) in [
            ("orcale", Some("oracle")),
            ("Noop", Some("noop")),
            ("radnom", Some("random")),
            ("negatve", Some("negative")),
            ("gpt", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, names()), expected, "{text}");
        }
        assert_eq!(did_you_mean("orcale", names()), " (did you mean `oracle`?)");
        assert_eq!(did_you_mean("gpt", names()), "");
    }
}
