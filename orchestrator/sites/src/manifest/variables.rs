//! Environment variables in the values of a manifest.

/// Replaces the variables `${NAME}` in a text. The error names the missing variable.
pub(super) fn filled(text: &str) -> Result<String, String> {
    filled_by(text, |name| std::env::var(name).ok())
}

fn filled_by(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) =
            after.split_once('}').ok_or_else(|| format!("`{text}` has a `${{` without `}}`"))?;
        let value = variable(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| format!("${{{name}}} is not set; set {name} in the environment"))?;
        done = done + before + &value;
        rest = after;
    }
    Ok(done + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_what_is_missing_is_told_with_its_cure() {
        let variable = |name: &str| match name {
            "MAPS" => Some("/srv/maps".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        assert_eq!(filled_by("data", variable).unwrap(), "data");
        assert_eq!(filled_by("${MAPS}/car/${MAPS}", variable).unwrap(), "/srv/maps/car//srv/maps");
        for (text, message) in [
            ("${NONE}/car", "${NONE} is not set; set NONE in the environment"),
            ("${EMPTY}", "${EMPTY} is not set; set EMPTY in the environment"),
            ("${MAPS", "`${MAPS` has a `${` without `}`"),
        ] {
            assert_eq!(filled_by(text, variable).unwrap_err(), message);
        }
    }
}
