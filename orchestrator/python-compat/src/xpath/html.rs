//! HTML as libxml2 2.14 reads it, which is what lxml gives its trees from.
//!
//! The text is split as HTML 5 says, but the tree is libxml2's own: `html`, `head` and `body` are
//! implied where they are missing, some start tags close what is open, and end tags close what is
//! not more important than they are.

use super::source::{Attributes, Source, is_space};
use super::tags::{EMPTY, Mode, closes, content, importance};
use crate::tree::{Element, Kind, NodeId, Tree};

/// So many elements may be in each other; what would be the next ends the page.
const DEPTH_LIMIT: usize = 256;

/// How far a page has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    Begun,
    Head,
    Body,
}

struct Parser<'a> {
    source: Source<'a>,
    tree: Tree,
    open: Vec<(String, NodeId)>,
    stage: Stage,
    /// Start tags of `html`, `head` and `body` that were passed over, whose end tags are to be as
    /// well.
    passed_over: usize,
    mode: Mode,
    stopped: bool,
}

/// `htmlParseDocument`.
pub(super) fn parse(html: &str) -> Tree {
    let mut parser = Parser {
        source: Source::new(html),
        tree: Tree::new(),
        open: Vec::new(),
        stage: Stage::Begun,
        passed_over: 0,
        mode: Mode::Plain,
        stopped: false,
    };
    parser.prolog();
    if parser.source.is_doctype() {
        parser.source.skip_past('>');
    }
    parser.prolog();
    while !parser.stopped && !parser.source.rest.is_empty() {
        parser.piece();
    }
    parser.tree
}

