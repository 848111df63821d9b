//! The readable part of a submission's URL.

/// At most 60 lower-case letters, digits and hyphens. `-` if the title has none of them.
pub(super) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for letter in title.to_lowercase().chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if letter != '\'' && !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 60 {
            // Cut between words if there are several.
            if let Some((whole, _)) = slug.rsplit_once('-') {
                slug.truncate(whole.len());
            }
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "-".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn slugs_are_addresses() {
        assert_eq!(slug("Friendly reminder: bookshop's open!"), "friendly-reminder-bookshops-open");
        assert_eq!(slug("???"), "-");
        assert_eq!(slug("Ünïcode only: ŝŭ"), "n-code-only");
        assert!(slug(&"word ".repeat(50)).len() <= 60);
        assert!(slug(&"x".repeat(500)).len() <= 60);
    }
}
