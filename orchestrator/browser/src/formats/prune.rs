//! Pruned HTML: BrowserGym's `prune_html(flatten_dom_to_str(..))` (`browsergym/utils/obs.py`).
//! Documents of frames are inside their frames, and shadow roots inside their hosts. It has no
//! `html` and `body`, no `style`, `link`, `script` and `br`, and no `div`, `span`, `i` and `p` with
//! no attribute but their bid. Each tag or text has a line, as in Beautiful Soup's `prettify`:
//! attributes in alphabetical order, `pre` and `textarea` unchanged.
//!
//! Oddities of the original that are kept:
//!
//! - A line feed inside a text is a space.
//! - A text directly in an element that a filter leaves out is not shown.
//! - The contents of a `template` are not shown.
//!
//! Differences from the original:
//!
//! - It writes the HTML without escaping and parses it again (with lxml). That breaks attributes
//!   with double quotes, shows `::before`, and makes tags of what looks like one in a text or a
//!   `noscript`.
//! - It finds typed text because its marks write `value` and `checked` into the page. Here `input`
//!   and `textarea` show these attributes, and `option` shows `selected`, though the page does not
//!   have them.

use std::collections::{HashMap, HashSet};

use crate::trees::dom_snapshot::DomSnapshot;
use crate::{Properties, PrunedHtml};

const DROPPED: &[&str] = &["style", "link", "script", "br"];
const UNWRAPPED: &[&str] = &["div", "span", "i", "p"];
/// Not shown, but their contents are. The same holds for every `head` but the page's own, which the
/// original's parser finds misplaced.
const MISPLACED: &[&str] = &["html", "body"];
const LITERAL: &[&str] = &["pre", "textarea"];
/// Elements without an end tag.
const EMPTY: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "command", "embed", "frame", "hr", "image",
    "img", "input", "isindex", "keygen", "link", "menuitem", "meta", "nextid", "param", "source",
    "spacer", "track", "wbr",
];
/// Attributes with a list, whose spaces are not significant: of any element, and of certain ones.
const LISTS: &[&str] = &["class", "accesskey", "dropzone"];
const LISTS_OF: &[(&str, &[&str])] = &[
    ("a", &["rel", "rev"]),
    ("link", &["rel", "rev"]),
    ("td", &["headers"]),
    ("th", &["headers"]),
    ("form", &["accept-charset"]),
    ("object", &["archive"]),
    ("area", &["rel"]),
    ("icon", &["sizes"]),
    ("iframe", &["sandbox"]),
    ("output", &["for"]),
];

const ELEMENT: i64 = 1;
const TEXT: i64 = 3;

/// The pruned tree. Nodes have numbers, and the first is the document.
#[derive(Debug, Default)]
struct Html {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    kind: Kind,
    children: Vec<usize>,
}

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Document,
    Element {
        name: String,
        attributes: Vec<(String, String)>,
    },
    Text(String),
}

pub(crate) fn write(
    snapshot: &DomSnapshot,
    properties: &HashMap<String, Properties>,
    options: &PrunedHtml,
) -> String {
    Html::read(snapshot, properties, options).pretty()
}

/// Facts about a document's nodes, besides the nodes themselves.
struct NodeFacts {
    children: Vec<Vec<usize>>,
    frames: HashMap<usize, usize>,
    pseudo: HashSet<usize>,
    values: HashMap<usize, i64>,
    checked: HashSet<usize>,
    selected: HashSet<usize>,
}

enum Step {
    Node {
        document: usize,
        node: usize,
        /// Its parent in the pruned tree.
        under: usize,
        /// The element above is left out, and its texts with it.
        mute: bool,
    },
    /// A skipped element ends here, so the next text is another one.
    SplitText { under: usize },
}

