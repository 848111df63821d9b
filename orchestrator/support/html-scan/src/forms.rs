//! The forms of an HTML document with their controls.

use html5gum::{StartTag, Token};

use crate::{attribute, tokens};

/// A form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// Its start tag.
    pub tag: StartTag<()>,
    /// The `href` of the first `base` before it.
    pub base: Option<String>,
    /// In the order of the document.
    pub controls: Vec<Control>,
}

/// An `input`, a `select` that is closed, or a `textarea`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    /// Its start tag.
    pub tag: StartTag<()>,
    /// Start tags of the options of a `select`.
    pub options: Vec<StartTag<()>>,
    /// What is written in a `textarea`.
    pub text: String,
}

impl Control {
    fn new(tag: StartTag<()>) -> Control {
        Control { tag, options: Vec::new(), text: String::new() }
    }
}

/// All forms of a document, in its order. As in browsers, a form within a form is none.
pub fn forms(html: &str) -> Vec<Form> {
    let (mut forms, mut open, mut base) = (Vec::new(), None::<Form>, None);
    let (mut select, mut in_textarea) = (None::<Control>, false);
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) => match tag.name.as_slice() {
                b"base" if base.is_none() => base = attribute(&tag, "href"),
                b"form" if open.is_none() => {
                    open = Some(Form { tag, base: base.clone(), controls: Vec::new() });
                }
                b"select" => select = Some(Control::new(tag)),
                b"option" => {
                    if let Some(select) = &mut select {
                        select.options.push(tag);
                    }
                }
                b"input" | b"textarea" => {
                    in_textarea = tag.name.as_slice() == b"textarea";
                    if let Some(form) = &mut open {
                        form.controls.push(Control::new(tag));
                    }
                }
                _ => {}
            },
            Token::String(text) if in_textarea => {
                if let Some(control) = open.as_mut().and_then(|form| form.controls.last_mut()) {
                    control.text.push_str(&String::from_utf8_lossy(&text));
                }
            }
            Token::EndTag(tag) => match tag.name.as_slice() {
                b"form" => forms.extend(open.take()),
                b"textarea" => in_textarea = false,
                b"select" => {
                    if let (Some(form), Some(select)) = (&mut open, select.take()) {
                        form.controls.push(select);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    forms.extend(open);
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_have_their_controls() {
        let html = "<input name=out><form id=a><base href=/x/><input name=b><form id=no>\
            <textarea name=c> d &amp;<e></textarea></form><base href=/y/>\
            <script>'<form>'</script><form id=f><select name=g><option value=1>one<option></select>";
        let found: Vec<String> = forms(html)
            .iter()
            .map(|form| {
                let name = |tag| attribute(tag, "name").unwrap_or_default();
                let controls = form.controls.iter().map(|control| {
                    format!("{}:{}:{}", name(&control.tag), control.text, control.options.len())
                });
                let controls: Vec<String> = controls.collect();
                let id = attribute(&form.tag, "id").unwrap_or_default();
                format!("{id} {:?} {}", form.base, controls.join(" "))
            })
            .collect();
        assert_eq!(found, ["a None b::0 c: d &<e>:0", "f Some(\"/x/\") g::2"]);
    }
}
