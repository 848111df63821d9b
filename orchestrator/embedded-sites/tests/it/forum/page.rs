//! A small HTML parser that reads our pages by selector, as an evaluator does.

use std::fmt::Write;

/// An element, or a text (without a name).
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) children: Vec<Node>,
}

const VOID: [&str; 8] = ["meta", "link", "input", "img", "br", "hr", "!DOCTYPE", "col"];

/// Parses a page. Panics if tags are not well nested, because our pages are well-formed.
pub(crate) fn parse(html: &str) -> Node {
    let mut open = vec![Node::default()];
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        push_text(&mut open, &rest[..at]);
        rest = &rest[at + 1..];
        let end = tag_end(rest);
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().unwrap();
            assert_eq!(closed.name, name.trim(), "an element closed too early or too late");
            open.last_mut().unwrap().children.push(closed);
        } else {
            let node = element(tag);
            if VOID.contains(&node.name.as_str()) || tag.ends_with('/') {
                open.last_mut().unwrap().children.push(node);
            } else {
                open.push(node);
            }
        }
    }
    push_text(&mut open, rest);
    assert_eq!(open.len(), 1, "{} was never closed", open.last().unwrap().name);
    open.pop().unwrap()
}

fn tag_end(rest: &str) -> usize {
    let mut quoted = false;
    for (at, letter) in rest.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '>' if !quoted => return at,
            _ => {}
        }
    }
    panic!("a tag without end: {rest:.60}");
}

fn push_text(open: &mut [Node], text: &str) {
    if !text.is_empty() {
        open.last_mut().unwrap().children.push(Node { text: unescape(text), ..Node::default() });
    }
}

fn element(tag: &str) -> Node {
    let name = tag.split_whitespace().next().unwrap().to_owned();
    let mut attributes = Vec::new();
    let mut rest = tag[name.len()..].trim_start();
    while !rest.is_empty() {
        let end = rest.find(['=', ' ', '\n']).unwrap_or(rest.len());
        let key = rest[..end].to_owned();
        rest = &rest[end..];
        let mut value = String::new();
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let end = quoted.find('"').unwrap();
            value = unescape(&quoted[..end]);
            rest = &quoted[end + 1..];
        }
        rest = rest.trim_start();
        attributes.push((key, value));
    }
    Node { name, attributes, ..Node::default() }
}

fn unescape(text: &str) -> String {
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        .iter()
        .fold(text.to_owned(), |text, (entity, letter)| text.replace(entity, letter))
}

impl Node {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All elements that match a `selector`: `tag`, `.class`, `#id`, `tag.class`, combined by
    /// blanks or `>`.
    pub(crate) fn all(&self, selector: &str) -> Vec<&Node> {
        let steps: Vec<&str> = selector.split_whitespace().collect();
        let mut found = Vec::new();
        self.walk(&steps, &mut found);
        found
    }

    fn walk<'a>(&'a self, steps: &[&str], found: &mut Vec<&'a Node>) {
        for child in &self.children {
            if child.is(steps[0]) {
                match steps {
                    [_] => found.push(child),
                    [_, ">", last] => {
                        found.extend(child.children.iter().filter(|node| node.is(last)))
                    }
                    [_, rest @ ..] => child.walk(rest, found),
                    [] => {}
                }
            }
            child.walk(steps, found);
        }
    }

    fn is(&self, simple: &str) -> bool {
        let (head, class) = simple.split_once('.').unwrap_or((simple, ""));
        let (name, id) = head.split_once('#').unwrap_or((head, ""));
        let classes = self.attribute("class").unwrap_or("");
        !self.name.is_empty()
            && (name.is_empty() || self.name == name)
            && (id.is_empty() || self.attribute("id") == Some(id))
            && (class.is_empty() || classes.split_whitespace().any(|one| one == class))
    }

    /// The first match, as in `document.querySelector`.
    pub(crate) fn one(&self, selector: &str) -> &Node {
        self.all(selector).into_iter().next().unwrap_or_else(|| panic!("no {selector} on the page"))
    }

    /// All text in the element, with white space collapsed.
    pub(crate) fn inner(&self) -> String {
        let mut text = String::new();
        self.gather(&mut text);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn gather(&self, text: &mut String) {
        if self.name != "script" && self.name != "style" {
            let _ = write!(text, "{}", self.text);
            self.children.iter().for_each(|child| child.gather(text));
        }
    }

    /// The value of a field: an input's value or a textarea's text.
    pub(crate) fn value(&self) -> String {
        match self.name.as_str() {
            "textarea" => self.children.iter().map(|child| child.text.as_str()).collect(),
            _ => self.attribute("value").unwrap_or("").to_owned(),
        }
    }
}
