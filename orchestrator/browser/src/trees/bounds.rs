//! The longest texts, and how they are cut.
//!
//! A text that is longer is cut, and says so at its end. Pages that people read have no such texts,
//! so observations of those are as other benchmarks write them.

use serde_json::Value;

/// The longest title, label, value or message, in bytes.
pub(crate) const LONGEST_TEXT: usize = 64 << 10;
/// The longest document or tree in one format, in bytes.
pub(crate) const LONGEST_FORMAT: usize = 16 << 20;
/// The longest text within a document, such as a script in it, in bytes.
pub(crate) const LONGEST_STRING: usize = 1 << 20;

/// Cuts a text to this length, if it is longer, and marks it.
pub(crate) fn cut(text: &mut String, longest: usize) {
    if text.len() > longest {
        let left_out = text.len() - longest;
        let mut end = longest;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(&format!("… [cut: {left_out} bytes more]"));
        text.shrink_to_fit();
    }
}

/// Cuts all texts in a value.
pub(crate) fn cut_all(value: &mut Value, longest: usize) {
    each_string(value, &mut |text| cut(text, longest));
}

/// Visits all texts in a value.
pub(crate) fn each_string(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_string(item, visit)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_string(field, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