impl Html {
    fn read(
        snapshot: &DomSnapshot,
        properties: &HashMap<String, Properties>,
        options: &PrunedHtml,
    ) -> Self {
        let mut html = Self { nodes: vec![Node::default()] };
        let facts: Vec<NodeFacts> = snapshot.documents.iter().map(NodeFacts::of).collect();
        let tree = options.as_tree();
        let mut entered: HashSet<usize> = HashSet::new();
        let mut has_head = false;
        let mut stack = vec![Step::Node { document: 0, node: 0, under: 0, mute: false }];
        while let Some(step) = stack.pop() {
            let (document, node, under, mute) = match step {
                Step::Node { document, node, under, mute } => (document, node, under, mute),
                Step::SplitText { under } => {
                    html.split_text(under);
                    continue;
                }
            };
            let (Some(of), Some(node_facts)) =
                (snapshot.documents.get(document), facts.get(document))
            else {
                continue;
            };
            let Some(&kind) = of.nodes.node_type.get(node) else { continue };
            let (mut under, mut mute_children) = (under, true);
            match kind {
                TEXT => {
                    let text =
                        of.nodes.node_value.get(node).and_then(|&text| snapshot.string(text));
                    if !mute {
                        html.text(under, text.unwrap_or_default());
                    }
                }
                ELEMENT if node_facts.pseudo.contains(&node) => continue,
                ELEMENT => {
                    let name = of.nodes.node_name.get(node).and_then(|&name| snapshot.string(name));
                    let name = name.unwrap_or_default().to_lowercase();
                    let written =
                        of.nodes.attributes.get(node).map(Vec::as_slice).unwrap_or_default();
                    let bid = snapshot.bid_of(written);
                    let element = bid.and_then(|bid| properties.get(bid));
                    if !tree.filters(bid, element) {
                        mute_children = false;
                        if DROPPED.contains(&&*name) {
                            html.split_text(under);
                            continue;
                        }
                        let passed = match &*name {
                            "head" => document > 0 || std::mem::replace(&mut has_head, true),
                            name => MISPLACED.contains(&name),
                        };
                        let mut attributes = own_attributes(snapshot, written);
                        node_facts.state(snapshot, node, &name, &mut attributes);
                        attributes.extend(tree.extras(element).iter().map(|extra| {
                            let (name, value) = extra.split_once('=').unwrap_or((extra, ""));
                            (name.to_owned(), value.trim_matches('"').to_owned())
                        }));
                        let shown = bid.filter(|_| !tree.hides_bid(element));
                        let bare =
                            shown.is_some() && attributes.is_empty() && UNWRAPPED.contains(&&*name);
                        attributes.extend(shown.map(|bid| ("bid".to_owned(), bid.to_owned())));
                        if passed || bare {
                            html.split_text(under);
                            stack.push(Step::SplitText { under });
                        } else {
                            under = html.element(under, name, attributes);
                        }
                    }
                }
                _ => {}
            }
            // The last one pushed is read first: a frame's document comes before the frame's other
            // contents.
            let children = node_facts.children.get(node).into_iter().flatten().rev();
            stack.extend(children.map(|&node| Step::Node {
                document,
                node,
                under,
                mute: mute_children,
            }));
            if let Some(&inner) =
                node_facts.frames.get(&node).filter(|inner| entered.insert(**inner))
            {
                stack.push(Step::Node { document: inner, node: 0, under, mute: false });
            }
        }
        html
    }

    fn add(&mut self, under: usize, kind: Kind) -> usize {
        self.nodes.push(Node { kind, children: Vec::new() });
        let number = self.nodes.len() - 1;
        self.nodes[under].children.push(number);
        number
    }

    fn element(&mut self, under: usize, name: String, attributes: Vec<(String, String)>) -> usize {
        self.add(under, Kind::Element { name, attributes })
    }

    /// Adjacent texts are one.
    fn text(&mut self, under: usize, text: &str) {
        let text = text.replace('\n', " ");
        let last = self.nodes[under].children.last().copied();
        match last.map(|last| &mut self.nodes[last].kind) {
            Some(Kind::Text(before)) => before.push_str(&text),
            _ => {
                self.add(under, Kind::Text(text));
            }
        }
    }

    /// The next text is another one.
    fn split_text(&mut self, under: usize) {
        self.add(under, Kind::Document);
    }

