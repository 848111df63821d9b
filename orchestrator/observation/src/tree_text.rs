//! The arguments of BrowserGym's functions that write a page as text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Properties;

/// How the tree is written: the arguments of BrowserGym's `flatten_axtree_to_str`, with its
/// defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "they are somebody else's arguments")]
pub struct TreeText {
    /// Marks elements as `visible` if at least half is in view.
    pub with_visible: bool,
    /// Marks elements as `clickable` if they listen to clicks.
    pub with_clickable: bool,
    /// Adds the centre of an element: `center="(x,y)"`.
    pub with_center_coords: bool,
    /// Adds the corners of an element: `box="(left,top,right,bottom)"`.
    pub with_bounding_box_coords: bool,
    /// Marks elements as `som` if they have a number on a picture with numbers.
    pub with_som: bool,
    /// Leaves out `generic` nodes without attributes.
    pub skip_generic: bool,
    /// Leaves out elements of which less than half is in view, and their text.
    pub filter_visible_only: bool,
    /// Leaves out elements without a bid.
    pub filter_with_bid_only: bool,
    /// Leaves out elements without a number on a picture.
    pub filter_som_only: bool,
    /// The number of decimals in coordinates.
    pub coord_decimals: usize,
    /// Leaves out text that is part of the name of the node above.
    pub remove_redundant_static_text: bool,
    /// Hides the bids of elements of which less than half is in view.
    pub hide_bid_if_invisible: bool,
    /// Leaves out the children of a node that a filter has left out.
    pub hide_all_children: bool,
    /// Hides all bids.
    pub hide_all_bids: bool,
}

impl Default for TreeText {
    fn default() -> Self {
        Self {
            with_visible: false,
            with_clickable: false,
            with_center_coords: false,
            with_bounding_box_coords: false,
            with_som: false,
            skip_generic: true,
            filter_visible_only: false,
            filter_with_bid_only: false,
            filter_som_only: false,
            coord_decimals: 0,
            remove_redundant_static_text: true,
            hide_bid_if_invisible: false,
            hide_all_children: false,
            hide_all_bids: false,
        }
    }
}

impl TreeText {
    /// Whether it needs the properties of elements.
    pub fn needs_properties(&self) -> bool {
        self.with_visible
            || self.with_clickable
            || self.with_center_coords
            || self.with_bounding_box_coords
            || self.with_som
            || self.filter_visible_only
            || self.filter_som_only
            || self.hide_bid_if_invisible
    }

    /// Whether an element is left out.
    pub fn filters(&self, bid: Option<&str>, properties: Option<&Properties>) -> bool {
        if bid.is_none() {
            return self.filter_with_bid_only || self.filter_som_only;
        }
        properties.is_some_and(|properties| {
            (self.filter_visible_only && !properties.is_visible())
                || (self.filter_som_only && !properties.set_of_marks)
        })
    }

    /// Attributes that come before an element's others. Those of the last option come first.
    pub fn extras(&self, properties: Option<&Properties>) -> Vec<String> {
        let Some(properties) = properties else { return Vec::new() };
        let mut extras = Vec::new();
        if let Some([x, y, width, height]) = properties.bbox {
            if self.with_bounding_box_coords {
                extras.push(format!("box=\"{}\"", self.place(&[x, y, x + width, y + height])));
            }
            if self.with_center_coords {
                extras.push(format!(
                    "center=\"{}\"",
                    self.place(&[x + width / 2.0, y + height / 2.0])
                ));
            }
        }
        let flags = [
            (self.with_clickable && properties.clickable, "clickable"),
            (self.with_visible && properties.is_visible(), "visible"),
            (self.with_som && properties.set_of_marks, "som"),
        ];
        extras
            .extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| (*word).to_owned()));
        extras
    }

    /// Whether an element's bid is hidden.
    pub fn hides_bid(&self, properties: Option<&Properties>) -> bool {
        self.hide_all_bids
            || (self.hide_bid_if_invisible && !properties.is_some_and(Properties::is_visible))
    }

    fn place(&self, numbers: &[f64]) -> String {
        let decimals = self.coord_decimals;
        let numbers: Vec<String> =
            numbers.iter().map(|number| format!("{number:.decimals$}")).collect();
        format!("({})", numbers.join(","))
    }
}

/// How pruned HTML is written: the arguments of BrowserGym's `flatten_dom_to_str`, with its
/// defaults. See [`TreeText`] for their meaning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    missing_docs,
    reason = "they are somebody else's arguments"
)]
pub struct PrunedHtml {
    pub with_visible: bool,
    pub with_clickable: bool,
    pub with_center_coords: bool,
    pub with_bounding_box_coords: bool,
    pub with_som: bool,
    pub filter_visible_only: bool,
    pub filter_with_bid_only: bool,
    pub filter_som_only: bool,
    pub coord_decimals: usize,
    pub hide_bid_if_invisible: bool,
    pub hide_all_bids: bool,
}

impl PrunedHtml {
    /// The same arguments for a tree.
    pub fn as_tree(&self) -> TreeText {
        TreeText {
            with_visible: self.with_visible,
            with_clickable: self.with_clickable,
            with_center_coords: self.with_center_coords,
            with_bounding_box_coords: self.with_bounding_box_coords,
            with_som: self.with_som,
            filter_visible_only: self.filter_visible_only,
            filter_with_bid_only: self.filter_with_bid_only,
            filter_som_only: self.filter_som_only,
            coord_decimals: self.coord_decimals,
            hide_bid_if_invisible: self.hide_bid_if_invisible,
            hide_all_bids: self.hide_all_bids,
            ..TreeText::default()
        }
    }
}
