//! `:dir()`: `dir` attributes, and text where they say `auto`.

use super::super::css::Direction;
use super::{Page, Set};
use crate::tree::NodeId;

/// The value of a `dir` attribute.
enum DirAttribute {
    Nothing,
    Auto,
    This(Direction),
}

/// Inputs that show no text of their own.
const WITHOUT_TEXT: [&str; 12] = [
    "date",
    "month",
    "week",
    "time",
    "datetime-local",
    "number",
    "range",
    "color",
    "checkbox",
    "radio",
    "file",
    "image",
];

impl Page<'_> {
    pub(super) fn directed(&self, wanted: Direction) -> Set {
        let mut directions = vec![Direction::LeftToRight; self.tree.len()];
        for id in (1..self.tree.len()).filter(|&id| self.visible[id]) {
            let inherited =
                self.parent(id).map_or(Direction::LeftToRight, |parent| directions[parent]);
            directions[id] = self.own_direction(id).unwrap_or(inherited);
        }
        self.set(|id| directions[id] == wanted)
    }

    fn said(&self, id: NodeId) -> DirAttribute {
        let said =
            self.tree.element(id).and_then(|element| element.attribute("dir")).unwrap_or_default();
        match said.to_ascii_lowercase().as_str() {
            "ltr" => DirAttribute::This(Direction::LeftToRight),
            "rtl" => DirAttribute::This(Direction::RightToLeft),
            "auto" => DirAttribute::Auto,
            _ => DirAttribute::Nothing,
        }
    }

    /// Nothing where the direction is that of what the element is in.
    fn own_direction(&self, id: NodeId) -> Option<Direction> {
        let element = self.tree.element(id)?;
        let kind = element.attribute("type").unwrap_or_default().to_ascii_lowercase();
        let name = element.name.as_str();
        let found = match (self.said(id), name) {
            (DirAttribute::This(direction), _) => return Some(direction),
            (DirAttribute::Nothing, "input") if kind == "tel" => None,
            (DirAttribute::Nothing, "bdi") => self.first_strong(id),
            (DirAttribute::Nothing, _) => return None,
            (DirAttribute::Auto, "textarea") => {
                self.content(id).iter().filter_map(|&child| self.text(child)).find_map(strong)
            }
            (DirAttribute::Auto, "input") if !WITHOUT_TEXT.contains(&kind.as_str()) => {
                strong(element.attribute("value").unwrap_or_default())
            }
            (DirAttribute::Auto, _) => self.first_strong(id),
        };
        Some(found.unwrap_or(Direction::LeftToRight))
    }

    /// The direction of the first letter in an element, but for parts that have a direction of
    /// their own.
    fn first_strong(&self, id: NodeId) -> Option<Direction> {
        let mut left: Vec<NodeId> = self.content(id).iter().rev().copied().collect();
        while let Some(node) = left.pop() {
            if let Some(found) = self.text(node).and_then(strong) {
                return Some(found);
            }
            let is_apart =
                matches!(self.tree.name(node), Some("bdi" | "script" | "style" | "textarea"))
                    || !matches!(self.said(node), DirAttribute::Nothing);
            if !is_apart {
                left.extend(self.content(node).iter().rev());
            }
        }
        None
    }
}

/// The direction of the first letter that has one.
fn strong(text: &str) -> Option<Direction> {
    text.chars().find_map(|c| match c {
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
            if c.is_alphabetic() =>
        {
            Some(Direction::RightToLeft)
        }
        '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}' | '\u{200f}' => {
            Some(Direction::RightToLeft)
        }
        '\u{200e}' => Some(Direction::LeftToRight),
        _ => c.is_alphabetic().then_some(Direction::LeftToRight),
    })
}