    fn pretty(&self) -> String {
        enum Next {
            Node { node: usize, depth: usize, literal: bool },
            End { name: String, depth: usize, literal: bool, leaves_literal: bool },
        }
        // A stack of its own: pages nest more deeply than calls may.
        let mut out = String::new();
        let children = |node: usize, depth: usize, literal: bool| {
            self.nodes[node].children.iter().rev().map(move |&node| Next::Node {
                node,
                depth,
                literal,
            })
        };
        let mut stack: Vec<Next> = children(0, 0, false).collect();
        while let Some(next) = stack.pop() {
            match next {
                Next::Node { node, depth, literal } => match &self.nodes[node].kind {
                    Kind::Document => {}
                    Kind::Text(text) if literal => out.push_str(&escaped(text)),
                    Kind::Text(text) => {
                        if !text.trim().is_empty() {
                            line(&mut out, depth, &escaped(text.trim()));
                        }
                    }
                    Kind::Element { name, attributes } => {
                        let empty =
                            EMPTY.contains(&&**name) && self.nodes[node].children.is_empty();
                        let tag = tag(name, attributes, empty);
                        let enters_literal = !literal && LITERAL.contains(&&**name);
                        if literal {
                            out.push_str(&tag);
                        } else if enters_literal {
                            out.extend(std::iter::repeat_n(' ', depth));
                            out.push_str(&tag);
                        } else {
                            line(&mut out, depth, &tag);
                        }
                        if !empty {
                            stack.push(Next::End {
                                name: name.clone(),
                                depth,
                                literal,
                                leaves_literal: enters_literal,
                            });
                            stack.extend(children(node, depth + 1, literal || enters_literal));
                        }
                    }
                },
                Next::End { name, depth, literal, leaves_literal } => {
                    let tag = format!("</{name}>");
                    if literal {
                        out.push_str(&tag);
                    } else if leaves_literal {
                        out.push_str(&tag);
                        out.push('\n');
                    } else {
                        line(&mut out, depth, &tag);
                    }
                }
            }
        }
        out
    }
}

impl NodeFacts {
    fn of(document: &crate::trees::dom_snapshot::DocumentSnapshot) -> Self {
        let nodes = &document.nodes;
        let values = [&nodes.input_value, &nodes.text_value];
        Self {
            children: document.children(),
            frames: nodes
                .content_document_index
                .index
                .iter()
                .copied()
                .zip(nodes.content_document_index.value.iter().copied())
                .collect(),
            pseudo: nodes.pseudo_type.index.iter().copied().collect(),
            values: values
                .iter()
                .flat_map(|values| values.index.iter().copied().zip(values.value.iter().copied()))
                .collect(),
            checked: nodes.input_checked.index.iter().copied().collect(),
            selected: nodes.option_selected.index.iter().copied().collect(),
        }
    }

    /// Shows an element's present state in its attributes.
    fn state(
        &self,
        snapshot: &DomSnapshot,
        node: usize,
        name: &str,
        attributes: &mut Vec<(String, String)>,
    ) {
        let mut set = |attribute: &str, value: Option<&str>| {
            attributes.retain(|(name, _)| name != attribute);
            attributes.extend(value.map(|value| (attribute.to_owned(), value.to_owned())));
        };
        match name {
            "input" | "textarea" => {
                if let Some(&value) = self.values.get(&node) {
                    set(
                        "value",
                        Some(&snapshot.string(value).unwrap_or_default().replace('\n', " ")),
                    );
                }
                set("checked", self.checked.contains(&node).then_some(""));
            }
            "option" => set("selected", self.selected.contains(&node).then_some("")),
            _ => {}
        }
    }
}

/// The attributes that the page gave an element.
fn own_attributes(snapshot: &DomSnapshot, written: &[i64]) -> Vec<(String, String)> {
    let pairs = written.chunks(2).filter_map(|pair| {
        let [name, value] = pair else { return None };
        let name = snapshot.string(*name)?.to_lowercase();
        let value = crate::trees::dom_snapshot::value_without_mark(
            &name,
            snapshot.string(*value).unwrap_or_default(),
        )?;
        Some((name, value.replace('\n', " ")))
    });
    pairs.collect()
}

fn line(out: &mut String, depth: usize, text: &str) {
    out.extend(std::iter::repeat_n(' ', depth));
    out.push_str(text);
    out.push('\n');
}

fn tag(name: &str, attributes: &[(String, String)], empty: bool) -> String {
    let mut sorted: Vec<&(String, String)> = attributes.iter().collect();
    sorted.sort();
    let mut tag = format!("<{name}");
    for (attribute, value) in sorted {
        let is_list = LISTS.contains(&&**attribute)
            || LISTS_OF.iter().any(|(of, lists)| *of == name && lists.contains(&&**attribute));
        let value = if is_list {
            value.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            value.clone()
        };
        let value = escaped(&value);
        tag.push_str(&match (value.contains('"'), value.contains('\'')) {
            (false, _) => format!(" {attribute}=\"{value}\""),
            (true, false) => format!(" {attribute}='{value}'"),
            (true, true) => format!(" {attribute}=\"{}\"", value.replace('"', "&quot;")),
        });
    }
    tag.push_str(if empty { "/>" } else { ">" });
    tag
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
