//! The page of an instance: the template with its variables filled in, inside the form that its answers are sent by.
//!
//! As Turkle does it (`Project.populate_html_template` in `turkle/models.py`, and its page around a task): `${name}` becomes the cell as it is,
//! nothing escaped; everything is in one form, so that forms of the template's own do not count; and where the template has nothing to send the form by,
//! a button follows.

use crate::parts::sends;

/// The whole page. `inputs` are names with what stands for them; a variable that has no input stays as it is. The form is sent to `action`.
pub fn page<'a>(
    template: &str,
    inputs: impl IntoIterator<Item = (&'a str, &'a str)>,
    action: &str,
) -> String {
    let inputs: Vec<(&str, &str)> = inputs.into_iter().collect();
    let filled = fill(template, &inputs);
    let button = if sends(template) {
        ""
    } else {
        "\n<p><input type=\"submit\" id=\"submitButton\" value=\"Submit\"></p>"
    };
    format!(
        "<!DOCTYPE html>
<html>
<head><meta charset=\"utf-8\"></head>
<body>
<form name=\"mturk_form\" id=\"mturk_form\" method=\"post\" action=\"{action}\">
{filled}{button}
</form>
</body>
</html>
"
    )
}

/// In one go, so that what a cell brings along is not filled in again.
fn fill(template: &str, inputs: &[(&str, &str)]) -> String {
    let (mut done, mut rest) = (String::with_capacity(template.len()), template);
    while let Some(at) = rest.find("${") {
        let (before, variable) = rest.split_at(at);
        done.push_str(before);
        let name = variable[2..].split_once('}').map(|(name, _)| name);
        match name.and_then(|name| inputs.iter().find(|(known, _)| *known == name)) {
            Some((name, value)) => {
                done.push_str(value);
                rest = &variable[name.len() + 3..];
            }
            None => {
                done.push_str("${");
                rest = &variable[2..];
            }
        }
    }
    done + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_once_and_as_they_are() {
        let inputs = [("a", "<b>&${b}</b>"), ("b", ""), ("a b", "x")];
        let check = |template: &str, expect: &str| assert_eq!(fill(template, &inputs), expect);
        check("${a}|${b}|${a b}|$a", "<b>&${b}</b>||x|$a");
        check("`${i + 1}` ${a", "`${i + 1}` ${a");
        check("${${b}}", "${}");
    }

    #[test]
    fn a_button_follows_where_there_is_none() {
        let has = |template: &str| page(template, [], "/t/0").matches("submitButton").count();
        assert_eq!(has("<p>Hm</p>"), 1);
        assert_eq!(has("<INPUT class='a'\n type = 'submit'>"), 0);
        assert_eq!(has("<input type=text> type=submit"), 1);
        assert!(page("", [], "/t/0").contains("method=\"post\" action=\"/t/0\""));
    }
}
