//! An error with what caused it, as one line of text.

/// The text of an error and of its sources, from the outermost to the first cause.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let told = error.to_string();
        // Some errors tell their source's text themselves.
        if !text.ends_with(&told) {
            text.push_str(": ");
            text.push_str(&told);
        }
        source = error.source();
    }
    text
}
