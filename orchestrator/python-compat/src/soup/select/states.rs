//! Pseudo-classes without parameters.

use super::super::css::{self, State};
use super::{Page, Set};
use crate::text::is_space;
use crate::tree::{Kind, NodeId};

// soupsieve writes these two as other selectors, too.
const DISABLED: &str = ":is(input,button,select,textarea,fieldset,optgroup,option)[disabled],\
    optgroup[disabled]>option,fieldset[disabled]>:is(input,button,select,textarea,fieldset),\
    fieldset[disabled]>:not(legend:nth-of-type(1)) :is(input,button,select,textarea,fieldset),\
    :is(select[disabled],fieldset[disabled]>select,fieldset[disabled]>:not(legend:nth-of-type(1)) select)\
     :is(optgroup,option)";
const ENABLED: &str = ":is(input,button,select,textarea,fieldset,optgroup,option):not(:disabled)";

impl Page<'_> {
    pub(super) fn state(&self, state: State) -> Set {
        match state {
            State::Root => self.set(|id| self.root == Some(id) && self.is_alone(id)),
            State::Scope => self.set(|id| self.root == Some(id)),
            State::Empty => self.set(|id| self.is_empty(id)),
            State::Disabled => self.selected(DISABLED),
            State::Enabled => self.selected(ENABLED),
        }
    }

    fn selected(&self, selector: &str) -> Set {
        css::parse(selector).map_or_else(|_| vec![false; self.tree.len()], |list| self.list(&list))
    }

    /// Nothing but space and comments stands beside the root.
    fn is_alone(&self, root: NodeId) -> bool {
        self.tree.node(0).children.iter().filter(|&&id| id != root).all(|&id| {
            match &self.tree.node(id).kind {
                Kind::Text(text) => text.chars().all(is_space),
                Kind::Comment(_) => true,
                Kind::Element(_) | Kind::CData | Kind::Document => false,
            }
        })
    }

    fn is_empty(&self, id: NodeId) -> bool {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}');
        self.content(id).iter().all(|&child| match &self.tree.node(child).kind {
            Kind::Text(text) => text.chars().all(is_blank),
            Kind::Element(_) => false,
            Kind::CData | Kind::Comment(_) | Kind::Document => true,
        })
    }
}
