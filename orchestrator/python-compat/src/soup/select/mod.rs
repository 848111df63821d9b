//! The elements that a selector matches, as in soupsieve's `CSSMatch`, in an HTML tree without
//! namespaces.
//!
//! Every part of a selector is worked out for all elements at once, from its left end to its right,
//! so that the work is the size of the page times the size of the selector whatever either looks
//! like.

mod direction;
mod forms;
mod language;
mod local;
mod range;
mod states;
mod text;

use super::css::{Combinator, Complex, Compound, List, Nth, Test};
use crate::tree::{NodeId, Tree};

/// One truth value a node.
pub(super) type Set = Vec<bool>;

/// The first element of the page that a selector means.
pub(super) fn first(tree: &Tree, list: &List) -> Option<NodeId> {
    Page::new(tree).list(list).iter().position(|&found| found)
}

/// How many elements of the page a selector means.
pub(super) fn count(tree: &Tree, list: &List) -> usize {
    Page::new(tree).list(list).iter().filter(|&&found| found).count()
}

/// A page and what of it selectors can see.
pub(super) struct Page<'a> {
    pub(super) tree: &'a Tree,
    /// All elements but those inside a `template`, which is another document.
    pub(super) visible: Set,
    /// The first element of the document.
    pub(super) root: Option<NodeId>,
}

impl<'a> Page<'a> {
    fn new(tree: &'a Tree) -> Page<'a> {
        let mut visible = vec![false; tree.len()];
        for id in 1..tree.len() {
            let parent = tree.parent(id).unwrap_or(0);
            let reachable =
                parent == 0 || (visible[parent] && tree.name(parent) != Some("template"));
            visible[id] = reachable && tree.element(id).is_some();
        }
        Page { tree, visible, root: tree.elements(0).next() }
    }

    /// The visible elements of which something is so.
    pub(super) fn set(&self, is_so: impl Fn(NodeId) -> bool) -> Set {
        self.visible.iter().enumerate().map(|(id, &visible)| visible && is_so(id)).collect()
    }

    /// Returns the parent of an element, but not the document.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.tree.parent(id).filter(|&parent| parent != 0)
    }

    pub(super) fn list(&self, list: &List) -> Set {
        let mut all = vec![false; self.tree.len()];
        for complex in &list.alternatives {
            for (found, more) in all.iter_mut().zip(self.complex(complex)) {
                *found |= more;
            }
        }
        all
    }

    fn complex(&self, complex: &Complex) -> Set {
        let mut reached = self.visible.clone();
        for (compound, combinator) in &complex.before {
            reached = self.lying(&self.compound(compound, reached), *combinator);
        }
        self.compound(&complex.subject, reached)
    }

    /// Those of some elements that a compound is true of.
    fn compound(&self, compound: &Compound, mut among: Set) -> Set {
        if compound.never {
            among.fill(false);
        }
        for test in &compound.tests {
            match test {
                Test::Nth(nth) => keep(&mut among, &self.nth(nth)),
                Test::Any(list) => keep(&mut among, &self.list(list)),
                Test::Not(list) => {
                    let unwanted = self.list(list);
                    among.iter_mut().zip(unwanted).for_each(|(kept, unwanted)| *kept &= !unwanted);
                }
                Test::Has(related) => keep(&mut among, &self.has(related)),
                Test::Contains { texts, own } => keep(&mut among, &self.containing(texts, *own)),
                Test::Lang(ranges) => keep(&mut among, &self.in_language(ranges)),
                Test::Dir(direction) => keep(&mut among, &self.directed(*direction)),
                Test::State(state) => keep(&mut among, &self.state(*state)),
                Test::OtherNamespace => among.fill(false),
                Test::Name(_) | Test::Id(_) | Test::Class(_) | Test::Attribute(_) => {
                    for (id, kept) in among.iter_mut().enumerate().filter(|(_, kept)| **kept) {
                        *kept = self
                            .tree
                            .element(id)
                            .is_some_and(|element| local::is_true(test, element));
                    }
                }
            }
        }
        among
    }

    /// The elements that lie to the right of others.
    fn lying(&self, left: &Set, combinator: Combinator) -> Set {
        let mut right = vec![false; left.len()];
        match combinator {
            Combinator::Descendant | Combinator::Child => {
                let deep = combinator == Combinator::Descendant;
                for id in 1..left.len() {
                    if let Some(parent) = self.parent(id).filter(|_| self.visible[id]) {
                        right[id] = left[parent] || (deep && right[parent]);
                    }
                }
            }
            Combinator::Following | Combinator::Next => {
                let far = combinator == Combinator::Following;
                for parent in 0..left.len() {
                    let mut before = false;
                    for id in self.tree.elements(parent).filter(|&id| self.visible[id]) {
                        right[id] = before;
                        before = left[id] || (far && before);
                    }
                }
            }
        }
        right
    }

