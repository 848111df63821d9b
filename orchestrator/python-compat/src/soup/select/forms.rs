//! The pseudo-classes that depend on a whole form: its default button, the checked radio button and
//! the chosen option.

use std::collections::{HashMap, HashSet};

use super::{Page, Set};
use crate::tree::{Element, NodeId};

/// The forms of a page.
#[derive(Default)]
struct Forms {
    /// The form of each `input` and `button`.
    owners: HashMap<NodeId, Option<NodeId>>,
    /// The first submit button of each form.
    defaults: HashMap<NodeId, NodeId>,
    /// The last radio button with `checked`, by form and name.
    checked: HashMap<(Option<NodeId>, String), NodeId>,
}

impl Page<'_> {
    /// The default button of each form.
    pub(super) fn default_buttons(&self) -> Set {
        let forms = self.forms();
        let defaults: HashSet<NodeId> = forms.defaults.values().copied().collect();
        self.set(|id| defaults.contains(&id))
    }

    /// Radio buttons in whose group none is checked.
    pub(super) fn in_unset_groups(&self) -> Set {
        let forms = self.forms();
        self.set(|id| {
            self.group(id, &forms).is_some_and(|group| !forms.checked.contains_key(&group))
        })
    }

    /// Radio buttons and options that are left chosen when the page has been read.
    pub(super) fn chosen(&self) -> Set {
        let forms = self.forms();
        let options = self.options();
        self.set(|id| {
            let Some(element) = self.tree.element(id) else { return false };
            let is_radio = kind(element) == "radio" && element.attribute("checked").is_some();
            match element.name.as_str() {
                "option" => options
                    .get(&id)
                    .copied()
                    .unwrap_or_else(|| element.attribute("selected").is_some()),
                "input" if is_radio && element.attribute("name").unwrap_or_default().is_empty() => {
                    true
                }
                "input" if is_radio => self
                    .group(id, &forms)
                    .is_some_and(|group| forms.checked.get(&group) == Some(&id)),
                _ => false,
            }
        })
    }

    fn group(&self, id: NodeId, forms: &Forms) -> Option<(Option<NodeId>, String)> {
        let name = self.tree.element(id)?.attribute("name")?;
        Some((forms.owners.get(&id).copied().flatten(), name.to_owned()))
    }

    /// A form in a form ends the outer one where it ends itself, and what it holds belongs to the
    /// outer one.
    fn forms(&self) -> Forms {
        let mut ids: HashMap<&str, NodeId> = HashMap::new();
        let mut controls: Vec<(NodeId, Option<NodeId>)> = Vec::new();
        let mut ended: HashSet<NodeId> = HashSet::new();
        // An element with the form it is in, or the end of a form.
        let mut left: Vec<(Option<NodeId>, Option<NodeId>)> =
            self.tree.elements(0).rev().map(|id| (Some(id), None)).collect();
        while let Some((element, form)) = left.pop() {
            let (Some(id), mut form) = (element, form) else {
                ended.extend(form);
                continue;
            };
            form = form.filter(|form| !ended.contains(form));
            let Some(element) = self.tree.element(id) else { continue };
            if element.name == "form" && form.is_some() {
                left.push((None, form));
            } else {
                if let Some(name) = element.attribute("id").filter(|name| !name.is_empty()) {
                    ids.entry(name).or_insert(id);
                }
                match element.name.as_str() {
                    "form" => form = Some(id),
                    "input" | "button" => controls.push((id, form)),
                    _ => {}
                }
            }
            let children = self.tree.elements(id).rev().filter(|&child| self.visible[child]);
            left.extend(children.map(|child| (Some(child), form)));
        }
        let mut forms = Forms::default();
        for (id, mut form) in controls {
            let Some(element) = self.tree.element(id) else { continue };
            if let Some(name) = element.attribute("form") {
                form = ids.get(name).copied().filter(|&id| self.tree.name(id) == Some("form"));
            }
            forms.owners.insert(id, form);
            let name = element.attribute("name").unwrap_or_default();
            if let Some(form) = form.filter(|_| self.submits(id, element)) {
                forms.defaults.entry(form).or_insert(id);
            } else if !name.is_empty()
                && element.attribute("checked").is_some()
                && kind(element) == "radio"
            {
                forms.checked.insert((form, name.to_owned()), id);
            }
        }
        forms
    }

    fn submits(&self, id: NodeId, element: &Element) -> bool {
        let kind = kind(element);
        if element.name == "input" {
            return matches!(kind.as_str(), "submit" | "image");
        }
        let is_other = matches!(kind.as_str(), "button" | "reset")
            || element.attribute("command").is_some()
            || element.attribute("commandfor").is_some()
            || self.parent(id).and_then(|parent| self.tree.name(parent)) == Some("select");
        kind == "submit" || !is_other
    }

    /// The options of every `select`, and whether they are left chosen.
    fn options(&self) -> HashMap<NodeId, bool> {
        let mut chosen = HashMap::new();
        for id in (1..self.tree.len()).filter(|&id| self.visible[id]) {
            if let Some(select) = self.tree.element(id).filter(|element| element.name == "select") {
                chosen.extend(self.options_of(id, select));
            }
        }
        chosen
    }

    /// A `select` in a `select` ends the list; what other lists hold is not in it.
    fn options_of(&self, id: NodeId, select: &Element) -> HashMap<NodeId, bool> {
        let mut options: Vec<(NodeId, &Element, bool)> = Vec::new();
        let children =
            |id: NodeId| self.tree.elements(id).rev().filter(|&child| self.visible[child]);
        let mut left: Vec<(NodeId, bool)> = children(id).map(|child| (child, false)).collect();
        while let Some((id, mut disabled)) = left.pop() {
            let Some(element) = self.tree.element(id) else { continue };
            match element.name.as_str() {
                "select" => break,
                "hr" | "datalist" => continue,
                "option" => options.push((id, element, disabled)),
                "optgroup" => disabled = element.attribute("disabled").is_some(),
                _ => {}
            }
            left.extend(children(id).map(|child| (child, disabled)));
        }
        let has = |element: &Element, name: &str| element.attribute(name).is_some();
        let mut chosen: Vec<NodeId> = options
            .iter()
            .filter(|(_, element, _)| has(element, "selected"))
            .map(|(id, _, _)| *id)
            .collect();
        if !has(select, "multiple") {
            if chosen.len() > 1 {
                chosen.drain(..chosen.len() - 1);
            } else if chosen.is_empty() && shows_one(select) {
                let enabled = options
                    .iter()
                    .find(|(_, element, disabled)| !disabled && !has(element, "disabled"));
                chosen.extend(enabled.map(|(id, _, _)| *id));
            }
        }
        let chosen: HashSet<NodeId> = chosen.into_iter().collect();
        options.iter().map(|(id, _, _)| (*id, chosen.contains(id))).collect()
    }
}

fn kind(element: &Element) -> String {
    element.attribute("type").unwrap_or_default().to_ascii_lowercase()
}

/// `size` is missing, no number, or 0 or 1.
fn shows_one(select: &Element) -> bool {
    let size = select.attribute("size").unwrap_or_default();
    let size = size.trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']);
    let digits = size.strip_prefix('+').unwrap_or(size);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    matches!(digits[..end].trim_start_matches('0'), "" | "1")
}
