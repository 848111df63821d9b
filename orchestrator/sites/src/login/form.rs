//! Parses the HTML forms of a page, with the values that a browser would send if nobody changed
//! them.

use html_scan::{Control, StartTag, attribute};

/// A form with the values that it sends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    /// The URL that it is sent to, relative to its page; the page itself if empty.
    pub(super) action: String,
    pub(super) post: bool,
    /// Names and values, in the order of the page. Buttons are not included, because a browser
    /// sends only the one that is pressed.
    pub(super) fields: Vec<(String, String)>,
}

impl Form {
    /// Whether the `action` of a manifest refers to this form.
    pub(super) fn is(&self, action: &str) -> bool {
        let path = self.action.split(['?', '#']).next().unwrap_or_default();
        self.id.as_deref() == Some(action)
            || self.name.as_deref() == Some(action)
            || path == action
            || self.action == action
    }

    /// Sets the value of a field. Adds the field if the page does not have it.
    pub(super) fn fill(&mut self, name: &str, value: &str) {
        match self.fields.iter_mut().find(|(own, _)| own == name) {
            Some(field) => value.clone_into(&mut field.1),
            None => self.fields.push((name.to_owned(), value.to_owned())),
        }
    }
}

/// Parses all forms of a page.
pub(super) fn forms(page: &str) -> Vec<Form> {
    html_scan::forms(page).into_iter().map(form).collect()
}

fn form(html_scan::Form { tag, controls, .. }: html_scan::Form) -> Form {
    let tag = &tag;
    Form {
        id: attribute(tag, "id"),
        name: attribute(tag, "name"),
        action: attribute(tag, "action").unwrap_or_default().trim().to_owned(),
        post: attribute(tag, "method").is_some_and(|method| method.eq_ignore_ascii_case("post")),
        fields: controls.into_iter().filter_map(sent).collect(),
    }
}

/// Returns what a control sends.
fn sent(control: Control) -> Option<(String, String)> {
    match control.tag.name.as_slice() {
        b"select" => Some((attribute(&control.tag, "name")?, chosen(&control.options)?)),
        b"textarea" => Some((attribute(&control.tag, "name")?, control.text)),
        _ => input(&control.tag),
    }
}

/// Returns what an input sends; `None` for a button, a file, or an unchecked box.
fn input(tag: &StartTag<()>) -> Option<(String, String)> {
    let (name, given) = (attribute(tag, "name")?, |name| attribute(tag, name));
    let kind = given("type").unwrap_or_default().to_ascii_lowercase();
    let value = given("value");
    match kind.as_str() {
        "submit" | "button" | "image" | "reset" | "file" => None,
        "checkbox" | "radio" => given("checked").map(|_| (name, value.unwrap_or("on".to_owned()))),
        _ => Some((name, value.unwrap_or_default())),
    }
}

/// The selected option of a `<select>`, or else the first one.
fn chosen(options: &[StartTag<()>]) -> Option<String> {
    let is_selected = |option: &&StartTag<()>| attribute(option, "selected").is_some();
    let option = options.iter().rfind(is_selected).or(options.first())?;
    Some(attribute(option, "value").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<html><script>"<form id=fake>"</script>
<form id="search" action="/search"><input name=q></form>
<FORM name='login' method=POST action="/login?next=%2F&amp;x=1">
  <input type="hidden" name="csrf" value="a&quot;b"><input name=user><input type=password name=pass>
  <input type=checkbox name=keep value=1 checked><input type=checkbox name=other>
  <select name=zone><option value=1>one<option value=2 selected>two</select>
  <select name=lang><option value=en>English<option value=de>Deutsch</select>
  <textarea name=note>a &lt; b</textarea>
  <input type=submit name=go value=Go>
</form>"#;

    #[test]
    fn a_form_sends_what_a_browser_would() {
        let forms = forms(PAGE);
        assert_eq!(forms.iter().map(|form| form.post).collect::<Vec<_>>(), [false, true]);
        let login = &forms[1];
        assert!(login.is("login") && login.is("/login") && !login.is("search"));
        assert_eq!(login.action, "/login?next=%2F&x=1");
        let fields: Vec<(&str, &str)> =
            login.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let wanted = [
            ("csrf", "a\"b"),
            ("user", ""),
            ("pass", ""),
            ("keep", "1"),
            ("zone", "2"),
            ("lang", "en"),
            ("note", "a < b"),
        ];
        assert_eq!(fields, wanted);
    }

    #[test]
    fn filling_in_replaces_and_adds() {
        let mut login = forms(PAGE).remove(1);
        login.fill("user", "emma");
        login.fill("go", "Go");
        assert!(login.fields.contains(&("user".to_owned(), "emma".to_owned())));
        assert_eq!(login.fields.last(), Some(&("go".to_owned(), "Go".to_owned())));
    }
}