    /// The elements that others lie to the right of.
    fn has(&self, related: &[(Combinator, Compound)]) -> Set {
        let mut all = vec![false; self.tree.len()];
        for (combinator, compound) in related {
            let right = self.compound(compound, self.visible.clone());
            let mut left = vec![false; right.len()];
            match combinator {
                Combinator::Descendant | Combinator::Child => {
                    let deep = *combinator == Combinator::Descendant;
                    for id in (1..right.len()).rev() {
                        if let Some(parent) = self.parent(id).filter(|_| self.visible[id]) {
                            left[parent] |= right[id] || (deep && left[id]);
                        }
                    }
                }
                Combinator::Following | Combinator::Next => {
                    let far = *combinator == Combinator::Following;
                    for parent in 0..right.len() {
                        let mut after = false;
                        for id in self.tree.elements(parent).rev().filter(|&id| self.visible[id]) {
                            left[id] = after;
                            after = right[id] || (far && after);
                        }
                    }
                }
            }
            all.iter_mut().zip(left).for_each(|(found, more)| *found |= more);
        }
        all
    }

    fn nth(&self, nth: &Nth) -> Set {
        let counted = nth.of.as_ref().map_or_else(|| self.visible.clone(), |list| self.list(list));
        let mut found = vec![false; self.tree.len()];
        for parent in 0..self.tree.len() {
            let siblings = self.tree.elements(parent).filter(|&id| counted[id]);
            let siblings: Vec<NodeId> =
                if nth.from_end { siblings.rev().collect() } else { siblings.collect() };
            let mut counts = std::collections::HashMap::new();
            for id in siblings {
                let kind = if nth.of_type { self.tree.name(id) } else { None };
                let place = counts.entry(kind).or_insert(0_i128);
                *place += 1;
                found[id] = match nth.a {
                    0 => *place == nth.b,
                    a => (*place - nth.b) % a == 0 && (*place - nth.b) / a >= 0,
                };
            }
        }
        found
    }
}

fn keep(among: &mut Set, wanted: &Set) {
    among.iter_mut().zip(wanted).for_each(|(kept, wanted)| *kept &= wanted);
}

#[cfg(test)]
mod tests {
    use super::super::{parse, select_one};

    const PAGE: &str = "<!doctype html><html lang=en><head><title>Boats</title></head><body>\
        <ul id=m class='menu big'><li class=i>One<li class='i on'>Two</ul>\
        <form><label>Name<input name=n type=TEXT placeholder=p></label><select><option>a<option selected>b</select>\
        <fieldset disabled><input id=q></fieldset><button>Go</button><template><i id=t></i></template></form>\
        <p dir=rtl id=x:1>last</p></body></html>";

    /// The start tag of what is found.
    fn check(selector: &str, expect: &str) {
        let tree = parse(PAGE).expect("a page");
        let found = select_one(&tree, selector).and_then(|id| tree.element(id)).map(|element| {
            let id = element.attribute("id").map(|id| format!("#{id}"));
            format!("{}{}", element.name, id.unwrap_or_default())
        });
        assert_eq!(found.as_deref().unwrap_or("-"), expect, "{selector}");
    }

    #[test]
    fn finds_what_soupsieve_finds() {
        for (selector, expect) in [
            ("*", "html"),
            (":root", "html"),
            (".big > li > LI", "li"),
            ("li:not(.on) li.on:last-child", "li"),
            ("title + body", "-"),
            ("ul ~ p", "p#x:1"),
            (r"#x\:1", "p#x:1"),
            ("[type=text]", "input"),
            ("[class~=big]", "ul#m"),
            ("ul:has(> .i)", "ul#m"),
            ("body > :nth-last-child(1 of p, form)", "p#x:1"),
            (":nth-child(2)", "body"),
            ("label:-soup-contains(Name)", "label"),
            (":disabled", "fieldset"),
            ("input:disabled", "input#q"),
            ("option:checked", "option"),
            ("button:default", "button"),
            (":placeholder-shown", "input"),
            ("p:lang(en):dir(rtl)", "p#x:1"),
            ("#t, template:empty", "template"),
            ("a:hover", "-"),
            ("::before", "-"),
        ] {
            check(selector, expect);
        }
    }
}