impl Parser<'_> {
    /// Comments and processing instructions before anything else.
    fn prolog(&mut self) {
        loop {
            self.source.skip_space();
            if !self.source.rest.starts_with("<!--") && !self.source.rest.starts_with("<?") {
                return;
            }
            self.markup();
        }
    }

    fn piece(&mut self) {
        if self.mode == Mode::Plain && self.source.rest.starts_with('<') {
            self.markup();
        } else {
            let name = self.open.last().map_or("", |(name, _)| name);
            let (text, is_whole) = self.source.text(self.mode, name);
            self.text(&text);
            if is_whole {
                self.mode = Mode::Plain;
            }
        }
    }

    fn markup(&mut self) {
        let rest = self.source.rest;
        if rest.starts_with("</") {
            self.end_tag();
        } else if self.source.is_doctype() {
            self.source.skip_past('>');
        } else if rest.starts_with("<!--") {
            let comment = self.source.comment();
            self.add(Kind::Comment(comment));
        } else if rest.starts_with("<!") {
            self.bogus_comment(2);
        } else if rest.starts_with("<?") {
            self.bogus_comment(1);
        } else if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.element();
        } else {
            self.source.skip(1);
            self.begin_text();
            self.characters("<");
        }
    }

    fn bogus_comment(&mut self, from: usize) {
        self.source.skip(from);
        let comment = self.source.until_end_of_tag();
        self.add(Kind::Comment(comment));
    }

    fn current(&self) -> NodeId {
        self.open.last().map_or(0, |(_, id)| *id)
    }

    fn name(&self) -> Option<&str> {
        self.open.last().map(|(name, _)| name.as_str())
    }

    fn add(&mut self, kind: Kind) -> NodeId {
        self.tree.add(self.current(), kind)
    }

    fn push(&mut self, name: &str, attributes: Attributes) {
        if self.open.len() >= DEPTH_LIMIT {
            self.stopped = true;
            return;
        }
        match name {
            "head" if self.stage < Stage::Head => self.stage = Stage::Head,
            "body" if self.stage < Stage::Body => self.stage = Stage::Body,
            _ => {}
        }
        let id = self.add(Kind::Element(Element { name: name.to_owned(), attributes }));
        self.open.push((name.to_owned(), id));
    }

    /// Text outside of everything is dropped; next to other text it is one with it.
    fn characters(&mut self, text: &str) {
        let parent = self.current();
        if parent == 0 || text.is_empty() {
            return;
        }
        let last = self.tree.node(parent).children.last().copied();
        match last.filter(|&last| matches!(self.tree.node(last).kind, Kind::Text(_))) {
            Some(last) => self.tree.extend(last, text),
            None => drop(self.add(Kind::Text(text.to_owned()))),
        }
    }

    /// `htmlCharDataSAXCallback`: outside of the body only white space may stand.
    fn text(&mut self, text: &str) {
        let is_marked_up = matches!(self.mode, Mode::Plain | Mode::References);
        let mut text = text;
        if is_marked_up && matches!(self.name(), None | Some("html" | "head")) {
            let content = text.trim_start_matches(is_space);
            self.characters(&text[..text.len() - content.len()]);
            if content.is_empty() {
                return;
            }
            text = content;
            self.begin_text();
        }
        self.characters(text);
    }

    fn begin_text(&mut self) {
        if self.name() == Some("head") {
            self.close_for("p");
        }
        self.imply("p");
    }

    /// `htmlAutoClose`
    fn close_for(&mut self, new: &str) {
        while self.name().is_some_and(|open| closes(new, open)) {
            self.open.pop();
        }
    }

    /// `htmlCheckImplied`
    fn imply(&mut self, new: &str) {
        if new == "html" {
            return;
        }
        if self.open.is_empty() {
            self.push("html", Vec::new());
        }
        if matches!(new, "body" | "head") {
            return;
        }
        let belongs_in_head =
            matches!(new, "script" | "style" | "meta" | "link" | "title" | "base");
        if self.open.len() <= 1 && belongs_in_head {
            if self.stage < Stage::Head {
                self.push("head", Vec::new());
            }
        } else if !matches!(new, "noframes" | "frame" | "frameset")
            && self.stage < Stage::Body
            && !self.open.iter().any(|(name, _)| matches!(name.as_str(), "body" | "head"))
        {
            self.push("body", Vec::new());
        }
    }

    fn element(&mut self) {
        self.start_tag();
        let Some(name) = self.name().map(str::to_owned) else { return };
        if self.source.eat("/>") {
            self.open.pop();
        } else if self.source.eat(">") {
            if EMPTY.contains(&name.as_str()) {
                self.open.pop();
            } else {
                self.mode = content(&name);
            }
        }
    }

    /// `htmlParseStartTag`: up to, but without the end of the tag.
    fn start_tag(&mut self) {
        self.mode = Mode::Plain;
        self.source.skip(1);
        let name = self.source.name(false);
        self.close_for(&name);
        self.imply(&name);
        let is_misplaced = match name.as_str() {
            "html" => usize::from(!self.open.is_empty()),
            "head" => usize::from(self.open.len() != 1),
            "body" => self.open.iter().filter(|(open, _)| open == "body").count(),
            _ => 0,
        };
        self.passed_over += is_misplaced;
        let attributes = self.source.attributes();
        if is_misplaced == 0 && !self.source.rest.is_empty() {
            self.push(&name, attributes);
        }
    }

    /// `htmlParseEndTag`
    fn end_tag(&mut self) {
        self.mode = Mode::Plain;
        self.source.skip(2);
        let Some(first) = self.source.rest.chars().next() else {
            self.begin_text();
            return self.characters("</");
        };
        if first == '>' {
            return self.source.skip(1);
        }
        if !first.is_ascii_alphabetic() {
            return self.bogus_comment(0);
        }
        let name = self.source.name(false);
        self.source.attributes();
        if !self.source.eat(">") && !self.source.eat("/>") {
            return;
        }
        if self.passed_over > 0 && matches!(name.as_str(), "html" | "body" | "head") {
            self.passed_over -= 1;
            return;
        }
        let Some(place) = self.open.iter().rposition(|(open, _)| *open == name) else { return };
        let is_in_the_way = |(open, _): &(String, NodeId)| importance(open) > importance(&name);
        if !self.open[place + 1..].iter().any(is_in_the_way) {
            self.open.truncate(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::tree::{Kind, NodeId, Tree};

    fn write(tree: &Tree, id: NodeId, out: &mut String) {
        for &child in &tree.node(id).children {
            match &tree.node(child).kind {
                Kind::Element(element) => {
                    out.push_str(&format!("{}(", element.name));
                    write(tree, child, out);
                    out.push(')');
                }
                Kind::Text(text) => out.push_str(text),
                Kind::Comment(text) => out.push_str(&format!("!{text}!")),
                _ => {}
            }
        }
    }

    #[test]
    fn builds_the_trees_of_libxml2() {
        for (html, expect) in [
            ("<p>one<p>two", "html(body(p(one)p(two)))"),
            ("<ul><li>a<ul><li>b</ul><li>c</ul>", "html(body(ul(li(aul(li(b)))li(c))))"),
            ("<b><p>x</b>y</p>", "html(body(b()p(xy)))"),
            ("<title>a</title>b", "html(head(title(a))body(b))"),
            ("<table><tr><td>1<td>2</table>", "html(body(table(tr(td(1)td(2)))))"),
            ("<!--c--><html><body><body>x</body>y</body></html> ", "!c!html(body(xy))"),
            ("<div></span></div x='>'>y<br/><i/>z", "html(body(div()ybr()i()z))"),
            (
                "<script>a<b></scr</script ><p>&notit;&#65;<3</ x>",
                "html(head(script(a<b></scr))body(p(¬it;A<3! x!)))",
            ),
            ("<form><div></form>x", "html(body(form(div(x))))"),
            ("<p", "html(body())"),
        ] {
            let mut out = String::new();
            write(&parse(html), 0, &mut out);
            assert_eq!(out, expect, "{html}");
        }
    }
}
